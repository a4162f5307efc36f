package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/firstpick/firstpick/runner/pick"
)

func outcomeText(r pick.Result) string {
	s := string(r.Kind)
	if r.Picked != "" {
		s += ": " + r.Picked
	}
	if r.Unresolved {
		s += " (unresolved)"
	}
	if r.Say != "" {
		s += fmt.Sprintf(" (but said %s)", r.Say)
	}
	return s
}

// writeEvidence prints what decided the outcome, or gave up, and the evidence.
func (h *history) writeEvidence(w io.Writer) {
	r := h.Result
	if r == nil {
		h.writeAttempts(w)
		return
	}
	_, _ = fmt.Fprintf(w, "decided  %s\nshort    %s\n", decidedBy(*r), strings.Join(r.Shortlist, ", "))
	if len(r.Rejected) > 0 {
		_, _ = fmt.Fprintf(w, "rejected %s\n", strings.Join(r.Rejected, ", "))
	}
	if r.FirstNamed != "" {
		_, _ = fmt.Fprintf(w, "first    %s is named before its rivals\n", r.FirstNamed)
	}
	if r.Language != "" {
		_, _ = fmt.Fprintf(w, "language %s\n", r.Language)
	}
	if r.Extractor != "" { // an import may have the outcome
		_, _ = fmt.Fprintf(w, "by       extractor %s, catalogue %.19s\n", r.Extractor, r.Catalog)
	}
	if r.Unresolved && !h.remote {
		_, _ = fmt.Fprintf(w, "next     two models read it: firstpick extract judge %s --with A,B --max-cost USD\n"+
			"         you label it:       firstpick label %s\n", h.Run, h.Run)
	}
	if len(r.Evidence) > 0 {
		_, _ = fmt.Fprintln(w, "\nevidence, strongest first")
	}
	for _, e := range r.Evidence {
		place := e.Path
		if e.Line > 0 {
			place = fmt.Sprintf("%s:%d", e.Path, e.Line)
		}
		quote := printable(e.Quote)
		if e.Kind == "listed" {
			quote = "imported: " + quote + " (as listed by the study)"
		}
		_, _ = fmt.Fprintf(w, "  %d %-10s %-16s %s  %s\n", e.Level, e.Kind, e.Tool, printable(place), quote)
	}
}

// detailQuote formats the first evidence of a detail.
func detailQuote(d pick.Detail) string {
	if len(d.Evidence) == 0 {
		return ""
	}
	e := d.Evidence[0]
	if e.Path != "" {
		return fmt.Sprintf(": %s in %s", printable(e.Quote), printable(e.Path))
	}
	return ": " + printable(e.Quote)
}

// decidedBy says which layer and rule decided, or which rule gave up.
func decidedBy(r pick.Result) string {
	layer := r.Layer()
	switch {
	case r.Unresolved && r.Rule != "":
		return fmt.Sprintf("unresolved: no rule applies, the last that was tried is %q; it counts as ambiguous", r.Rule)
	case r.Unresolved:
		return "unresolved: no rule applies; it counts as ambiguous"
	case layer == pick.LayerUndecided && r.Rule == "":
		return "nothing was chosen, level " + fmt.Sprint(r.Level) + " of 7"
	case layer == pick.LayerUndecided:
		return fmt.Sprintf("no layer, rule %q", r.Rule)
	case r.Rule != "":
		return fmt.Sprintf("%s, rule %q, level %d of 7", layer, r.Rule, r.Level)
	}
	return fmt.Sprintf("%s, level %d of 7", layer, r.Level)
}
