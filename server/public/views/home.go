package views

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
)

// A Move is a change of a rate since the snapshot before.
type Move struct {
	Category, Board, Slug, Tool string
	From, To                    float64 // pick rates of the boards
	// Diff is the change with the agents and prompts that both snapshots have, with its 95 %
	// interval. It may differ a little from To - From.
	Diff, Low, High float64
	Significant     bool
	// Since is the time of the last trial before; nil where it is unknown.
	Since *time.Time
}

// A move is a Move for a page.
type move struct {
	Tool, Link, Board, BoardLink string
	From, To, Diff, Interval     string
	Up, Significant              bool
	Since                        string // a day; empty where it is unknown
}

// moves formats the changes since the snapshot before, the first n.
func (r *Renderer) moves(n int) (out []move) {
	for _, m := range r.in.Moves[:min(n, len(r.in.Moves))] {
		out = append(out, moveOf(m))
	}
	return out
}

func moveOf(m Move) move {
	since := ""
	if m.Since != nil {
		since = render.Day(m.Since)
	}
	return move{
		Since: since,
		Tool:  m.Tool, Link: toolPath(m.Slug), Board: m.Board, BoardLink: boardPath(m.Category), From: chart.Fixed(m.From), To: chart.Fixed(m.To),
		Diff: moved(m), Interval: render.Points(m.Low) + " to " + render.Points(m.High), Up: m.Diff > 0, Significant: m.Significant,
	}
}

// moved formats the change of a rate. With the same agents and prompts it is the difference of
// the rates, and agrees with them as they are printed.
func moved(m Move) string {
	if math.Abs(m.Diff-(m.To-m.From)) < .0005 {
		return render.Difference(m.To, m.From)
	}
	return render.Points(m.Diff)
}

type homePage struct {
	Claim, ClaimLink, ClaimNote string
	Figure                      *figure // what each agent of the claim's board picks
	Sum                         string  // what there is in this snapshot
	Observed, Asked             []card
	Only                        *render.Forest // the first tools, where one board alone was asked
	Moves                       []move
	Before                      string
	More                        string  // how many changes are left out
	Said                        []quote // of answers on the board of the claim
	Notice                      string  // of observed boards
}

// The cards and changes of the first page.
const (
	homeObserved = 6
	homeAsked    = 12
	homeMoves    = 6
	homeTools    = 7 // of a board that is alone
)

func (r *Renderer) home() (Page, error) {
	d := homePage{Before: r.in.Before, Moves: r.moves(homeMoves), Notice: observed.Notice}
	d.Claim, d.ClaimLink, d.ClaimNote, d.Figure = r.headline()
	d.Sum = r.sum()
	if all := r.moves(len(r.in.Moves)); slices.ContainsFunc(all, func(m move) bool { return m.Significant }) {
		d.Moves = slices.DeleteFunc(all, func(m move) bool { return !m.Significant })
		if n := len(r.in.Moves) - len(d.Moves); n > 0 {
			d.More = quantity(n, "other change") + ", not significant."
		}
		d.Moves = d.Moves[:min(homeMoves, len(d.Moves))]
	}
	if b := r.find(strings.TrimPrefix(d.ClaimLink, "/leaderboards/")); b != nil {
		d.Said = said(b)
	}
	byUnits := slices.Clone(r.in.Observed)
	slices.SortStableFunc(byUnits, func(a, b observed.Board) int { return b.NUnits - a.NUnits })
	for i := range byUnits[:min(homeObserved, len(byUnits))] {
		d.Observed = append(d.Observed, r.observedCard(&byUnits[i]))
	}
	for _, b := range r.byTrials()[:min(homeAsked, len(r.in.Boards))] {
		d.Asked = append(d.Asked, r.boardCard(b))
	}
	if len(r.in.Boards) == 1 && len(r.in.Boards[0].Tools) > 0 && r.in.Boards[0].Tools[0].Picks > 0 {
		b := r.in.Boards[0]
		b.Tools = b.Tools[:min(homeTools, len(b.Tools))]
		f := render.NewForest(&b, standingPath)
		f.Rest = nil
		for i := range f.Rows {
			f.Rows[i].Ranks, f.Rows[i].Metrics = "", nil // the board explains them
		}
		f.Metrics = nil
		d.Only = &f
	}
	return r.page("home", render.Head{
		Path: "/", Title: "Which developer tools do AI agents pick?", Description: d.Claim + " " + d.Sum, Image: "/og/home.png", Section: "home",
	}, d)
}

