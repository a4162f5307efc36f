package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/forecast"
	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/cmd/progress"
)

func (o *planOptions) print(f forecast.Forecast, notes []string) error {
	t := table{header: []string{"agent", "kind", "model", "conditions", "trials", "expected", "worst", "seconds", "basis"}}
	for _, a := range f.Agents {
		var conditions []string
		if a.Web != "" {
			conditions = append(conditions, "web "+a.Web)
		}
		if a.Effort != "" {
			conditions = append(conditions, "effort "+a.Effort)
		}
		t.add(a.Name, a.Kind, a.Model, strings.Join(conditions, ", "), fmt.Sprint(a.Trials), expected(a.Expected), worst(a.WorstUSD),
			fmt.Sprintf("%.1f", a.SecondsPerTrial), a.Basis)
	}
	t.add("all", "", "", "", fmt.Sprint(f.Trials), expected(f.Expected), worst(f.WorstUSD), "", "")
	if err := t.print(o.env, o.format); err != nil {
		return err
	}
	w := o.env.Stdout
	if o.csv {
		w = o.env.Stderr
	}
	_, err := fmt.Fprintln(w, "\n"+strings.Join(planNotes(f), "\n"))
	for _, n := range notes {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s\n", n)
	}
	return err
}

// planNotes returns the notes below the table.
func planNotes(f forecast.Forecast) []string {
	p := f.Power
	lines := []string{
		fmt.Sprintf("trials: %s x %s x %s x %s = %d", count(f.Prompts, "prompt"), count(len(f.Agents), "agent"),
			count(f.Templates, "template"), count(f.Repeats, "repeat"), f.Trials),
		fmt.Sprintf("time: about %s with %d in parallel, without rate limits", f.Duration().Round(time.Second), f.Concurrency),
		fmt.Sprintf("power: the smallest difference between the two most picked of %s that the board shows as significant in 80%% of such runs (prompt families: %d):",
			count(p.Tools, "tool"), p.Families),
	}
	for _, at := range p.ByICC {
		lines = append(lines, fmt.Sprintf("power: %s if %.0f%% of the variance lies between prompts (ICC %.1f); %s if these two get all picks",
			points(at.Detectable, "no difference can be shown"), 100*at.ICC, at.ICC, points(at.DetectableOfTwo, "none")))
	}
	if from := p.Pilot; from != nil {
		lines = append(lines, fmt.Sprintf("power: %s from earlier runs of %s (ICC %.2f), 80%% range %s to %s",
			points(from.Detectable, "no difference can be shown"), count(from.Prompts, "prompt"), from.ICC, points(from.Low, "0"), points(from.High, "no end")))
	}
	lines = append(
		lines,
		fmt.Sprintf("power: 5 points take %s with %d trials each at ICC %.2f, at least %s with any number of repeats; %s if no two shared a prompt",
			needed(p.PromptsFor5, "prompt"), p.TrialsPerPrompt, p.Rho, needed(p.PromptsAtBest, "prompt"), needed(p.IndependentTrials, "trial")),
		fmt.Sprintf("power: an interval of 5 points either side takes %s; telling two snapshots of other prompts apart by 5 points takes %s each (one test; design effect %.1f)",
			count(int(p.TrialsForHalf5), "trial"), count(int(p.TrialsPerSide), "trial"), p.Deff),
	)
	if f.Detect != nil {
		lines = append(lines, detectionNotes(f.Detect)...)
	}
	return lines
}

// detectionNotes returns the lines on the designs that show a difference.
func detectionNotes(d *forecast.Detection) []string {
	if len(d.Designs) == 0 {
		return []string{fmt.Sprintf("detect: no number of prompts shows %s", points(&d.Difference, ""))}
	}
	lines := []string{fmt.Sprintf("detect: %s, the cheapest first; more prompts beat more repeats: they take fewer trials", points(&d.Difference, ""))}
	for _, design := range d.Designs {
		from, cost := "", "cost unknown"
		if design.Measured {
			from = " from earlier runs"
		}
		if design.ExpectedUSD != nil {
			cost = progress.USD(*design.ExpectedUSD)
		}
		lines = append(lines, fmt.Sprintf("detect: ICC %.2f%s: %s x %s = %s, %s", design.ICC, from,
			count(design.Prompts, "prompt"), count(design.Repeats, "repeat"), count(design.Trials, "trial"), cost))
	}
	return lines
}

// points formats a difference of rates; nil is the text none.
func points(v *float64, none string) string {
	if v == nil {
		return none
	}
	return fmt.Sprintf("%.1f points", stats.Percent(*v))
}

func expected(m *forecast.Money) string {
	switch {
	case m == nil:
		return "unknown"
	case m.High-m.Low < 0.00005:
		return progress.USD(m.USD)
	default:
		return fmt.Sprintf("%s (%s–%s)", progress.USD(m.USD), progress.USD(m.Low), progress.USD(m.High))
	}
}

func worst(v *float64) string {
	if v == nil {
		return "unknown"
	}
	return progress.USD(*v)
}

// count prints a number of things.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// categories prints a number of categories.
func categories(n int) string {
	if n == 1 {
		return "1 category"
	}
	return fmt.Sprintf("%d categories", n)
}

// needed prints a number of things that may be unreachable.
func needed(n *float64, noun string) string {
	if n == nil {
		return "no number of " + noun + "s"
	}
	return count(int(*n), noun)
}
