package stream

import (
	"encoding/json"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/limiter"
)

// A Kind is the type of an event.
type Kind string

// The kinds of event.
const (
	KindPrompt     Kind = "prompt"      // text of the user, in recorded sessions
	KindText       Kind = "text"        // text of the agent
	KindReasoning  Kind = "reasoning"   // reasoning that the CLI shows
	KindToolCall   Kind = "tool_call"   // a tool was called
	KindToolResult Kind = "tool_result" // result of a tool call
	KindFileChange Kind = "file_change" // a file was written, changed or deleted
	KindWeb        Kind = "web"         // the call of a tool that searches or reads the web
	KindRetry      Kind = "retry"       // the CLI asks its provider again
	KindUsage      Kind = "usage"       // tokens, and cost if reported
	KindError      Kind = "error"       // something failed; not always fatal
	KindFinal      Kind = "final"       // the last message, once the program has ended
	KindSystem     Kind = "system"      // other messages: the start, a warning
)

// An Event is one step of an agent, in one form for all CLIs.
type Event struct {
	// Seq counts from 1.
	Seq int
	// At is the time since the start: by the stream's clock if it has one, otherwise
	// when the line arrived. JSON has it in milliseconds, as at_ms.
	At   time.Duration
	Kind Kind
	// Text is the text of the agent, or an error message.
	Text string
	// Tool is set for calls, results, file changes and web.
	Tool    *Tool
	Usage   *prices.Usage
	CostUSD *float64
	Retry   *Retry
	// Agent is the id of the sub-agent that did it; empty for the agent itself.
	Agent string
	// RawOff and RawLen are the location of the line in the raw stream, in bytes.
	// RawLen is 0 for an event without a line of standard output.
	RawOff, RawLen int64
}

// eventJSON is an Event as JSON has it.
type eventJSON struct {
	Seq     int           `json:"seq"`
	AtMS    int64         `json:"at_ms"`
	Kind    Kind          `json:"kind"`
	Text    string        `json:"text,omitempty"`
	Tool    *Tool         `json:"tool,omitempty"`
	Usage   *prices.Usage `json:"usage,omitempty"`
	CostUSD *float64      `json:"cost_usd,omitempty"`
	Retry   *Retry        `json:"retry,omitempty"`
	Agent   string        `json:"agent,omitempty"`
	RawOff  int64         `json:"raw_off,omitempty"`
	RawLen  int64         `json:"raw_len,omitempty"`
}

// MarshalJSON writes the times in milliseconds.
func (e Event) MarshalJSON() ([]byte, error) {
	return json.Marshal(eventJSON{
		e.Seq, e.At.Milliseconds(), e.Kind, e.Text, e.Tool, e.Usage, e.CostUSD, e.Retry, e.Agent, e.RawOff, e.RawLen,
	})
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*e = Event{
		j.Seq, time.Duration(j.AtMS) * time.Millisecond, j.Kind, j.Text, j.Tool, j.Usage, j.CostUSD, j.Retry, j.Agent, j.RawOff, j.RawLen,
	}
	return nil
}

// The tools, under one name for all CLIs.
const (
	ToolShell     = "shell"
	ToolWrite     = "write"
	ToolEdit      = "edit"
	ToolRead      = "read"
	ToolSearch    = "search" // of the workspace: grep, glob, list
	ToolWebSearch = "web_search"
	ToolWebFetch  = "web_fetch"
	ToolTask      = "task" // a sub-agent
	ToolMCP       = "mcp"
	ToolOther     = "other"
)

// A Tool is a tool call or its result. A result repeats name,
// command and path of its call.
type Tool struct {
	// Name is one of the Tool constants; Native is the CLI's name.
	Name   string `json:"name"`
	Native string `json:"native,omitempty"`
	ID     string `json:"id,omitempty"`
	// Args are the raw arguments; nil above MaxOutput bytes.
	Args json.RawMessage `json:"args,omitempty"`
	// Command is the shell command without a wrapping `bash -lc`.
	Command string `json:"command,omitempty"`
	Path    string `json:"path,omitempty"`
	// Queries are the queries of a web search. Sources are the URLs that it found, or
	// the page that was read.
	Queries []string `json:"queries,omitempty"`
	Sources []string `json:"sources,omitempty"`
	// Exit is a shell command's status and OK whether the tool succeeded; nil where
	// the stream does not have it.
	Exit *int  `json:"exit,omitempty"`
	OK   *bool `json:"ok,omitempty"`
	// Declined means that the call was refused or cancelled and never ran.
	Declined bool `json:"declined,omitempty"`
	// Output is cut at MaxOutput bytes; the raw stream has it whole.
	Output string `json:"output,omitempty"`
}

// A Retry is a sign that the provider refused, and that the CLI retries or waits.
type Retry struct {
	// Attempt counts from 1; 0 if unknown.
	Attempt int `json:"attempt,omitempty"`
	// Status is the HTTP status; 0 if unknown.
	Status int `json:"status,omitempty"`
	// AfterMS is how long the CLI waits, in milliseconds; 0 if unknown.
	AfterMS int64 `json:"after_ms,omitempty"`
	// Until is when the provider's limit ends, where it was given as a time of day.
	Until time.Time `json:"until,omitzero"`
	// Message is the CLI's message.
	Message string `json:"message,omitempty"`
}

// Signal converts the retry for a limiter. Now is needed only for Until.
func (r *Retry) Signal(now time.Time) limiter.Signal {
	s := limiter.Signal{After: time.Duration(r.AfterMS) * time.Millisecond}
	if !r.Until.IsZero() {
		s.After = max(s.After, r.Until.Sub(now))
	}
	switch {
	case r.Status == 429:
		s.Verdict = limiter.Limited
	case r.Status >= 500:
		s.Verdict = limiter.Overloaded
	}
	return s
}
