package gate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics/nights"
)

// Nightly reports whether the rule needs Subject.Nights.
func (r Rule) Nightly() bool { return r.Metric == night }

// judgeNight fails where the last night shows that the tool's pick rate dropped, with any
// agent or with all. The tests of all tools and agents of the category are corrected
// together; see package nights for what holds over many nights.
func (r Rule) judgeNight(v Verdict, s *Subject) Verdict {
	all := s.Nights[r.Since]
	if len(all) < 2 {
		v.Why = "no earlier snapshot of this category has other trials"
		return v
	}
	last := all[len(all)-1]
	i := slices.IndexFunc(last.Tools, func(t nights.Tool) bool { return t.Slug == r.Tool })
	if i < 0 {
		v.Why = "the last night does not have this tool"
		return v
	}
	t := last.Tools[i]
	v.Value, v.Low, v.High = &t.PickRate, &t.CILow, &t.CIHigh
	v.Measured = fmt.Sprintf("%s, %d nights from %s to %s", figure{t.PickRate, t.CILow, t.CIHigh, true, true},
		len(all), all[0].At.Format(time.DateOnly), last.At.Format(time.DateOnly))
	v.Status, v.Why = Met, t.Verdict()
	if slices.ContainsFunc(t.Shown, func(c nights.Shown) bool { return c.Direction == nights.Drop }) {
		v.Status = Failed
	}
	if len(last.Breaks) > 0 {
		v.Why += "; since the night before: " + strings.Join(last.Breaks, "; ")
	}
	return v
}
