package evalpages

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A planView is what a run of the draft takes.
type planView struct {
	Trials, Each, Expected, Worst, Detectable string
	Synthetic                                 bool
	Sizes                                     []sizeRow
}

// A sizeRow is a size to choose: its answers, cost and time, and the smallest difference that it
// shows.
type sizeRow struct {
	Repeats int
	Takes   []string // answers, cost, time
	Shows   string
	On      bool
}

// planned names the models that a plan is for.
func planned(agents []evals.ProposedAgent) string {
	var out []string
	for _, a := range agents {
		out = append(out, fmt.Sprint(a.Kind, " ", a.Model, " ", a.BaseURL, " ", a.Input, " ", a.Output))
	}
	return strings.Join(out, "; ")
}

// costs reports whether a run of a draft can cost money.
func costs(d *evals.Draft) bool { return d.Checked.WorstUSD == nil || *d.Checked.WorstUSD > 0 }

func newPlan(d *evals.Draft) planView {
	c := &d.Checked
	p := planView{
		Trials: chart.Count(c.Trials, "trial", "trials"), Expected: chart.MaybeMoney(c.ExpectedUSD), Worst: chart.MaybeMoney(c.WorstUSD), Synthetic: c.Synthetic,
		Each:       fmt.Sprintf("%s × %s × %s", chart.Count(c.Prompts, "prompt", "prompts"), chart.Count(len(c.Agents), "agent", "agents"), chart.Count(c.Repeats, "repeat", "repeats")),
		Detectable: "none: take more prompts",
	}
	if c.Synthetic {
		p.Expected, p.Worst = p.Expected+" (simulated)", p.Worst+" (simulated)"
	}
	if c.Detectable != nil {
		p.Detectable = chart.Count(int(math.Ceil(100**c.Detectable)), "point", "points")
	}
	var last []sizeRow
	for _, s := range d.Sizes {
		row := newSize(&s, s.Repeats == d.Repeats)
		if c.Synthetic {
			row.Takes = append(row.Takes, modelCost(d.Costs, float64(s.Repeats)/float64(d.Repeats))...)
		}
		if s.Checked.Detectable == nil {
			last = append(last, row)
		} else {
			p.Sizes = append(p.Sizes, row)
		}
	}
	p.Sizes = append(p.Sizes, last...) // the cheapest first that shows something
	return p
}

func newSize(s *evals.Size, on bool) sizeRow {
	c := &s.Checked
	row := sizeRow{Repeats: s.Repeats, On: on, Shows: "shows no difference between two tools", Takes: []string{chart.Count(c.Trials, "answer", "answers")}}
	if c.Detectable != nil {
		row.Shows = "shows differences from " + chart.Count(int(math.Ceil(100**c.Detectable)), "point", "points") + " on"
	}
	if !c.Synthetic {
		row.Takes = append(row.Takes, twoDecimals(c.ExpectedUSD)+" expected, at most "+twoDecimals(c.WorstUSD), duration(c.Took))
	}
	return row
}

// twoDecimals formats US dollars with two decimals, and less than a cent with more.
func twoDecimals(usd *float64) string {
	if usd == nil || *usd < 0.01 {
		return chart.MaybeMoney(usd)
	}
	return fmt.Sprintf("$%.2f", *usd)
}

// modelCost writes what a run with one of the models costs, from the cheapest to the dearest, and
// how long the slowest takes; both grow with the repeats. It is empty where no cost is known.
func modelCost(costs []evals.Cost, times float64) []string {
	least, most, slowest := math.Inf(1), 0.0, time.Duration(0)
	for _, c := range costs {
		slowest = max(slowest, c.Took)
		if c.Expected != nil {
			least, most = min(least, times**c.Expected), max(most, times**c.Expected)
		}
	}
	if most == 0 {
		return nil
	}
	return []string{fmt.Sprintf("about $%.2f to $%.2f with one model", least, most), duration(time.Duration(times * float64(slowest)))}
}

// duration writes about how long something takes.
func duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "under a minute"
	case d < 2*time.Hour:
		return "about " + chart.Count(int(math.Round(d.Minutes())), "minute", "minutes")
	default:
		return "about " + chart.Count(int(math.Round(d.Hours())), "hour", "hours")
	}
}
