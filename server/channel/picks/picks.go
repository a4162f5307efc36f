// Package picks describes how often agents pick a workspace's own tool: on the public
// board, or in the workspace's own evals.
package picks

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// The sources of a measurement.
const (
	Public = "public" // the board of the published snapshot
	Own    = "own"    // the workspace's newest run of an own eval
)

// A Measured is what is known of the picks of a tool.
type Measured struct {
	Source string // Public or Own
	URL    string // of the page with the details
	Eval   string // the id of the own eval; empty for Public
	Slug   string // of the tool
	// Board is the newest one, with its prompts.
	Board analytics.Board
	// Nights are the measurements, oldest first; the tools of the last one are those of
	// Board.
	Nights []nights.Line
	// Change compares the newest run of an own eval with the one before; nil where they do not
	// compare, and for Public.
	Change *Change
}

// A Choice is a tool of the catalogue, or of a workspace's own boards.
type Choice struct {
	Slug, Name string
	Domains    []string
	Category   string // the name of that which is measured; empty where none is
	Public     bool   // a board of the published snapshot has the tool
}

// A Source knows the tools that a workspace may follow, and what is measured.
type Source interface {
	// Tool returns the tool of a slug.
	Tool(ctx context.Context, workspace, slug string) (Choice, bool, error)
	// Search returns up to n tools that a text names, the best first.
	Search(ctx context.Context, workspace, text string, n int) ([]Choice, error)
	// Own returns the tools of the boards of the workspace's own evals, by name.
	Own(ctx context.Context, workspace string) ([]Choice, error)
	// Measured returns the newest measurement of a tool for a workspace; nil without one.
	Measured(ctx context.Context, workspace, tool string) (*Measured, error)
}

// Standing returns the tool on the newest board.
func (m *Measured) Standing() analytics.Standing { return standing(&m.Board, m.Slug) }

// Rival returns another tool of the newest board.
func (m *Measured) Rival(slug string) analytics.Standing { return standing(&m.Board, slug) }

func standing(b *analytics.Board, slug string) analytics.Standing {
	if i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug }); i >= 0 {
		return b.Tools[i]
	}
	return analytics.Standing{Slug: slug, Tool: slug}
}

// A Change is how much the pick rate of a tool differs between two runs, by the test of the page
// that compares them: of these two alone. What Shown says of a night is of all nights so far.
type Change struct {
	Diff        float64   // the newer rate less the older
	P           float64   // after the correction for all tools
	Significant bool      // below 0.05
	Since       time.Time // the end of the older run
	URL         string    // of the comparison
}

// Verdict says whether the difference may be chance.
func (c *Change) Verdict() string {
	if c.Significant {
		return "significant, " + PValue(c.P)
	}
	return "may be chance, " + PValue(c.P)
}

// PValue formats a p-value.
func PValue(p float64) string {
	if p < 0.001 {
		return "p < 0.001"
	}
	return fmt.Sprintf("p = %.3f", p)
}

// At returns the tool on a night; false where the night's board lacks it.
func At(l *nights.Line, slug string) (nights.Tool, bool) {
	if i := slices.IndexFunc(l.Tools, func(t nights.Tool) bool { return t.Slug == slug }); i >= 0 {
		return l.Tools[i], true
	}
	return nights.Tool{}, false
}

// Newest returns the last night; nil without one.
func (m *Measured) Newest() *nights.Line {
	if len(m.Nights) == 0 {
		return nil
	}
	return &m.Nights[len(m.Nights)-1]
}

// Before returns the tool on the last night up to a time, before the newest one, and when
// that was.
func (m *Measured) Before(until time.Time) (nights.Tool, time.Time, bool) {
	for i := len(m.Nights) - 2; i >= 0; i-- {
		l := &m.Nights[i]
		if t, ok := At(l, m.Slug); ok && !l.At.After(until) {
			return t, l.At, true
		}
	}
	return nights.Tool{}, time.Time{}, false
}

