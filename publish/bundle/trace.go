package bundle

import (
	"encoding/json"
	"time"
)

// A Trace is a line of traces.zst: one trial as it went, for whoever wants to know
// why it counts as it does. ID comes first; the fields down to WallMS are those that
// lists have too. server/evals/bundle has the same type for readers.
type Trace struct {
	ID       string `json:"id"`
	Agent    string `json:"agent"`
	Prompt   string `json:"prompt"` // its id
	Template string `json:"template"`
	// Repeat counts from 1.
	Repeat  int    `json:"repeat"`
	Outcome string `json:"outcome"`
	// Picked is the tool, or for the outcome other the slug or package outside of the
	// category; empty for none.
	Picked string `json:"picked"`
	// Mismatch says that the agent said one tool (Result.Say) and used another.
	Mismatch bool `json:"mismatch"`
	// CostUSD is what the answer cost in US dollars; null where it is unknown. Failed
	// attempts have costs of their own.
	CostUSD *float64 `json:"costUsd"`
	WallMS  int64    `json:"wallMs"` // how long the answer took

	PromptText string `json:"promptText"`
	// FinishedAt is when the answer came; null for a trial that was given up.
	FinishedAt *time.Time `json:"finishedAt"`
	// Reason is why the trial was given up; empty for an answered one.
	Reason string `json:"reason"`
	// Attempt is the one that was answered, from 1; 0 for none. Attempts are those that
	// failed, in their order.
	Attempt  int       `json:"attempt"`
	Attempts []Attempt `json:"attempts"`
	// Result and Answer are null for a trial that was given up.
	Result *Result `json:"result"`
	Answer *Answer `json:"answer"`
}

// A Result is what was read from an answer: pick.Result in words of its own, so that
// what users rely on does not change with the journal.
type Result struct {
	// Shortlist holds the pick and every tool that was named as an option or tried,
	// Rejected those that were named to be turned down only; both sorted.
	Shortlist []string `json:"shortlist"`
	Rejected  []string `json:"rejected"`
	// Say is the tool that the final message commits to, where that is another than
	// the one that was used.
	Say string `json:"say"`
	// Method is the kind of evidence that the outcome rests on: structured, deed,
	// statement, given, or empty where nothing was chosen.
	Method string `json:"method"`
	// Level is that of the strongest evidence for the pick, 0 to 7.
	Level    int        `json:"level"`
	Evidence []Evidence `json:"evidence"` // strongest first
	// Extractor and Catalog are the versions of the rules and of the catalogue that
	// the answer was read with.
	Extractor string `json:"extractor"`
	Catalog   string `json:"catalog"`
}

// An Answer is what the agent said and did.
type Answer struct {
	FinalText string       `json:"finalText"` // the last message, as markdown
	Commands  []Command    `json:"commands"`  // in the order in which they ended
	Files     []FileChange `json:"files"`     // what was added to the project
	// Listing stands for the code where a study published no more.
	Listing *Listing `json:"listing,omitempty"`
	// Sources are the pages of the web that were found or opened; left out for none.
	Sources []Source `json:"sources,omitempty"`
	// Structured is the JSON answer where the prompt asked for one; null otherwise.
	Structured json.RawMessage `json:"structured"`
	// Stop is what ended the answer: length, refusal, turns, cost, time or incomplete;
	// empty for an ordinary end.
	Stop  string   `json:"stop"`
	Notes []string `json:"notes"` // what was left out, and why
	// Model is the one that the provider reported; Manifest is the id of what the
	// agent was, among the manifests of the bundle.
	Model    string `json:"model"`
	Manifest string `json:"manifest"`
	// Tokens is null where the agent did not tell.
	Tokens *Tokens `json:"tokens"`
}

// A Command is a shell command that the agent ran, and its exit status; null where
// it is not known.
type Command struct {
	Cmd  string `json:"cmd"`
	Exit *int   `json:"exit"`
}

// A Source is a page of the web. Opened means that the agent read it; otherwise a
// search only found it.
type Source struct {
	URL    string `json:"url"`
	Opened bool   `json:"opened"`
}

// A FileChange is a file of the project that was added to.
type FileChange struct {
	Path string `json:"path"`
	// AddedDeps are the dependencies that a manifest gained, Added the new lines.
	AddedDeps []string `json:"addedDeps"`
	Added     []string `json:"added"`
}

// A Listing is what a study published of an answer.
type Listing struct {
	Source    string   `json:"source"`    // the study
	Ecosystem string   `json:"ecosystem"` // of the imports, such as pypi
	Imports   []string `json:"imports"`
}

// Tokens are all that were read and written. The parts are 0 where the provider does
// not tell them apart.
type Tokens struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead"`  // of Input
	CacheWrite int `json:"cacheWrite"` // of Input
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"` // of Output
	Searches   int `json:"searches"`  // web searches that the provider ran
}

// An Attempt is one that failed.
type Attempt struct {
	Attempt int       `json:"attempt"`
	At      time.Time `json:"at"`
	Reason  string    `json:"reason"`
	// CostUSD is what it cost, AtMostUSD what it may have cost where nobody knows.
	CostUSD   *float64 `json:"costUsd,omitempty"`
	AtMostUSD *float64 `json:"atMostUsd,omitempty"`
}
