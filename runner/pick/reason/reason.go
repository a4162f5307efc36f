// Package reason classifies what an answer says against a tool: the price, a missing feature,
// lock-in, complexity, maturity, or that the agent does not know the tool.
//
// It reads sentences in English whose names are slots, as package pick makes them. Phrases of a
// lexicon for each reason speak for or against a tool; a negation turns them round, and a
// comparison moves them: "X is cheaper than Y" is a point against Y.
package reason

// A Reason is why an answer does not take a tool.
type Reason string

// The reasons.
const (
	Price      Reason = "price"
	Feature    Reason = "missing_feature"
	LockIn     Reason = "lock_in"
	Complexity Reason = "complexity"
	Maturity   Reason = "maturity"
	Unknown    Reason = "unknown" // the agent does not know the tool
	Other      Reason = "other"   // turned down, for none of these reasons
)

// Reasons returns every reason in the order in which they are printed.
func Reasons() []Reason {
	return []Reason{Price, Feature, LockIn, Complexity, Maturity, Unknown, Other}
}

// A Statement is one sentence against a tool.
type Statement struct {
	// Tool is the slug.
	Tool   string `json:"tool"`
	Reason Reason `json:"reason"`
	// Quote is the sentence, verbatim.
	Quote string `json:"quote"`
}
