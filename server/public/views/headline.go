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

// A headline is the claim of the first page and the board that it is of.
type headline struct {
	Text, Link, Note string
	Short            string           // the board, and Text without what a chart of each agent shows; may be empty
	Age              age              // of the data
	Doubts           []render.Warning // of a board of trials
	Board            string           // its name; empty without one
	Seen             *seenClaim       // of an observed board; nil for others
	Chips            []string         // the same in a few words
	Warnings         []string         // of an observed board, each a sentence without a full stop
	board            *analytics.Board // nil without one of trials
	differ           bool             // its agents differ
}

// headline chooses the claim of the first page: that agents differ when asked, then a firm
// claim before an early one, and of firm ones that with newer data. Boards of trials are firm
// where they are not early, observed boards where the first tool is clearly ahead.
func (r *Renderer) headline() headline {
	asked, seen := r.askedHeadline(), r.seenHeadline()
	switch {
	case asked.board == nil && seen.Seen == nil && len(r.in.Observed) > 0:
		b := &r.in.Observed[0]
		return headline{Text: observedClaim(b), Link: observedPath(b.Category), Note: b.Name}
	case seen.Seen == nil || asked.differ || asked.board != nil && r.isFirm(asked.board) && !newer(seen.Seen.board.AsOf, asked.board.AsOf, r.in.Now):
		return asked
	}
	return seen
}

func (r *Renderer) isFirm(b *analytics.Board) bool {
	return !slices.Contains(b.Warnings, analytics.Directional)
}

// newer reports whether the one data set is newer where the other is old enough to say it.
func newer(one, than *time.Time, now time.Time) bool {
	return one != nil && (than == nil || ageOf(than, now).Old != "" && monthsBetween(than.UTC(), one.UTC()) > 0)
}

// askedHeadline chooses the claim of boards of trials that says most: agents that differ from the
// others. Firm boards come first, then those that are not old.
func (r *Renderer) askedHeadline() headline {
	h, most := headline{}, math.Inf(-1)
	for i := range r.in.Boards {
		b := &r.in.Boards[i]
		text, surprise := claim(b)
		differ := surprise > 0
		if !r.isFirm(b) {
			surprise -= 100
		} else if ageOf(b.AsOf, r.in.Now).Old != "" {
			surprise -= 10
		}
		if b.NTrials > 0 && surprise > most {
			most, h = surprise, headline{Text: text, Link: boardPath(b.Category), Board: b.Name, board: b, differ: differ}
		}
	}
	if h.board == nil {
		h.Text = "Which developer tools do AI agents pick?"
		return h
	}
	h.Note, h.Age = r.describe(h.board)
	h.Doubts = render.Doubts(h.board)
	if len(h.board.Agents) > 1 {
		h.Short = h.Board + ": " + inSentence(shortClaim(h.board))
	}
	if h.board.NPrompts == 1 {
		h.Text = "On one prompt, " + inSentence(h.Text)
	}
	return h
}

// inSentence is a claim that follows other words: it begins in lower case, unless with a name.
func inSentence(claim string) string {
	for _, word := range []string{"All ", "Agents ", "Both ", "Models ", "No ", "On ", inExisting} {
		if strings.HasPrefix(claim, word) {
			return strings.ToLower(claim[:1]) + claim[1:]
		}
	}
	return claim
}

// describe returns the answers, prompts and date of a board, and its age.
func (r *Renderer) describe(b *analytics.Board) (note string, at age) {
	at = ageOf(b.AsOf, r.in.Now)
	note = fmt.Sprintf("%s to %s, %s", quantity(b.NTrials, "answer"), quantity(b.NPrompts, "prompt"), at.When)
	if b.Study != "" {
		note += ", of a published study"
	}
	return note, at
}

func observedClaim(b *observed.Board) string {
	if len(b.Tools) == 0 || b.Tools[0].Uses == 0 {
		return "No tool of this list was observed."
	}
	seen := claimed(b)
	if s := seen[0]; s.Language == "" {
		text := fmt.Sprintf("Agents used %s in %s of %s%s", b.Tools[0].Tool, useShare(s.Use, s.Part.NUnits), amongUnits(b, s.Part, ""), s.wideInterval())
		if s.vague() {
			text += ". " + render.Capital(mayDiffer)
		}
		return text + "."
	}
	var parts, vague []string
	for _, s := range seen {
		if s.vague() {
			vague = append(vague, s.Language)
		}
	}
	for _, s := range seen {
		part := fmt.Sprintf("%s in %s of %s in %s", observedName(b, s.Part.Tools[0].Slug), useShare(s.Use, s.Part.NUnits), chart.Whole(int64(s.Part.NUnits)), s.Language)
		if _, interval := render.UseRate(s.Use, s.Part.NUnits); interval != "" && len(vague) > 0 { // one interval alone would make the others look firm
			part += " (95% CI " + interval + ")"
		}
		parts = append(parts, part)
	}
	text := "Among " + b.Unit + "s that use a listed tool, agents used " + and(parts)
	switch len(vague) {
	case 0:
		return text + "."
	case len(parts):
		return text + ". " + render.Capital(mayDiffer) + "."
	}
	return text + ". In " + and(vague) + ", " + mayDiffer + "."
}

