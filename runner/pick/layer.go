package pick

import "slices"

// The layers of reading, as boards and scores name them.
const (
	LayerStructured = "structured"
	LayerActions    = "actions"
	LayerStatement  = "statement"
	LayerJudge      = "judge"
	LayerGiven      = "given"
	LayerUndecided  = "undecided" // no layer decided
)

// Layers returns every layer in the order in which they are printed.
func Layers() []string {
	return []string{LayerStructured, LayerActions, LayerStatement, LayerJudge, LayerGiven, LayerUndecided}
}

// Layer returns the layer that decided the outcome. An unresolved result is undecided,
// whichever layer was tried last.
func (r Result) Layer() string {
	switch {
	case r.Unresolved:
		return LayerUndecided
	case r.Method == MethodStructured, r.Method == MethodStatement, r.Method == MethodJudge, r.Method == MethodGiven:
		return string(r.Method)
	case r.Method == MethodAction:
		return LayerActions
	}
	return LayerUndecided
}

// nameRule names the rule of a result that actions or a structured answer decided.
func nameRule(r *Result) {
	switch {
	case r.Rule != "":
	case r.Method == MethodStructured:
		r.Rule = "answers in the requested form"
	case r.Method == MethodAction && r.Kind == Tool:
		r.Rule = "actions use one tool"
	case r.Method == MethodAction && r.Kind == DIY:
		r.Rule = "actions build it"
	case r.Method == MethodAction && r.Kind == Ambiguous:
		r.Rule = "actions use two or more tools"
	case r.Method == MethodAction:
		r.Rule = "actions use what does not compete"
	}
}

// ReportsUnresolved reports whether Unresolved is known. It is not for an imported
// result, nor for one of an extractor before Rule existed.
func (r Result) ReportsUnresolved() bool { return r.Rule != "" }

// ReportsFirstNamed reports whether FirstNamed is known: also not for a study's listing,
// which has no final message.
func (r Result) ReportsFirstNamed() bool {
	return r.ReportsUnresolved() && !slices.ContainsFunc(r.Evidence, func(e Evidence) bool { return e.Kind == "listed" })
}
