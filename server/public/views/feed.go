package views

import (
	"net/url"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/server/public/share"
)

// Feed has the snapshot, and what moved since the one before, maxNews changes at most.
func (r *Renderer) Feed() share.Feed {
	f := r.newFeed("what moved", "/changes", nil)
	if len(r.in.Boards)+len(r.in.Observed) > 0 && r.in.SnapshotID != "" {
		f.Entries = append(f.Entries, r.entry(f.Updated, "Snapshot "+r.in.SnapshotID, "", r.sum()))
	}
	f.Entries = append(f.Entries, r.news(func(Move) bool { return true })...)
	return f
}

// FeedOfTool has what the snapshot says of a tool, by its slug, and how its rates moved; ok is false for one without a page.
func (r *Renderer) FeedOfTool(slug string) (f share.Feed, ok bool) {
	t := r.tools[slug]
	if t == nil {
		return f, false
	}
	return r.feedOf(t.Name, toolPath(slug), url.Values{"tool": {slug}}, func(m Move) bool { return m.Slug == slug }), true
}

// FeedOfBoard is FeedOfTool for the board of trials of a category.
func (r *Renderer) FeedOfBoard(category string) (f share.Feed, ok bool) {
	i := slices.IndexFunc(r.in.Boards, func(b analytics.Board) bool { return b.Category == category })
	if i < 0 {
		return f, false
	}
	return r.feedOf(r.in.Boards[i].Name, boardPath(category), url.Values{"category": {category}}, func(m Move) bool { return m.Category == category }), true
}

// FeedOfObserved is FeedOfTool for the observed board of a category. Its rates have no changes.
func (r *Renderer) FeedOfObserved(category string) (f share.Feed, ok bool) {
	i := slices.IndexFunc(r.in.Observed, func(b observed.Board) bool { return b.Category == category })
	if i < 0 {
		return f, false
	}
	return r.feedOf(r.in.Observed[i].Heading(), observedPath(category), url.Values{"category": {category}, "kind": {"observed"}}, func(Move) bool { return false }), true
}

// feedOf is the feed of a page: what its picture says, and the changes that match.
func (r *Renderer) feedOf(name, path string, query url.Values, match func(Move) bool) share.Feed {
	f := r.newFeed(name, path, query)
	p, _ := r.Picture(path)
	f.Entries = append([]share.Entry{r.entry(f.Updated, name+": snapshot "+r.in.SnapshotID, path, p.Title+" "+p.Foot)}, r.news(match)...)
	return f
}

// newFeed is a feed without entries.
func (r *Renderer) newFeed(name, path string, query url.Values) share.Feed {
	f := share.Feed{Title: inert.Line("firstpick: " + r.simulated() + name), URL: r.in.BaseURL + path, Self: r.in.BaseURL + "/feed.atom", Updated: Modified(r.in.AsOf, r.in.Observed)}
	if len(query) > 0 {
		f.Self += "?" + query.Encode()
	}
	if f.Updated.IsZero() { // nothing is dated
		f.Updated = r.in.Now
	}
	return f
}

// entry is a piece of news about a page of the snapshot, or about all of it where path is empty.
func (r *Renderer) entry(at time.Time, title, path, text string) share.Entry {
	id := r.in.BaseURL + "/snapshots/" + r.in.SnapshotID
	e := share.Entry{ID: id + path, Title: inert.Line(r.simulated() + title), URL: id, Text: inert.Line(text), Updated: at}
	if path != "" {
		e.URL = r.in.BaseURL + path
	}
	return e
}

// simulated marks what comes from simulated agents; it is empty for others.
func (r *Renderer) simulated() string {
	if r.in.Synthetic {
		return "SYNTHETIC: "
	}
	return ""
}

// news are the changes of rates that match, the largest first.
func (r *Renderer) news(match func(Move) bool) (out []share.Entry) {
	for _, change := range r.in.Moves {
		if len(out) == maxNews {
			break
		}
		if m := moveOf(change); match(change) {
			e := r.entry(r.in.AsOf, m.Tool+" "+m.Diff+" points in "+m.Board, m.Link, "Pick rate of "+m.Tool+" in "+m.Board+": "+m.From+" before, "+m.To+" now.")
			e.ID += "?in=" + change.Category
			out = append(out, e)
		}
	}
	return out
}

// maxNews is how many changes a feed has.
const maxNews = 50
