package stream

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/transcript"
)

// OpenCode is the Decoder of its stream.
func OpenCode(emit func(Event)) Parser { return &opencode{recorder: newRecorder(emit)} }

// opencode parses `opencode run --format json`. There is no summary line: the answer is
// complete if the last step ended normally.
type opencode struct {
	*recorder
	reason string // of the last step's end
	fault  *Failure
}

type opencodeLine struct {
	Type      string        `json:"type"`
	Timestamp int64         `json:"timestamp"` // Unix milliseconds
	SessionID string        `json:"sessionID"`
	Part      opencodePart  `json:"part"`
	Error     opencodeError `json:"error"`
}

type opencodePart struct {
	MessageID string `json:"messageID"`
	Text      string `json:"text"`
	Tool      string `json:"tool"`
	CallID    string `json:"callID"`
	State     struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Error    string          `json:"error"`
		Metadata struct {
			Exit *count `json:"exit"`
		} `json:"metadata"`
	} `json:"state"`
	Reason string `json:"reason"`
	Tokens *struct {
		Total     count `json:"total"`
		Input     count `json:"input"`
		Output    count `json:"output"`
		Reasoning count `json:"reasoning"`
		Cache     struct {
			Read  count `json:"read"`
			Write count `json:"write"`
		} `json:"cache"`
	} `json:"tokens"`
	Cost *float64 `json:"cost"`
}

type opencodeError struct {
	Name string `json:"name"`
	Data struct {
		Message string            `json:"message"`
		Status  count             `json:"statusCode"`
		Retry   bool              `json:"isRetryable"`
		Headers map[string]string `json:"responseHeaders"`
		Body    string            `json:"responseBody"`
	} `json:"data"`
}

func (o *opencode) Line(at time.Duration, off int64, line []byte) {
	var l opencodeLine
	if !o.object(at, off, line, &l) {
		return
	}
	if l.Timestamp > 0 {
		o.clock(time.UnixMilli(l.Timestamp))
	}
	var by string
	if o.out.Session == "" {
		o.out.Session = l.SessionID
	} else if l.SessionID != o.out.Session {
		by = l.SessionID // a session of a sub-agent
	}
	switch l.Type {
	case "step_start":
		if by == "" {
			o.ended, o.reason, o.fault = false, "", nil
			o.out.Turns++
		}
	case "text":
		o.addText(l.Part.Text, l.Part.MessageID, by)
	case "reasoning":
		o.think(l.Part.Text, by)
	case "tool_use":
		o.tool(&l.Part, by)
	case "step_finish":
		o.step(&l.Part, by)
	case "error":
		o.failed(&l.Error)
	}
}

func (o *opencode) tool(p *opencodePart, by string) {
	o.call(Tool{Native: p.Tool, ID: p.CallID, Args: p.State.Input}, by)
	if p.State.Status != "completed" && p.State.Status != "error" {
		return
	}
	ok := p.State.Status == "completed"
	t := Tool{Native: p.Tool, ID: p.CallID, Args: p.State.Input, OK: &ok, Exit: p.State.Metadata.Exit.exit(), Output: p.State.Output}
	if !ok {
		t.Output = p.State.Error
	}
	o.done(t, by)
}

func (o *opencode) step(p *opencodePart, by string) {
	if by == "" {
		o.reason = p.Reason
		o.ended = p.Reason == "stop"
	}
	t := p.Tokens
	if t == nil {
		return
	}
	u := prices.Usage{
		Input: t.Input.int(), CacheRead: t.Cache.Read.int(), CacheWrite: t.Cache.Write.int(),
		Output: t.Output.int(), Reasoning: t.Reasoning.int(),
	}
	// Reasoning is counted separately from output, unless the total says otherwise.
	if t.Total.int() == 0 || t.Total.int() != u.In()+u.Output {
		u.Output += u.Reasoning
	}
	o.spend(u, p.Cost)
}

func (o *opencode) failed(e *opencodeError) {
	message := strings.Trim(e.Name+": "+e.Data.Message, ": ")
	if e.Name == "MessageOutputLengthError" {
		o.reason = "length"
		o.event(Event{Kind: KindError, Text: message})
		return
	}
	status := e.Data.Status.int()
	o.wrong(status, message)
	// The body often has the code that the message only paraphrases.
	o.fault = failed(status, message+" "+e.Data.Body)
	o.fault.Message = inert.Truncate(message, maxMessage)
	if e.Name == "ProviderAuthError" {
		o.fault.Reason, o.fault.Retry, o.fault.Lane = agent.ReasonAuth, false, true
	}
	for name, value := range e.Data.Headers {
		if s, err := strconv.Atoi(value); err == nil && s > 0 && s < 1e7 && strings.EqualFold(name, "retry-after") {
			o.fault.After = time.Duration(s) * time.Second
		}
	}
}

func (o *opencode) End(exit int) Outcome {
	o.outsideLine(o.at)
	switch {
	case o.fault != nil:
		return o.fail(o.fault)
	case o.reason == "stop" && (exit == 0 || exit < 0):
		return o.answer()
	case o.reason == "length":
		o.out.Stop = transcript.StopLength
		return o.answer()
	case o.reason == "content-filter":
		o.out.Stop = transcript.StopRefusal
		return o.answer()
	}
	return o.fail(o.noResult(exit))
}