// Earlier returns the mean rate of the tool on up to n nights before a time.
func (m *Measured) Earlier(before time.Time, n int) (float64, bool) {
	sum, found := 0.0, 0
	for i := len(m.Nights) - 1; i >= 0 && found < n; i-- {
		l := &m.Nights[i]
		if t, ok := At(l, m.Slug); ok && l.At.Before(before) {
			sum, found = sum+t.PickRate, found+1
		}
	}
	if found == 0 {
		return 0, false
	}
	return sum / float64(found), true
}

// dropEvidence is the e-value that a drop of the tool needs, times its hypotheses: all agents
// together and each alone. So a year without a change has a false drop with a chance of 5 %
// at most, whatever else was selected on a night.
const dropEvidence = 20

// Drop returns the drop that the nights show now: that of all agents, else that of the
// first agent.
func (m *Measured) Drop() (nights.Shown, bool) {
	last := m.Newest()
	if last == nil {
		return nights.Shown{}, false
	}
	t, _ := At(last, m.Slug)
	for _, s := range t.Shown { // all agents first
		if s.Direction == nights.Drop && s.E >= dropEvidence*float64(len(m.Board.Agents)+1) {
			return s, true
		}
	}
	return nights.Shown{}, false
}

// Overtaken returns the rivals that were behind the tool and are ahead now.
func (m *Measured) Overtaken() []nights.Overtaken {
	last := m.Newest()
	if last == nil {
		return nil
	}
	t, _ := At(last, m.Slug)
	return t.Overtaken
}

// A Lost is a prompt where a rival is picked more often than the tool.
type Lost struct {
	Prompt, Text              string // Text is empty where it is not published
	Rival                     string // the name of the most picked tool
	Picks, RivalPicks, Trials int
	URL                       string // of its trials
}

// FewAnswers is from how many answers on a prompt or tag stands for itself.
const FewAnswers = 10

// Few says that a prompt has too few answers to stand for itself; empty where it has enough.
func (l *Lost) Few() string {
	if l.Trials >= FewAnswers {
		return ""
	}
	return chart.Count(l.Trials, "answer", "answers") + ": too few to judge"
}

// Few says of prompts, each with few answers, how many they have; empty where one has enough.
func Few(lost []Lost) string {
	if len(lost) == 0 {
		return ""
	}
	least, most := lost[0].Trials, 0
	for i := range lost {
		least, most = min(least, lost[i].Trials), max(most, lost[i].Trials)
	}
	text := chart.Count(most, "answer", "answers")
	if least < most {
		text = strconv.Itoa(least) + " to " + text
	}
	if most >= FewAnswers {
		return ""
	}
	return "With " + text + " each, that is too few to judge one prompt."
}

// Lost returns the prompts where another tool leads, the widest lead first.
func (m *Measured) Lost() []Lost {
	var out []Lost
	for i := range m.Board.Prompts {
		p := &m.Board.Prompts[i]
		l := Lost{Prompt: p.Prompt, Text: p.Text, Trials: p.NTrials, URL: p.URL}
		best := analytics.PromptTool{}
		for _, t := range p.Tools {
			if t.Slug == m.Slug {
				l.Picks = t.Picks
			} else if t.Picks > best.Picks {
				best = t
			}
		}
		if best.Picks > l.Picks {
			l.Rival, l.RivalPicks = m.Rival(best.Slug).Tool, best.Picks
			if l.URL == "" && m.Source == Own {
				l.URL = m.URL + "/traces?" + url.Values{"prompt": {l.Prompt}}.Encode()
			}
			out = append(out, l)
		}
	}
	lead := func(l Lost) float64 { return float64(l.RivalPicks-l.Picks) / float64(max(l.Trials, 1)) }
	sorting.StableFunc(out, func(a, b Lost) int { return cmp.Or(cmp.Compare(lead(b), lead(a)), strings.Compare(a.Prompt, b.Prompt)) })
	return out
}

// Points formats the size of a difference of rates.
func Points(diff float64) string {
	n := strconv.FormatFloat(math.Round(1000*math.Abs(diff))/10, 'f', -1, 64)
	if n == "1" {
		return "1 point"
	}
	return n + " points"
}
