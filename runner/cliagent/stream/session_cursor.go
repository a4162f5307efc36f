package stream

import (
	"encoding/json"
	"strconv"
	"time"
)

// CursorSession is the Decoder of ~/.cursor/projects/*/agent-transcripts/*/*.jsonl.
func CursorSession(emit func(Event)) Parser { return &cursorSession{session: newSession(emit)} }

// cursorSession reads messages without times and models. Most have no results of tools:
// then it is unknown whether a call succeeded.
type cursorSession struct {
	session
	number int // of the last call
}

type cursorMessage struct {
	Role    string `json:"role"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

func (c *cursorSession) Line(at time.Duration, off int64, line []byte) {
	var l cursorMessage
	if !c.object(at, off, line, &l) {
		return
	}
	for _, b := range blocksOf(l.Message.Content) {
		switch {
		case b.Type == "text" && l.Role == "user":
			c.prompt(typed(b.Text))
		case b.Type == "text" && l.Role == "assistant":
			c.addText(b.Text, "", "")
		case b.Type == "tool_use":
			t := Tool{Native: b.Name, ID: b.ID, Args: b.Input}
			if t.ID == "" {
				c.number++
				t.ID = "call " + strconv.Itoa(c.number)
			}
			c.call(t, "")
			if b.ID == "" {
				c.done(Tool{ID: t.ID}, "")
			}
		case b.Type == "tool_result" && b.ToolUseID != "":
			c.done(Tool{ID: b.ToolUseID, OK: new(!b.IsError), Output: textOf(b.Content)}, "")
		}
	}
}

// End records the calls whose result is missing.
func (c *cursorSession) End(exit int) Outcome {
	c.unfinished()
	return c.session.End(exit)
}
