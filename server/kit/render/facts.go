package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A Fact is a figure of a tool's page. Note is optional.
type Fact struct{ Name, Value, Note string }

// Facts are the figures of a tool on a board after its rate, in the order of the page.
func Facts(b analytics.Board, s analytics.Standing) []Fact {
	var out []Fact
	if !Single(b) {
		f := Fact{Name: "Rank range (95%)", Value: RankRange(&b, s)}
		if AmongPicked(&b, s) != "" {
			f.Note = fmt.Sprintf("among the picked tools; %s among all %d, as in the JSON", ranks(s.RankLow, s.RankHigh), b.Field)
		}
		out = append(out, f)
	}
	d := s.Detail
	for _, m := range metrics(s) {
		f := Fact{Name: m.Name, Value: metric(m, s)}
		if d != nil {
			f.Note = metricInterval(m.Name, d)
		}
		out = append(out, f)
	}
	if d != nil {
		out = append(out, detail(d)...)
	}
	if l := s.Labelled; l != nil {
		out = append(out, Fact{"Pick rate, corrected by labels", chart.Percent(l.PickRate), ci(l.CILow, l.CIHigh)})
	}
	if f := s.FieldRate; f != nil {
		out = append(out, Fact{observed.Mark + " use rate", chart.Percent(f.UseRate), observedNote(f)})
	}
	return append(out, Fact{Name: "As of", Value: Day(b.AsOf)})
}

// ci is the note of a rate with an interval; empty for one that says nothing.
func ci(low, high float64) string {
	if text := Interval(low, high); text != "" {
		return "95% CI " + text
	}
	return ""
}

func metricInterval(name string, d *analytics.Detail) string {
	switch name {
	case "Shortlist rate":
		return ci(d.ShortlistLow, d.ShortlistHigh)
	case "Default rate":
		return ci(d.DefaultLow, d.DefaultHigh)
	}
	return ""
}

func detail(d *analytics.Detail) (out []Fact) {
	add := func(name, value, note string) {
		if value != "" {
			out = append(out, Fact{name, value, note})
		}
	}
	if d.RawRate != nil {
		add("Raw rate", chart.Percent(*d.RawRate), "all trials count equally")
	}
	if d.PopulationLow != nil {
		add("For agents like these", Interval(*d.PopulationLow, *d.PopulationHigh), "95% CI")
	}
	if d.BoundHigh != nil && *d.BoundHigh > *d.BoundLow {
		add("Bounds", span(&analytics.Range{Low: *d.BoundLow, High: *d.BoundHigh}), "whatever the missing and unresolved trials would have picked")
	}
	if d.NEff > 0 {
		add("Effective trials", fmt.Sprintf("%.0f", d.NEff), "so many independent trials would say as much")
	}
	add("Without one agent", span(d.WithoutAgent), "")
	add("Without one prompt family", span(d.WithoutFamily), "")
	add("Variance between trials", variance(d.Variance), "")
	return out
}

func span(r *analytics.Range) string {
	if r == nil {
		return ""
	}
	low, high := chart.Percent(r.Low), chart.Percent(r.High)
	if low == high {
		return low
	}
	return low + "–" + high
}

// variance lists where the variance comes from, without empty parts.
func variance(v *analytics.Variance) string {
	if v == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		name  string
		share float64
	}{{"prompts", v.Prompt}, {"agents", v.Agent}, {"templates", v.Template}, {"interaction", v.Interaction}, {"repeats", v.Repeat}} {
		if p.share > 0 {
			parts = append(parts, p.name+" "+chart.Percent(p.share))
		}
	}
	return strings.Join(parts, ", ")
}