// said returns a quote for each of the first two tools of a board.
func said(b *analytics.Board) (out []quote) {
	for _, s := range b.Tools[:min(2, len(b.Tools))] {
		for _, q := range quotesFor(b, s) {
			if q.Text != "" {
				q.Picked = s.Tool
				out = append(out, q)
				break
			}
		}
	}
	return out
}

// about says of what a board is: its name, answers, prompts and age.
func (r *Renderer) about(b *analytics.Board) string {
	at := ageOf(b.AsOf, r.in.Now)
	text := fmt.Sprintf("%s, %s to %s, %s", b.Name, quantity(b.NTrials, "answer"), quantity(b.NPrompts, "prompt"), at.When)
	if at.Old != "" {
		text += ", " + at.Old
	}
	return text
}

// byTrials returns the boards, those with the most trials first.
func (r *Renderer) byTrials() []*analytics.Board {
	var out []*analytics.Board
	for i := range r.in.Boards {
		out = append(out, &r.in.Boards[i])
	}
	slices.SortStableFunc(out, func(a, b *analytics.Board) int { return b.NTrials - a.NTrials })
	return out
}

// headline chooses the claim that says most: agents that differ from the others. An early
// result is chosen only where there is no other. Without boards of trials it is what an
// observed board says.
func (r *Renderer) headline() (text, link, note string, picture *figure) {
	most := math.Inf(-1)
	for i := range r.in.Boards {
		b := &r.in.Boards[i]
		said, surprise := claim(b)
		if slices.Contains(b.Warnings, analytics.Directional) {
			surprise -= 10
		}
		if b.NTrials > 0 && surprise > most {
			most, text, link = surprise, said, boardPath(b.Category)
			note = r.about(b)
			picture = figureOf(b)
		}
	}
	if text == "" && len(r.in.Observed) > 0 {
		b := &r.in.Observed[0]
		return observedClaim(b), observedPath(b.Category), b.Name, nil
	}
	if text == "" {
		return "Which developer tools do AI agents pick?", "", "", nil
	}
	return text, link, note, picture
}

func observedClaim(b *observed.Board) string {
	if len(b.Tools) == 0 || b.Tools[0].Uses == 0 {
		return "No tool of this list was observed."
	}
	return fmt.Sprintf("Agents used %s in %s of %s.", b.Tools[0].Tool, chart.Percent(b.Tools[0].UseRate), quantity(b.NUnits, b.Unit))
}

// sum says what the snapshot holds.
func (r *Renderer) sum() string {
	trials, units, agents := 0, 0, map[string]bool{}
	for _, b := range r.in.Boards {
		trials += b.NTrials
		for _, a := range b.Agents {
			agents[a.Agent] = true
		}
	}
	var parts []string
	if trials > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s on %s", quantity(trials, "answer"), quantity(len(agents), "agent"), quantity(len(r.in.Boards), "board")))
	}
	for _, b := range r.in.Observed {
		units += b.NUnits
	}
	if units > 0 {
		parts = append(parts, fmt.Sprintf("%s observed on %s", quantity(units, r.in.Observed[0].Unit), quantity(len(r.in.Observed), "board")))
	}
	if len(parts) == 0 {
		return "Nothing is measured yet."
	}
	return and(parts) + "."
}