// claimed returns the first tool of an observed board, or that of each of its first large languages, maxClaimed
// at most: its first sentence and its citation are of them.
func claimed(b *observed.Board) (out []sighting) {
	if len(b.Tools) == 0 {
		return nil
	}
	if _, several := mainPart(b); several == "" {
		return []sighting{{Board: b, Part: b.Whole(), Use: b.Tools[0].Use}}
	}
	large := largeLanguages(b)
	for _, l := range large[:min(maxClaimed, len(large))] {
		if len(l.Tools) > 0 {
			out = append(out, sighting{b, l.Part, l.Language, l.Tools[0].Use})
		}
	}
	return out
}

// maxClaimed is how many languages the claim of an observed board names.
const maxClaimed = 2

// held counts what the snapshot holds: answers and the agents that gave them, which noun calls
// models where all are of published studies.
func (r *Renderer) held() (answers int, agents map[string]bool, noun string) {
	agents, noun = map[string]bool{}, "model"
	for _, b := range r.in.Boards {
		answers += b.NTrials
		if b.Study == "" {
			noun = "agent"
		}
		for _, a := range b.Agents {
			agents[a.Agent] = true
		}
	}
	return answers, agents, noun
}

// sum says what the snapshot holds.
func (r *Renderer) sum() string {
	answers, agents, noun := r.held()
	var parts []string
	if answers > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s on %s", quantity(answers, "answer"), quantity(len(agents), noun), quantity(len(r.in.Boards), "board")))
	}
	if n := len(r.in.Observed); n > 0 { // Units counts also those on no board
		boards, unit := quantity(n, "observed board"), r.in.Observed[0].Unit
		if r.in.Units > 0 {
			of := ""
			if r.in.UnitsRead > r.in.Units {
				of = ", out of " + chart.Whole(int64(r.in.UnitsRead))
			}
			parts = append(parts, fmt.Sprintf("%s of agents that use a known tool%s (%s)", quantity(r.in.Units, unit), of, boards))
		} else {
			parts = append(parts, boards+" of "+unit+"s")
		}
	}
	if len(parts) == 0 {
		return "Nothing is measured yet."
	}
	return and(parts) + "."
}

// totals are the figures of sum for people, in a few words each.
func (r *Renderer) totals() (out []string) {
	if answers, agents, noun := r.held(); answers > 0 {
		out = append(out, quantity(answers, "answer")+" of "+quantity(len(agents), noun))
	}
	if n := r.in.Units; n > 0 && len(r.in.Observed) > 0 {
		text := quantity(n, r.in.Observed[0].Unit) + " by agents with a known tool"
		if read := r.in.UnitsRead; read > n {
			text = quantity(read, r.in.Observed[0].Unit) + " by agents, " + chart.Whole(int64(n)) + " with a known tool"
		}
		out = append(out, text)
	}
	if n := len(r.in.Boards) + len(r.in.Observed); n > 0 {
		text := quantity(n, "board")
		if len(r.in.Observed) > 0 && len(r.in.Boards) > 0 {
			text += fmt.Sprintf(" (%d asked, %d observed)", len(r.in.Boards), len(r.in.Observed))
		}
		out = append(out, text)
	}
	seen := 0
	for _, t := range r.tools {
		if slices.ContainsFunc(t.Places, func(p place) bool { return p.Standing.Picks > 0 }) || slices.ContainsFunc(t.Seen, func(s sighting) bool { return s.Use.Uses > 0 }) {
			seen++
		}
	}
	if seen > 0 {
		out = append(out, quantity(seen, "tool")+" picked or used")
	}
	return out
}

// described is the claim with its month, where that is long ago.
func described(h headline) string {
	if h.Age.Old == "" {
		return h.Text
	}
	return h.Age.When + ": " + h.Text
}
