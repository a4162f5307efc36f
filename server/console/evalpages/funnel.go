package evalpages

import (
	"fmt"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A funnel is how far trials came with each tool that one of them named.
type funnel struct {
	Trials string // "12 trials"
	Built  bool   // a command of the eval ran
	Rows   []funnelRow
}

// A funnelRow is one tool of a funnel.
type funnelRow struct {
	Name, Link string // the link is empty for a tool without a pick
	Own        bool
	Steps      []funnelStep // named, picked, installed; builds where a command ran
}

// A funnelStep is how many trials came so far, and their share.
type funnelStep struct {
	Name, Share string
	N           int
}

// funnel returns nil for a run without agents that work in a folder.
func (v *visit) funnel(r *evals.Run, s *format.Scores, own string) *funnel {
	if s.Funnel == nil || len(s.Funnel.Tools) == 0 {
		return nil
	}
	names := map[string]string{}
	for _, t := range s.Board.Tools {
		names[t.Slug] = t.Tool
	}
	out := &funnel{Trials: chart.Count(s.Funnel.Trials, "trial", "trials")}
	for _, t := range s.Funnel.Tools {
		out.Built = out.Built || t.Ran > 0
	}
	for _, t := range s.Funnel.Tools {
		row := funnelRow{Name: names[t.Slug], Own: t.Slug == own}
		if row.Name == "" {
			row.Name = t.Slug
		}
		if t.Picked > 0 {
			row.Link = v.chosen(r.ID, "outcome", "tool", "picked", t.Slug)
		}
		step := func(name string, n int) {
			row.Steps = append(row.Steps, funnelStep{name, chart.Percent(float64(n) / float64(s.Funnel.Trials)), n})
		}
		step("Named", t.Named)
		step("Picked", t.Picked)
		step("Installed", t.Installed)
		if out.Built {
			step("Builds", t.Builds)
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// details says what outcomes do not tell of trials.
func details(s *format.Scores) (out []string) {
	of := func(n int, what string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d of %s %s (%s).", n, chart.Count(s.Board.NTrials, "trial", "trials"), what, chart.Percent(float64(n)/float64(s.Board.NTrials))))
		}
	}
	of(s.Details.AskedUser, "end by asking the user, without a pick")
	of(s.Details.FollowedIncumbent, "pick the tool that their project already had")
	return out
}
