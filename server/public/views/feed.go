package views

import (
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/public/share"
)

// Feed has the snapshot, and what moved since the one before, maxNews changes at most.
func (r *Renderer) Feed() share.Feed {
	f := r.newFeed("what moved", "/changes", "")
	if len(r.in.Boards)+len(r.in.Observed) > 0 {
		f.Entries = append(f.Entries, r.entry("Snapshot "+r.in.SnapshotID, "", r.sum()))
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

// FeedOfBoard is FeedOfTool for the board of a category, of trials before an observed one.
func (r *Renderer) FeedOfBoard(category string) (f share.Feed, ok bool) {
	for _, path := range []string{boardPath(category), observedPath(category)} {
		if p, found := r.Picture(path); found {
			name := strings.TrimPrefix(p.Small, "firstpick · ")
			return r.feedOf(name, path, url.Values{"category": {category}}, func(m Move) bool { return m.Category == category }), true
		}
	}
	return f, false
}

// feedOf is the feed of a page: what its picture says, and the changes that match.
func (r *Renderer) feedOf(name, path string, query url.Values, match func(Move) bool) share.Feed {
	f := r.newFeed(name, path, "?"+query.Encode())
	p, _ := r.Picture(path)
	f.Entries = append([]share.Entry{r.entry(name+": snapshot "+r.in.SnapshotID, path, p.Title+" "+p.Foot)}, r.news(match)...)
	return f
}

// newFeed is a feed without entries.
func (r *Renderer) newFeed(title, path, query string) share.Feed {
	f := share.Feed{Title: "firstpick: " + title, URL: r.in.BaseURL + path, Self: r.in.BaseURL + "/feed.atom" + query, Updated: Modified(r.in.AsOf, r.in.Observed)}
	if f.Updated.IsZero() { // nothing is measured
		f.Updated = r.in.Now
	}
	return f
}

// entry is a piece of news about a page of the snapshot, or about all of it.
func (r *Renderer) entry(title, path, text string) share.Entry {
	id := r.in.BaseURL + "/snapshots/" + r.in.SnapshotID
	e := share.Entry{ID: id + path, Title: title, URL: id, Text: text, Updated: Modified(r.in.AsOf, r.in.Observed)}
	if path != "" {
		e.URL = r.in.BaseURL + path
	}
	return e
}

// news are the changes of rates that match, the largest first.
func (r *Renderer) news(match func(Move) bool) (out []share.Entry) {
	for _, change := range r.in.Moves {
		if len(out) == maxNews {
			break
		}
		if m := moveOf(change); match(change) {
			e := r.entry(m.Tool+" "+m.Diff+" points in "+m.Board, m.Link, "Pick rate of "+m.Tool+" in "+m.Board+": "+m.From+" before, "+m.To+" now.")
			e.ID += "?in=" + change.Category
			out = append(out, e)
		}
	}
	return out
}

// maxNews is how many changes a feed has.
const maxNews = 50
