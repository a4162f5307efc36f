package render

import (
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
)

// used are the tools that some unit uses; unused are the others.
func used(b *observed.Board) []observed.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s observed.Standing) bool { return s.Uses == 0 })
}

func unused(b *observed.Board) []observed.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s observed.Standing) bool { return s.Uses > 0 })
}

// observedNote says what a field rate is of.
func observedNote(f *analytics.FieldRate) string {
	text := fmt.Sprintf("observed in %d of %d units in %d repositories; not a pick rate", f.Uses, f.NUnits, f.NRepos)
	if ci := ci(f.CILow, f.CIHigh); ci != "" {
		return ci + "; " + text
	}
	return text
}

// tau says how far ranks agree with those of the observed board.
func tau(a *analytics.FieldAgreement) string {
	text := fmt.Sprintf("%s: the ranks of %d tools agree with those of what agents used by %.2f (Kendall's tau-b", observed.Mark, a.Tools, a.Tau)
	if a.CILow <= -1 && a.CIHigh >= 1 {
		return text + "; no interval with one prompt)."
	}
	return text + fmt.Sprintf("; 95%% CI %.2f to %.2f).", a.CILow, a.CIHigh)
}
