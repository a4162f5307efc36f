// Package stream parses the output of the CLIs of coding agents into one form: events as
// they happen, and an outcome at the end.
//
// A parser never fails. It ignores unknown lines, because every release of a CLI adds
// some; required lines decide whether there is an answer. Callers redact the bytes
// first.
package stream

import (
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Size limits, in bytes.
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

// A Parser reads one program's output. It is not safe for concurrent use: callers
// that read stdout and stderr in two goroutines must lock.
type Parser interface {
	// Line parses one line of standard output without its newline; off is its offset.
	// The line may be reused after the call.
	Line(at time.Duration, off int64, line []byte)
	// Stderr parses one line of standard error.
	Stderr(at time.Duration, line []byte)
	// File parses the program's report file before End: Copilot's --usage-output-file,
	// aider's --analytics-log. Other formats ignore it.
	File(text []byte)
	// Ended reports whether the program has written its result and should exit. It may
	// become false again if a CLI continues after a result.
	Ended() bool
	// End is called once, when the program has ended with this exit status, or -1
	// if it was killed.
	End(exit int) Outcome
}

// An Outcome is the result of a whole stream.
type Outcome struct {
	// Final is the last message, as markdown.
	Final string          `json:"final,omitempty"`
	Stop  transcript.Stop `json:"stop,omitempty"`
	// Commands are the finished shell commands in the order of their end, including those
	// of sub-agents, without declined ones.
	Commands []transcript.Command `json:"commands,omitempty"`
	// Sources are the pages of the web that were found or opened.
	Sources []transcript.Source `json:"sources,omitempty"`
	// Usage is nil if the stream has none.
	Usage *prices.Usage `json:"usage,omitempty"`
	// CostUSD is the cost as the CLI reports it, mostly from its own price table; nil if
	// it reports none.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// Model is the model as provider or CLI report it; empty if the stream has none.
	Model   string `json:"model,omitempty"`
	Version string `json:"version,omitempty"` // of the CLI
	Session string `json:"session,omitempty"`
	// Turns are the agent's turns as its CLI counts them; 0 if it does not.
	Turns int `json:"turns,omitempty"`
	// Answered means that the model wrote text or called a tool. Then its agent may have
	// caused a crash of the program.
	Answered bool `json:"answered"`
	// Fail is nil if there is an answer, even one that a limit truncated.
	Fail *Failure `json:"fail,omitempty"`
	// Notes list omissions because of size limits.
	Notes []string `json:"notes,omitempty"`
}

// A Failure is the reason for a missing answer.
type Failure struct {
	// Reason is one of the reasons of package agent.
	Reason string `json:"reason"`
	// Retry means that another attempt may succeed, Lane that every further attempt of
	// the same agent would fail alike.
	Retry bool `json:"retry"`
	Lane  bool `json:"lane"`
	// After is the minimum wait, 0 if unknown; Until the same as a point in time.
	After time.Duration `json:"after_ns,omitempty"`
	Until time.Time     `json:"until,omitzero"`
	// Status is the provider's HTTP status; 0 if unknown.
	Status  int    `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
}

// A Decoder returns a new parser of one program's stream. The events go to emit, in order,
// from within Line, Stderr, File and End.
type Decoder func(emit func(Event)) Parser
