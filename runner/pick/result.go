package pick

// Version names the extractor's rules. It changes whenever the same transcript
// and catalogue could give another result, and every result carries it. Only Details may
// grow without it: they change no outcome.
const Version = "2.3.0"

// A Kind is the outcome of a valid trial. All kinds stay in the denominator of
// every rate.
type Kind string

// The outcomes.
const (
	Tool      Kind = "tool"      // picked a tool of the category
	DIY       Kind = "diy"       // built its own
	Other     Kind = "other"     // chose something outside the category's field
	None      Kind = "none"      // chose nothing
	Ambiguous Kind = "ambiguous" // chose two or more, without a preference
	Refused   Kind = "refused"   // refused to answer
	Truncated Kind = "truncated" // cut off before it chose
)

// Kinds returns every outcome in the order in which they are printed.
func Kinds() []Kind { return []Kind{Tool, DIY, Other, None, Ambiguous, Refused, Truncated} }

// A Method is the layer of reading that decided an outcome. Layers are tried in the order
// in which they stand here; each has a precision of its own, which `extract score` prints.
type Method string

// The methods.
const (
	MethodStructured Method = "structured" // the JSON answer that the prompt asked for
	MethodAction     Method = "deed"       // actions in the workspace
	MethodStatement  Method = "statement"  // statements in the answer text
	MethodJudge      Method = "judge"      // two models agreed on what the rules left unresolved
	MethodGiven      Method = "given"      // given by an import
)

// The levels of evidence, strong to weak.
const (
	LevelStructured = 7 // structured answer
	LevelManifest   = 6 // dependency added to a manifest
	LevelCode       = 5 // import, also a listed one, SDK constructor or API host in added code
	LevelConfig     = 4 // environment variable or vendor config file
	LevelCommand    = 3 // install command with exit 0 that left no trace in the tree
	LevelStatement  = 2 // commitment in the final message
	LevelMention    = 1 // the name occurs
)

// A Result is the outcome of one trial, with its evidence.
type Result struct {
	Kind Kind `json:"kind"`
	// Picked is the slug of the tool for Tool, the slug or package of the
	// outside choice for Other, and empty otherwise.
	Picked string `json:"picked,omitempty"`
	// Shortlist holds the pick and every tool named as a viable option, or
	// tried; sorted, without duplicates.
	Shortlist []string `json:"shortlist,omitempty"`
	// Rejected holds the tools that were only named and turned down; sorted.
	Rejected []string `json:"rejected,omitempty"`
	// Say is the tool that the final message commits to, if it is exactly one and differs
	// from Picked: statement and action disagree.
	Say    string `json:"say,omitempty"`
	Method Method `json:"method,omitempty"`
	// Unresolved means that no rule applied: Kind is then Ambiguous, and a judge may decide.
	Unresolved bool `json:"unresolved,omitempty"`
	// Rule names the rule that decided, or the last that was tried.
	Rule string `json:"rule,omitempty"`
	// FirstNamed is the slug of the rival that the final message names first.
	FirstNamed string `json:"firstNamed,omitempty"`
	// Language is the main language of the final message as ISO 639-1, if it is one of
	// those that the rules read; otherwise empty.
	Language string `json:"language,omitempty"`
	// Level is the strongest level of evidence for the pick, 0 to 7.
	Level int `json:"level,omitempty"`
	// Evidence lists the evidence, strongest first.
	Evidence []Evidence `json:"evidence,omitempty"`
	// Details are properties of the outcome. Results of earlier programs have none.
	Details []Detail `json:"details,omitempty"`
	// Extractor and Catalog are the versions that made this result; empty for an
	// imported result.
	Extractor string `json:"extractor,omitempty"`
	Catalog   string `json:"catalog,omitempty"`
}

// Mismatch reports whether the agent named one tool and used another.
func (r Result) Mismatch() bool { return r.Say != "" }

// Evidence is one reason for a tool: a line, file, command or quote.
type Evidence struct {
	Tool  string `json:"tool"`
	Level int    `json:"level"`
	// Kind is one of manifest, import, listed, host, env, file, command, statement,
	// rejection, mention, considered, structured, diy, cut, lookalike, judge, and in details
	// question, installed. Lookalike means
	// that a word mixes letters of two scripts that look the same. Listed is an import that a study names
	// without publishing the code: it has no place, and Quote is the library alone. A cut
	// means that a text was longer than the part that is read; see Window. Of a judge, Path
	// is the model that quotes.
	Kind string `json:"kind"`
	// Path and Line place it in the workspace: Line counts the added lines of
	// Path from 1 and is 0 without a line.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	// Quote is the verbatim text: the line, the command or the sentence.
	Quote string `json:"quote,omitempty"`
}