// BoardNotes are sentences about the trials of a board.
func BoardNotes(b analytics.Board) (out []string) {
	if d := b.BoardDetail; d != nil && b.NTrials > 0 {
		out = append(out, rateNote("Built its own", d.DIYRate, d.DIYLow, d.DIYHigh)...)
		if b.DecidedBy != nil && b.DecidedBy.Actions > 0 { // else no answer used one
			out = append(out, rateNote("Said one tool and used another", b.SayDoMismatchRate, d.SayDoMismatchLow, d.SayDoMismatchHigh)...)
		}
	}
	if c := b.Consistency; c != nil {
		kappa := ""
		if c.Kappa != nil {
			kappa = strings.NewReplacer("-0.00", "0.00", "-", "−").Replace(fmt.Sprintf("kappa %.2f, ", *c.Kappa))
		}
		out = append(out, fmt.Sprintf("Two answers of the same agent to the same prompt agree in %s of cases (%s%d %s of prompt, agent and template; kappa is 0 for chance, 1 for always).", chart.Percent(c.Agreement), kappa, c.NCells, counted(c.NCells, "combination")))
	}
	return out
}

// rateNote writes a rate; nothing for a rate of zero of which no interval is known.
func rateNote(name string, rate, low, high float64) []string {
	text, note := name+": "+chart.Fixed(rate), ci(low, high)
	switch {
	case note != "":
		text += " (" + note + ")"
	case rate == 0:
		return nil
	}
	return []string{text + "."}
}

// Doubts explains the warnings of a board and of the rates of tools on it, without those of an
// interval that is not shown, and those that one prompt says already.
func Doubts(b *analytics.Board, tools ...analytics.Standing) []Warning {
	all := slices.Clone(b.Warnings)
	for _, s := range tools {
		all = append(all, s.Warnings...)
	}
	if Single(*b) {
		all = slices.DeleteFunc(all, func(code string) bool {
			return code == analytics.FewFamilies || code == analytics.WideInterval || code == analytics.FewEffectiveTrials
		})
	}
	slices.Sort(all)
	all = slices.Compact(all)
	out := explained(b, all)
	for i, code := range serious(all) {
		if code == analytics.FewEffectiveTrials {
			out[i].Text = fewEffective(b, tools)
		}
	}
	return merged(out)
}

// merged joins the texts of warnings that have one title.
func merged(all []Warning) (out []Warning) {
	for _, w := range all {
		i := slices.IndexFunc(out, func(o Warning) bool { return o.Title == w.Title && o.Link == w.Link })
		if i < 0 {
			out = append(out, w)
			continue
		}
		out[i].Text += ". " + w.Text
	}
	return out
}

// fewEffective says what it means that the answers about tools count as few independent ones. Where
// no answer picked a tool, the answers to a prompt count as one.
func fewEffective(b *analytics.Board, tools []analytics.Standing) string {
	for _, s := range tools {
		if !slices.Contains(s.Warnings, analytics.FewEffectiveTrials) {
			continue
		}
		count := ""
		if s.Detail != nil && s.NEff > 0 {
			count = fmt.Sprintf(", together as %.0f", s.NEff)
		}
		if s.Picks == 0 {
			what := s.Tool
			if len(b.Tools) > 1 && !slices.ContainsFunc(b.Tools, func(s analytics.Standing) bool { return s.Picks > 0 }) {
				what = "a tool of the list"
			}
			return "No answer picks " + what + ", so all answers to a prompt count as one" + count + ". A firm rate needs 30"
		}
		return "Answers to one prompt are alike, so they count as fewer independent ones" + count + ". A firm rate needs 30"
	}
	return "Answers to one prompt are alike, and together these count as fewer than 30 independent ones"
}

// A tag is a tag of prompts with the rates by its values.
type tag struct {
	Name string
	Cuts []cut
}

// A cut has the rates by one value of a tag: those of the first tools, and how many more
// were picked.
type cut struct {
	analytics.Cut
	More int
}

// maxCutTools is how many tools a cut lists.
const maxCutTools = 3

// tags groups the cuts of a board, which are sorted.
func tags(b analytics.Board) (out []tag) {
	for _, c := range b.Cuts {
		if name := strings.ToUpper(c.Tag[:1]) + c.Tag[1:]; len(out) == 0 || out[len(out)-1].Name != name {
			out = append(out, tag{Name: name})
		}
		last, n := &out[len(out)-1], min(maxCutTools, len(c.Tools))
		more := len(c.Tools) - n
		c.Tools = c.Tools[:n]
		last.Cuts = append(last.Cuts, cut{c, more})
	}
	return out
}

// Early reports whether a cut is small.
func (c cut) Early() bool { return slices.Contains(c.Warnings, analytics.Directional) }
