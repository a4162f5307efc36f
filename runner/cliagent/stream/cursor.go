package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
)

// Cursor is the Decoder of its stream.
func Cursor(emit func(Event)) Parser { return &cursor{recorder: newRecorder(emit)} }

// cursor parses `cursor-agent --print --output-format=stream-json`. A session may have
// several results; their tokens add up. Text in parts is followed by the whole text.
type cursor struct {
	*recorder
	result *cursorLine
}

type cursorLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Model     string `json:"model"`
	Text      string `json:"text"` // of thinking
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	CallID    string                     `json:"call_id"`
	ToolCall  map[string]json.RawMessage `json:"tool_call"`
	Attempt   count                      `json:"attempt"`
	Timestamp int64                      `json:"timestamp_ms"` // Unix milliseconds
	IsError   bool                       `json:"is_error"`
	Result    string                     `json:"result"`
	Error     string                     `json:"error"`
	Usage     *struct {
		Input      count    `json:"inputTokens"`
		Output     count    `json:"outputTokens"`
		CacheRead  count    `json:"cacheReadTokens"`
		CacheWrite count    `json:"cacheWriteTokens"`
		CostUSD    *float64 `json:"totalCost"`
	} `json:"usage"`
}

// cursorCall is the value of the key that names a call's tool.
type cursorCall struct {
	Args      json.RawMessage            `json:"args"`
	Result    map[string]json.RawMessage `json:"result"`
	Name      string                     `json:"name"`      // of "function"
	Arguments string                     `json:"arguments"` // of "function": JSON in a string
}

func (c *cursor) Line(at time.Duration, off int64, line []byte) {
	var l cursorLine
	if !c.object(at, off, line, &l) {
		return
	}
	c.clock(time.UnixMilli(l.Timestamp))
	if l.SessionID != "" {
		c.out.Session = l.SessionID
	}
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			c.out.Model = l.Model
			c.system("Cursor " + l.Model)
		}
	case "assistant":
		c.ended = false
		c.part(textOf(l.Message.Content))
	case "thinking":
		c.ended = false
		c.think(l.Text, "")
	case "tool_call":
		c.ended = false
		c.tool(&l)
	case "retry":
		c.retry(Retry{Attempt: l.Attempt.int(), Message: cmp.Or(l.Error, l.Subtype)})
	case "result":
		c.ended, c.result = true, &l
		c.account(&l)
	}
}

// account adds the tokens of a result. Its input tokens include cached ones.
func (c *cursor) account(l *cursorLine) {
	if u := l.Usage; u != nil {
		read, write := u.CacheRead.int(), u.CacheWrite.int()
		c.spend(prices.Usage{Input: max(u.Input.int()-read-write, 0), CacheRead: read, CacheWrite: write, Output: u.Output.int()}, u.CostUSD)
	}
}

// part handles a text: the next part of the message, or all parts again.
func (c *cursor) part(text string) {
	if c.message != "" && strings.TrimSpace(text) == string(bytes.TrimSpace(c.final)) {
		return
	}
	c.addText(text, "parts", "")
}

func (c *cursor) tool(l *cursorLine) {
	for _, native := range slices.Sorted(maps.Keys(l.ToolCall)) {
		var call cursorCall
		if !object(l.ToolCall[native], &call) {
			continue
		}
		t := Tool{Native: native, ID: l.CallID, Args: call.Args}
		if native == "function" {
			t.Native, t.Args = call.Name, nil
			if json.Valid([]byte(call.Arguments)) {
				t.Args = json.RawMessage(call.Arguments)
			}
		}
		switch l.Subtype {
		case "started":
			c.call(t, "")
		case "completed":
			c.completed(t, call.Result)
		}
		return
	}
}

// cursorResult is the result of a call, by the key of its status: success, failure,
// error, timeout, rejected.
type cursorResult struct {
	Exit         *count `json:"exitCode"`
	Stdout       string `json:"stdout"`
	Stderr       string `json:"stderr"`
	Output       string `json:"output"`
	Content      string `json:"content"`
	Error        string `json:"error"`
	ErrorMessage string `json:"errorMessage"`
	Message      string `json:"message"`
	Reason       string `json:"reason"`
}

func (c *cursor) completed(t Tool, result map[string]json.RawMessage) {
	ok := true
	for _, how := range slices.Sorted(maps.Keys(result)) {
		var r cursorResult
		if !object(result[how], &r) {
			continue
		}
		ok = how == "success"
		t.Declined = how == "rejected" || how == "permissionDenied"
		t.Exit = r.Exit.exit()
		t.Output = cmp.Or(r.Stdout+r.Stderr, r.Output, r.Content, r.ErrorMessage, r.Error, r.Message, r.Reason)
		if t.Output == "" && toolNamed(t.Native) != ToolShell {
			t.Output = string(result[how]) // matches, files, to-dos, ids
		}
		break
	}
	t.OK = &ok
	c.done(t, "")
}

func (c *cursor) End(exit int) Outcome {
	c.outsideLine(c.at)
	l := c.result
	switch {
	case l == nil || !c.ended:
		return c.fail(c.noResult(exit))
	case l.IsError || l.Subtype != "success":
		return c.fail(failed(0, cmp.Or(l.Result, l.Error, l.Subtype)))
	}
	// The result has all text, not only the last message; it is used if there was no
	// message.
	if len(c.final) == 0 && strings.TrimSpace(l.Result) != "" {
		c.out.Answered = true
		c.keep(l.Result)
	}
	return c.answer()
}
