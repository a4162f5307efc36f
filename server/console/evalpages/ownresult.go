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
	Lead                 string // how sure the lead is; empty where the tool in front cannot have another rank
	Tied                 string // how many tools have the same rank; empty if absent
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

// ownTool returns the slug of the tool that the workspace follows; empty if absent.
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
func (v *visit) ownResult(r *evals.Run, b *analytics.Board, slug string) (*ownResult, error) {
	i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == slug })
	if i < 0 || b.NTrials == 0 {
		return nil, nil
	}
	s := b.Tools[i]
	o := &ownResult{
		Name: s.Tool, Rate: chart.Percent(s.PickRate), Interval: chart.Percent(s.CILow) + " to " + chart.Percent(s.CIHigh),
		Rank: fmt.Sprintf("rank %d of %d", s.Rank, len(b.Tools)), Why: v.explains(r.ID, s.Slug), Schedule: v.at("evals", r.EvalID, "schedule"),
		Edit: v.at("evals", r.EvalID, "edit"), Proposed: r.EvalName == s.Slug,
	}
	_, _, known := render.PickedRange(b, s)
	if n := render.CountPicked(b); known && n < len(b.Tools) {
		o.Rank = fmt.Sprintf("rank %d of the %d picked tools", s.Rank, n)
	}
	if s.RankLow != s.RankHigh {
		o.Rank += " (possible: " + render.RankRange(b, s) + ")"
	}
	ties := 0
	for _, other := range b.Tools {
		if other.Rank == s.Rank && other.Slug != slug {
			ties++
		}
	}
	if ties > 0 {
		o.Tied = chart.Count(ties, "other tool has", "other tools have")
	}
	first := b.Tools[0]
	if first.Rank < s.Rank {
		o.Leader, o.LeaderRate = first.Tool, chart.Percent(first.PickRate)
	}
	if first.RankHigh == 1 || len(b.Tools) < 2 || o.Leader == "" && ties > 0 {
		return o, nil
	}
	behind := s
	if o.Leader == "" {
		behind = b.Tools[1]
	}
	prompts, err := v.h.Evals.Prompts(v.R.Context(), v.actor(), r.ID)
	if err != nil {
		return nil, err
	}
	o.Lead = describeLead(b, prompts, first, behind)
	return o, nil
}

// describeLead says how sure it is that a tool is ahead of another, where their order is not known with all
// pairs of tools compared at once.
func describeLead(b *analytics.Board, prompts []analytics.Prompt, first, behind analytics.Standing) string {
	counted := *b
	counted.Prompts = prompts
	text := "the lead of " + picks.Points(first.PickRate-behind.PickRate) + " over " + behind.Tool + " is "
	alone, ok := counted.Alone(first, behind)
	switch {
	case first.RankHigh < behind.RankLow:
		return text + "significant"
	case !ok: // the ranges of the ranks overlap
		return text + "not significant with all pairs of tools at once"
	case !alone.Shown:
		return text + "not significant"
	case len(b.Tools) == 2:
		return text + "significant"
	case behind.RankLow > 1: // the test with all pairs shows another tool ahead, or this one
		return text + "significant for this pair alone"
	default:
		return text + fmt.Sprintf("significant for this pair alone, not with all %s pairs of tools at once", chart.Whole(int64(len(b.Tools)*(len(b.Tools)-1)/2)))
	}
}

// rankNote says among which tools the ranks of a board are; empty where that makes no difference.
func rankNote(b *analytics.Board) string {
	if !slices.ContainsFunc(b.Tools, func(s analytics.Standing) bool { return render.AmongPicked(b, s) != "" }) {
		return ""
	}
	return fmt.Sprintf("Ranks are among the %d picked tools. scores.json has them among all %d tools of the category.", render.CountPicked(b), len(b.Tools))
}
