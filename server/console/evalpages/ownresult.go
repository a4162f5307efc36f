package evalpages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// An ownResult is the tool that the workspace follows on the board of a run.
type ownResult struct {
	Name, Rate, Interval string
	Rank                 string
	Leader, LeaderRate   string // of the tool in front; empty where the own one leads
	Clear                bool   // the tool in front cannot have another rank
	Tied                 string // how many tools have the same rank; empty for none
	Why, Schedule, Edit  string // links
	Proposed             bool   // the eval is that of the form that measures the tool
	Change               *ownChange
}

// An ownChange is how the pick rate differs from the run before. Look is the class of a significant
// change.
type ownChange struct{ Text, Look, Link string }

// change compares the newest run of an eval with the one before; nil for other runs, and where
// they do not compare.
func (v *visit) change(run, slug string) (*ownChange, error) {
	m, err := v.h.Evals.Measured(v.R.Context(), v.Workspace.ID, slug)
	if err != nil || m == nil || m.Change == nil || !strings.HasSuffix(m.URL, "/runs/"+run) {
		return nil, err
	}
	c := m.Change
	out := &ownChange{Text: "no change", Link: c.URL}
	switch points := picks.Points(c.Diff); {
	case points == picks.Points(0):
	case c.Diff > 0:
		out.Text, out.Look = "▲ "+points, "up"
	default:
		out.Text, out.Look = "▼ "+points, "down"
	}
	if !c.Significant {
		out.Look = ""
	}
	out.Text += " since " + c.Since.UTC().Format("2 Jan 2006") + ": " + c.Verdict()
	return out, nil
}

// ownTool returns the slug of the tool that the workspace follows; empty for none.
func (v *visit) ownTool() (string, error) {
	if v.follows == nil {
		slug, err := v.h.Evals.Followed(v.R.Context(), v.actor())
		if err != nil {
			return "", err
		}
		v.follows = &slug
	}
	return *v.follows, nil
}

// whose returns the tools of a run, by name, for an editor of a workspace that follows none to
// choose from. A pushed run has none: its tools need not be of a catalogue here.
func (v *visit) whose(r *evals.Run, b *analytics.Board, follows string) (out []choice) {
	if follows != "" || v.h.Evals.Follow == nil || !v.Role.Includes(identity.Editor) || r.Status != state.RunDone || r.Origin != "" {
		return nil
	}
	for _, t := range b.Tools {
		out = append(out, choice{Key: t.Slug, Name: t.Tool})
	}
	sorting.Func(out, func(a, b choice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// ownResult returns nil where the run lacks the tool that the workspace follows.
func (v *visit) ownResult(r *evals.Run, b *analytics.Board, slug string) *ownResult {
	i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug })
	if i < 0 || b.NTrials == 0 {
		return nil
	}
	s := b.Tools[i]
	o := &ownResult{
		Name: s.Tool, Rate: chart.Percent(s.PickRate), Interval: chart.Percent(s.CILow) + " to " + chart.Percent(s.CIHigh),
		Rank: fmt.Sprintf("rank %d of %d", s.Rank, len(b.Tools)), Why: v.explains(r.ID, s.Slug), Schedule: v.at("evals", r.EvalID, "schedule"),
		Edit: v.at("evals", r.EvalID, "edit"), Proposed: r.EvalName == s.Slug,
	}
	if among := render.AmongPicked(b, s); among != "" {
		o.Rank += " (possible: " + among + " among the picked tools)"
	} else if s.RankLow != s.RankHigh {
		o.Rank += fmt.Sprintf(" (possible: %d to %d)", s.RankLow, s.RankHigh)
	}
	ties := 0
	for _, other := range b.Tools {
		if other.Rank == s.Rank && other.Slug != slug {
			ties++
		}
	}
	if ties > 0 {
		o.Tied = many(ties, "other tool has", "other tools have")
	}
	first := b.Tools[0]
	o.Clear = first.RankHigh == 1
	if first.Rank < s.Rank {
		o.Leader, o.LeaderRate = first.Tool, chart.Percent(first.PickRate)
	}
	return o
}
