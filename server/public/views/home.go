package views

import (
	"fmt"
	"html/template"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

type homePage struct {
	seenNote
	Headline  headline
	Other     *headline      // of boards of trials, where the headline is of an observed one
	About     string         // what the site measures
	Asking    *promptText    // the only prompt of the headline's board; nil for others
	Studies   bool           // all answers are of published studies
	Single    bool           // each board is of one prompt
	Compare   []comparePair  // examples
	Bars      *agentBars     // what each agent of the headline's board picks
	First     *firstPicks    // the tool that each agent picks most, of several boards
	Sum       string         // what there is in this snapshot
	Totals    []string       // the same for people
	Names     []render.Link  // examples of tools
	Boards    []render.Link  // the largest observed ones
	Coding    *seenFirsts    // what each coding agent used most, where they differ; nil where little is known
	Alike     []seenFirstRow // the categories beside Coding in which all used the same one most
	Lines     []line         // the largest of observed boards
	Pairs     []pairing      // of the boards of both kinds
	Contrast  *contrast      // with what real work used; nil where that is the same, or not known
	Questions string         // why both rates of a pair are not of one test
	Asked     []card
	Only      *render.Forest // the first tools, where one board alone was asked
	Left      string         // which tools it leaves out
	Wider     string         // the interval of its first tool for agents like these
	Moves     []move
	More      string  // how many changes are left out
	Quotes    []quote // of answers on the headline's board
	Seen      bool    // there are observed boards
	Readable  bool    // each answer is published as a whole
	Sample    *sample
}

// The cards and changes of the first page.
const (
	homeAsked   = 12
	homePairs   = 3
	homeMoves   = 6
	homeTools   = 7 // of a board that is alone
	homeNames   = 3
	homeLosses  = 3
	homeBoards  = 24
	homeFacts   = 3
	homeLargest = 8
	homeCoding  = 4
)

func (r *Renderer) home() (Page, error) {
	d := homePage{Headline: r.headline(), Sum: r.sum(), Totals: r.totals()}
	d.Moves, d.More = r.homeMoves()
	d.Studies = len(r.in.Boards) > 0 && !slices.ContainsFunc(r.in.Boards, func(b analytics.Board) bool { return b.Study == "" })
	d.Single = !slices.ContainsFunc(r.in.Boards, func(b analytics.Board) bool { return !render.Single(b) })
	asked := d.Headline
	if seen := d.Headline.Seen; seen != nil {
		if asked = r.askedHeadline(); asked.board != nil {
			d.Other = &asked
		}
	}
	if b := asked.board; b != nil {
		if !b.Synthetic { // a simulated agent says nothing of its own
			d.Quotes = leaderQuotes(b)
		}
		if d.Sample = r.sampleBeside(b); d.Other == nil {
			d.Bars, d.Asking = agentBarsOf(b), onlyPrompt(b)
		}
	}
	d.About = r.about(d.Studies)
	if len(r.in.Boards) == 1 && len(r.in.Boards[0].Tools) > 0 && r.in.Boards[0].Tools[0].Picks > 0 {
		d.Only = firstTools(r.in.Boards[0])
		d.Left, d.Wider = leftOut(r.in.Boards[0], len(d.Only.Rows)), likeThese(&r.in.Boards[0])
	}
	d.Readable = r.in.Evidence == "full"
	d.First, d.Pairs = r.firstPicksOf(asked.board), r.pairings(asked.board)
	d.Contrast, d.Questions = contrastOf(d.Headline, d.Pairs), twoMeasurements("")
	if c := d.Contrast; c != nil {
		if c.Test != "" {
			d.Pairs[0].Doubts = append(d.Pairs[0].Doubts, c.Test)
		}
		i := slices.IndexFunc(r.in.Observed, func(b observed.Board) bool { return b.Category == d.Pairs[0].Category })
		seen := &r.in.Observed[i]
		if asked := d.Headline.board; asked.AsOf != nil && seen.AsOf != nil && monthsBetween(asked.AsOf.UTC(), seen.AsOf.UTC()) > 0 {
			d.Questions = twoMeasurements(", " + quantity(monthsBetween(asked.AsOf.UTC(), seen.AsOf.UTC()), "month") + " later")
		}
		c.Cite = citeContrast(r.in, c, d.Headline.board, seen, append(slices.Clone(d.Pairs[0].Chips), d.Questions))
	}
	if d.First != nil && len(d.Pairs) > 0 { // the two tables show it
		d.Bars = nil
	}
	d.Seen = len(r.in.Observed) > 0
	d.Lines = homeLines(inOneList(r.seenLanguages(d.Pairs)))
	d.seenNote = r.seenNote(d.Lines)
	if d.Coding = r.seenFirsts(); d.Coding != nil {
		d.Coding.Rows, d.Alike = d.Coding.few(homeCoding)
	}
	var known []string
	if d.First != nil {
		for _, c := range d.First.Boards {
			known = append(known, c.Link)
		}
		for _, c := range d.First.Agreed {
			known = append(known, c.Link)
		}
	}
	for _, b := range r.byTrials() {
		if len(d.Asked) == homeAsked || slices.Contains(known, boardPath(b.Category)) {
			continue
		}
		c := r.boardCard(b)
		if d.Single && d.Studies { // the section says so
			c.Claim, _ = claim(b)
		}
		d.Asked = append(d.Asked, c)
	}
	d.Boards = r.boardLinks()
	d.Names, d.Compare = r.toolNames(slices.Clone(d.Lines)), r.compareExamples(asked.Board)
	title := "Which developer tools do AI agents pick?"
	if d.Seen {
		title = "Which developer tools do AI agents pick and use?"
	}
	claim := ""
	if d.Contrast != nil {
		claim = d.Contrast.Claim
	}
	return r.page("home", render.Head{
		Path: "/", Title: title, Claim: claim, Description: d.description(), Image: "/og/home.png", Section: "home", Site: r.allSources(),
	}, d)
}

// description is the claim and what the snapshot holds, for search engines and links.
func (d homePage) description() string {
	if c := d.Contrast; c != nil {
		return c.Claim + " " + c.Base() + " " + d.Sum
	}
	return described(d.Headline) + " " + d.Sum
}

// A drawnPair is a pair with the axis of its plots, and the picture of the claim that it shows.
type drawnPair struct {
	Pair    pairing
	Axis    template.HTML
	Doubts  []string
	Picture string // empty without one
	Cite    string // of the claim; may be empty
}

// Drawn is a pair for its template.
func (d homePage) Drawn(p pairing) drawnPair {
	out := drawnPair{Pair: p, Axis: d.Axis, Doubts: p.Doubts}
	if d.Contrast != nil && p.Category == d.Pairs[0].Category {
		out.Picture, out.Cite = "/og/home.png", d.Contrast.Cite
	}
	return out
}

// about says what the site measures.
func (r *Renderer) about(studies bool) string {
	seen := len(r.in.Observed) > 0
	switch {
	case len(r.in.Boards) == 0 && seen:
		return "firstpick measures which developer tools AI agents use in real work."
	case studies && seen:
		return "firstpick measures which developer tools AI models pick when asked, and which ones coding agents use in real work."
	case studies:
		return "firstpick measures which developer tools AI models pick when asked."
	case seen:
		return "firstpick measures which developer tools AI agents pick when asked, without a brand in the task, and use in real work."
	}
	return "firstpick gives AI agents tasks without naming a brand, many times, and counts the tools they pick."
}

// twoMeasurements says why the rates of a pair are not of one test. later is like: , 12 months later.
func twoMeasurements(later string) string {
	return "Not one test: other models" + later + "; a prompt asks for new code, real work mostly keeps what a repository had"
}

// homeMoves returns the changes of the first page, and says how many others there are: the
// significant ones, or the largest where none is.
func (r *Renderer) homeMoves() (shown []move, more string) {
	all := r.moves(len(r.in.Moves))
	shown = slices.DeleteFunc(slices.Clone(all), func(m move) bool { return !m.Significant })
	if len(shown) == 0 {
		return all[:min(homeMoves, len(all))], ""
	}
	if n := len(all) - len(shown); n > 0 {
		more = quantity(n, "other change") + ", not significant."
	}
	return shown[:min(homeMoves, len(shown))], more
}

// leftOut says how many tools of a board are not among those shown, and which share of answers picked none of
// the list.
func leftOut(b analytics.Board, shown int) string {
	var parts []string
	if n := render.CountPicked(&b) - shown; n > 0 {
		parts = append(parts, quantity(n, "more tool")+" picked")
	}
	if n := b.Field - render.CountPicked(&b); n > 0 {
		parts = append(parts, chart.Whole(int64(n))+" of the list not picked")
	}
	text := ""
	if len(parts) > 0 {
		text = "Not shown: " + and(parts) + "."
	}
	rest := 1.0
	for _, s := range b.Tools {
		rest -= s.PickRate
	}
	if rest >= leastRest {
		text = strings.TrimSpace(text + " " + chart.Fixed(rest) + " of answers picked no single tool of the list.")
	}
	return text
}

// likeThese says of which agents the intervals of a board are, and the interval of its first tool for agents
// like them; empty where it is not known.
func likeThese(b *analytics.Board) string {
	d := b.Tools[0].Detail
	if d == nil || d.PopulationLow == nil || d.PopulationHigh == nil {
		return ""
	}
	return fmt.Sprintf("The intervals are for these %s; for %ss like these, %s %s.", quantity(len(b.Agents), nounOf(b)), nounOf(b), b.Tools[0].Tool, render.Interval(*d.PopulationLow, *d.PopulationHigh))
}

// firstTools draws the first tools of a board.
func firstTools(b analytics.Board) *render.Forest {
	all := b
	n := homeTools
	if render.CountPicked(&all) == n+1 { // one line more says as much as a note of one that is left out
		n++
	}
	b.Tools = b.Tools[:min(n, len(b.Tools))]
	f := render.NewForest(&b, standingPath)
	f.Rerank(&all)
	f.Rest, f.Metrics, f.Bound, f.RankNote = nil, nil, "", "" // the board explains them
	for i := range f.Rows {
		f.Rows[i].Metrics = nil
	}
	return &f
}

// toolNames returns examples for the search: the first tools of boards that asked, one where there are observed boards, and
// of the largest observed ones.
func (r *Renderer) toolNames(seen []line) (out []render.Link) {
	add := func(name, path string, most int) {
		if l := (render.Link{Path: path, Text: name}); len(out) < most && path != "" && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	asked := homeNames
	if len(seen) > 0 {
		asked = 1
	}
	for place := range homeNames {
		for _, b := range r.byTrials() {
			if place < len(b.Tools) && b.Tools[place].Picks > 0 {
				add(b.Tools[place].Tool, toolPath(b.Tools[place].Slug), asked)
			}
		}
	}
	sorting.StableFunc(seen, mostUnits)
	for _, l := range seen {
		add(l.Tools[0].Tool, l.Tools[0].Link, homeNames)
	}
	return out
}

// A sample shows what the page of a tool has for its vendor.
type sample struct {
	Tool, Link string
	Note       string // what the figures are of
	Age        age
	Facts      []render.Fact
	Losses     []cellLine
	Firsts     string // by how many agents it is picked most, where several were asked
}

// sampleBeside is the sample of another board than the one that the page leads with, if there is one.
func (r *Renderer) sampleBeside(lead *analytics.Board) *sample {
	for _, b := range r.byTrials() {
		if b == lead {
			continue
		}
		if s := r.sample(b); s != nil {
			return s
		}
	}
	return r.sample(lead)
}

// sample takes the second tool of a board; nil where only one tool was picked.
func (r *Renderer) sample(b *analytics.Board) *sample {
	if len(b.Tools) < 2 || b.Tools[1].Picks == 0 {
		return nil
	}
	s := b.Tools[1]
	p := r.toolPlace(place{b, s})
	out := &sample{Tool: s.Tool, Link: toolPath(s.Slug), Age: ageOf(b.AsOf, r.in.Now), Note: b.Name + ": " + r.boardCard(b).Note + ", " + ageOf(b.AsOf, r.in.Now).When, Facts: slices.Clone(p.Strip[:min(homeFacts, len(p.Strip))])}
	if t := r.tools[s.Slug]; t != nil && len(t.Seen) > 0 && t.Seen[0].Use.Uses > 0 && !t.Seen[0].alone() {
		rate, interval := render.UseRate(t.Seen[0].Use, t.Seen[0].Part.NUnits)
		note := "observed, of " + unitsOf(t.Seen[0].Board, t.Seen[0].Part, t.Seen[0].Language)
		if interval != "" {
			note = "95% CI " + interval + ", " + note
		}
		out.Facts = append(out.Facts, render.Fact{Name: "In real work", Value: rate, Note: note})
	}
	if len(b.Agents) < 2 {
		out.Losses = p.Losses[:min(homeLosses, len(p.Losses))]
	} else {
		out.Firsts = pickedMostBy(b, s)
	}
	return out
}

// pickedMostBy is like: Picked most often by 1 of 8 models; TensorFlow by 6.
func pickedMostBy(b *analytics.Board, s analytics.Standing) string {
	firsts := firstsOf(b)
	text := fmt.Sprintf("Picked most often by %d of %s", firsts[s.Slug], quantity(len(b.Agents), nounOf(b)))
	if first := b.Tools[0]; firsts[first.Slug] > 0 {
		text += fmt.Sprintf("; %s by %d", first.Tool, firsts[first.Slug])
	}
	return text + "."
}

// boardLinks leads to the observed boards, the largest first.
func (r *Renderer) boardLinks() (out []render.Link) {
	seen := slices.Clone(r.in.Observed)
	sorting.StableFunc(seen, func(a, b observed.Board) int { return b.NUnits - a.NUnits })
	for i := range seen {
		out = append(out, render.Link{Path: observedPath(seen[i].Category), Text: seen[i].Name})
	}
	return out[:min(homeBoards, len(out))]
}

// byTrials returns the boards, those with the most trials first.
func (r *Renderer) byTrials() []*analytics.Board {
	var out []*analytics.Board
	for i := range r.in.Boards {
		out = append(out, &r.in.Boards[i])
	}
	sorting.StableFunc(out, func(a, b *analytics.Board) int { return b.NTrials - a.NTrials })
	return out
}
