package bundle

import (
	"encoding/json"
	"time"
)

// A Trace is one trial as it went: what Bundle.Trace and Bundle.FullPage return, for
// those who want to look into it. publish/bundle tells more of its fields.
type Trace struct {
	Entry
	PromptText string     `json:"promptText"`
	FinishedAt *time.Time `json:"finishedAt"` // null for a trial that was given up
	Reason     string     `json:"reason"`     // why it was given up
	Attempt    int        `json:"attempt"`    // the one that was answered, from 1; 0 for none
	Attempts   []Attempt  `json:"attempts"`   // those that failed
	Result     *Result    `json:"result"`     // null for a trial that was given up
	Answer     *Answer    `json:"answer"`     // null for a trial that was given up
}

// An Attempt is one that failed.
type Attempt struct {
	Attempt   int       `json:"attempt"`
	At        time.Time `json:"at"`
	Reason    string    `json:"reason"`
	CostUSD   *float64  `json:"costUsd,omitempty"`
	AtMostUSD *float64  `json:"atMostUsd,omitempty"` // what it may have cost where nobody knows
}

// A Result is what was read from an answer.
type Result struct {
	Shortlist []string   `json:"shortlist"`
	Rejected  []string   `json:"rejected"`
	Say       string     `json:"say"`    // the tool that was said, where another was used
	Method    string     `json:"method"` // structured, deed, statement, given, or empty
	Level     int        `json:"level"`  // of the strongest evidence, 0 to 7
	Evidence  []Evidence `json:"evidence"`
	Extractor string     `json:"extractor"`
	Catalog   string     `json:"catalog"`
}

// Evidence is one reason for an outcome, and where it stands in the answer.
type Evidence struct {
	Tool  string `json:"tool"`
	Level int    `json:"level"`
	Kind  string `json:"kind"`
	In    string `json:"in"`    // finalText, commands, files, listing, structured, or empty
	Index int    `json:"index"` // in commands, files or the imports of the listing
	Path  string `json:"path"`
	Line  int    `json:"line"`  // among the added lines of the file, from 1; 0 for none
	Quote string `json:"quote"` // stands there as it is
}

// An Answer is what the agent said and did.
type Answer struct {
	FinalText  string          `json:"finalText"`
	Commands   []Command       `json:"commands"`
	Files      []FileChange    `json:"files"`
	Listing    *Listing        `json:"listing,omitempty"` // stands for the code where a study published no more
	Sources    []Source        `json:"sources,omitempty"`
	Structured json.RawMessage `json:"structured"`
	Stop       string          `json:"stop"`
	Notes      []string        `json:"notes"`
	Model      string          `json:"model"`
	Manifest   string          `json:"manifest"` // the id of an AgentManifest
	Tokens     *Tokens         `json:"tokens"`
}

// A Listing is what a study published of an answer.
type Listing struct {
	Source    string   `json:"source"`
	Ecosystem string   `json:"ecosystem"`
	Imports   []string `json:"imports"`
}

// A Command is a shell command that the agent ran.
type Command struct {
	Cmd  string `json:"cmd"`
	Exit *int   `json:"exit"` // null where it is not known
}

// A Source is a page of the web that was opened, or that a search only found.
type Source struct {
	URL    string `json:"url"`
	Opened bool   `json:"opened"`
}

// A FileChange is a file of the project that was added to.
type FileChange struct {
	Path      string   `json:"path"`
	AddedDeps []string `json:"addedDeps"`
	Added     []string `json:"added"`
}

// Tokens are all that were read and written, with parts of them.
type Tokens struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cacheRead"`
	CacheWrite int `json:"cacheWrite"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"`
	Searches   int `json:"searches"`
}
