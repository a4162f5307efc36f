// Package stream reads what the CLIs of coding agents write while they work and
// brings it into one form: events as they happen, and an outcome at the end.
//
// A parser never fails. What it does not know it passes over, for every release
// of a CLI adds lines; whether there is an answer is decided by what must be there.
// Nothing is redacted here: the caller does that to the raw bytes before it calls.
package stream

import (
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// What is kept at most, in bytes.
const (
	MaxLine     = 16 << 20 // of one line; see Lines
	MaxOutput   = 64 << 10 // of a tool's output, in an event
	MaxFinal    = 2 << 20  // of Outcome.Final
	MaxCommands = 2 << 20  // of all Outcome.Commands
	maxMessage  = 4 << 10  // of a failure's message
	maxQueries  = 50       // of one web search
	maxSources  = 1000     // of Outcome.Sources
	maxURL      = 2 << 10  // of one of them; longer ones are left out
	maxID       = 128      // of a call's id, where it is only compared
)

// A Parser reads one program's output. It is not safe for concurrent use: whoever
// reads stdout and stderr in two goroutines must put a lock around it.
type Parser interface {
	// Line takes one line of standard output without its newline; off is where it
	// begins. The line may be reused after the call.
	Line(at time.Duration, off int64, line []byte)
	// Stderr takes one line of standard error.
	Stderr(at time.Duration, line []byte)
	// File takes what the program wrote to a file beside its stream, before End:
	// Copilot's --usage-output-file, aider's --analytics-log. Other formats have none
	// and pass it over.
	File(text []byte)
	// Ended reports that the program has told its result and should end now. It may
	// become false again where a CLI goes on after a result.
	Ended() bool
	// End is called once, when the program has ended with this exit status, or -1
	// where it was killed.
	End(exit int) Outcome
}

// An Outcome is what a whole stream comes to.
type Outcome struct {
	// Final is the last message, as markdown.
	Final string          `json:"final,omitempty"`
	Stop  transcript.Stop `json:"stop,omitempty"`
	// Commands are the shell commands in the order they ended, sub-agents' included.
	// A command that had not ended, or was declined, is not among them.
	Commands []transcript.Command `json:"commands,omitempty"`
	// Sources are the pages of the web that were found or opened.
	Sources []transcript.Source `json:"sources,omitempty"`
	// Usage is nil where the stream tells none.
	Usage *prices.Usage `json:"usage,omitempty"`
	// CostUSD is as the CLI tells it, mostly from a table of its own; nil otherwise.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Model is as the provider or the CLI reports it; empty where the stream has none.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"` // of the CLI
	Session string `json:"session,omitempty"`
	// Turns are the agent's turns as its CLI counts them; 0 where it does not.
	Turns int `json:"turns,omitempty"`
	// Answered means that the model said or did something. Where it is set, a
	// program that crashed may well have been crashed by its agent.
	Answered bool `json:"answered"`
	// Fail is nil where there is an answer, be it one that a limit cut off.
	Fail *Failure `json:"fail,omitempty"`
	// Notes tell what was left out for its size.
	Notes []string `json:"notes,omitempty"`
}

// A Failure says why there is no answer.
type Failure struct {
	// Reason is one of the reasons of package agent.
	Reason string `json:"reason"`
	// Retry means that another attempt may succeed, Lane that every further
	// question to the same agent would fail alike.
	Retry bool `json:"retry"`
	Lane  bool `json:"lane"`
	// After is the least time to wait, 0 where nobody said; Until the same as a time
	// of day.
	After time.Duration `json:"after_ns,omitempty"`
	Until time.Time     `json:"until,omitzero"`
	// Status is the provider's HTTP status; 0 where it is not known.
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// A Decoder returns a new parser of one program's stream. The events go to emit, in order,
// from within Line, Stderr, File and End.
type Decoder func(emit func(Event)) Parser
