// Package transcript defines the statements and actions of an agent in one trial: the
// final message, its commands and its changes of the workspace. Agents produce it, the
// journal stores it, the pick extractor reads it, and `firstpick import` reads the same
// JSON.
package transcript

import "encoding/json"

// A Stop is why an agent stopped, if that decides the outcome.
type Stop string

// The stops that make a trial something other than an ordinary answer.
const (
	// StopEnd is an ordinary end; it is the zero value.
	StopEnd Stop = ""
	// StopLength means that a length limit cut the answer off.
	StopLength Stop = "length"
	// StopRefusal means that the provider or the CLI reported a refusal.
	StopRefusal Stop = "refusal"
	// StopTurns, StopCost and StopTime mean that the agent was at work when its
	// limit of turns, money or time was reached.
	StopTurns Stop = "turns"
	StopCost  Stop = "cost"
	StopTime  Stop = "time"
	// StopIncomplete means that the agent's program ended before its result: it was
	// killed or crashed after the agent had changed something.
	StopIncomplete Stop = "incomplete"
	// StopLimit means that it used more memory, disk or processes than it may.
	StopLimit Stop = "limit"
)

// Cut reports whether the answer was cut off, by a limit or a crash.
func (s Stop) Cut() bool {
	return s == StopLength || s == StopTurns || s == StopCost || s == StopTime || s == StopLimit || s == StopIncomplete
}

// A Listing is the published part of an answer without a published text.
type Listing struct {
	// Source is the study's name.
	Source string `json:"source"`
	// Ecosystem is that of Imports, as the catalogue names it, such as pypi.
	Ecosystem string `json:"ecosystem"`
	// Imports are the libraries that the answer imported, in no known order.
	Imports []string `json:"imports"`
	// Record is the place of the answer in the published files; nil if unknown.
	Record *Record `json:"record,omitempty"`
}

// A Record is where and how a study published an answer. Empty fields are unknown.
type Record struct {
	// URL is the address of the line; File is its path in the published repository at Commit.
	URL    string `json:"url"`
	Commit string `json:"commit"`
	File   string `json:"file"`
	SHA256 string `json:"sha256"` // of the file, in hexadecimal
	Line   int    `json:"line"`   // from 1
	// Text is the line itself. It counts Answers equal answers, of the Of answers of the
	// model to the prompt.
	Text    string `json:"text"`
	Answers int    `json:"answers"`
	Of      int    `json:"of"`
	// Citation is how to cite the study.
	Citation string `json:"citation"`
	// API, Temperature and System, the system prompt, are how the model was asked.
	API         string `json:"api"`
	Temperature string `json:"temperature"`
	System      string `json:"system"`
}

// Map returns a copy with all texts changed by a function; nil for nil.
func (r *Record) Map(change func(string) string) *Record {
	if r == nil {
		return nil
	}
	out := *r
	for _, s := range []*string{&out.URL, &out.Commit, &out.File, &out.SHA256, &out.Text, &out.Citation, &out.API, &out.Temperature, &out.System} {
		*s = change(*s)
	}
	return &out
}

// A Transcript is one answer. Every field may be empty.
type Transcript struct {
	// FinalText is the agent's last message, as markdown.
	FinalText string `json:"final_text,omitempty"`
	// Commands are the shell commands in the order of their end.
	Commands []Command `json:"commands,omitempty"`
	// Sources are the web pages that the agent's searches found or that it opened, each
	// once, in order.
	Sources []Source `json:"sources,omitempty"`
	// Installed are the manifests of the project before the agent began, with the
	// dependencies in them.
	Installed []Manifest `json:"installed,omitempty"`
	// Diff is the final workspace less the template: additions only.
	Diff []FileChange `json:"workspace_diff,omitempty"`
	// Listing replaces the code of an answer if the study published only imports.
	Listing *Listing `json:"listing,omitempty"`
	// Structured is the JSON answer if the prompt asked for one.
	Structured json.RawMessage `json:"structured,omitempty"`
	// Stop is why the agent stopped.
	Stop Stop `json:"stop,omitempty"`
}

// A Command is one shell command that ran.
type Command struct {
	Cmd string `json:"cmd"`
	// Exit is the exit status; nil if unknown.
	Exit *int `json:"exit,omitempty"`
}

// Worked reports whether the command is known to have ended with status 0.
func (c Command) Worked() bool { return c.Exit != nil && *c.Exit == 0 }

// A Source is one page of the web.
type Source struct {
	URL string `json:"url"`
	// Opened means that the agent read the page; otherwise a search only found it.
	Opened bool `json:"opened,omitempty"`
}

// A Manifest is a file of the project that names packages.
type Manifest struct {
	// Path is relative to the workspace, with slashes.
	Path string `json:"path"`
	// Deps are its dependencies: "stripe@^17.0.0", "passlib".
	Deps []string `json:"deps"`
}

// A FileChange is one file of the workspace that was added to.
type FileChange struct {
	// Path is relative to the workspace, with slashes.
	Path string `json:"path"`
	// AddedDeps are dependencies that the file, a manifest, names now and did
	// not name in the template: "stripe@^17.0.0", "passlib".
	AddedDeps []string `json:"added_deps,omitempty"`
	// Added are the added lines without their newline.
	Added []string `json:"added,omitempty"`
}
