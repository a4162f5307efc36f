package stream

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxSession limits the messages of a session that must be in memory at once, in bytes.
const MaxSession = 64 << 20

// GeminiSession is the Decoder of ~/.gemini/tmp/*/chats/session-*: one JSON object, given
// as one line, or lines that add, replace and take back messages.
func GeminiSession(emit func(Event)) Parser {
	return &geminiSession{session: newSession(emit), messages: map[string]json.RawMessage{}}
}

type geminiSession struct {
	session
	order    []string // ids of messages
	messages map[string]json.RawMessage
	size     int
}

type geminiChatLine struct {
	Session  string            `json:"sessionId"`
	Messages []json.RawMessage `json:"messages"`
	ID       string            `json:"id"`
	Rewind   string            `json:"$rewindTo"`
	Set      struct {
		Messages []json.RawMessage `json:"messages"`
	} `json:"$set"`
}

type geminiMessage struct {
	ID        string          `json:"id"`
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Model     string          `json:"model"`
	Content   json.RawMessage `json:"content"`
	Calls     []struct {
		ID      string          `json:"id"`
		Name    string          `json:"name"`
		Args    json.RawMessage `json:"args"`
		Status  string          `json:"status"`
		Result  json.RawMessage `json:"result"`
		Display json.RawMessage `json:"resultDisplay"`
	} `json:"toolCalls"`
}

func (g *geminiSession) Line(at time.Duration, off int64, line []byte) {
	var l geminiChatLine
	if !g.object(at, off, line, &l) {
		return
	}
	if l.Session != "" {
		g.out.Session = l.Session
	}
	switch {
	case l.Rewind != "":
		// The message itself is taken back too. An unknown one takes back all of them.
		from := max(slices.Index(g.order, l.Rewind), 0)
		for _, id := range g.order[from:] {
			g.size -= len(g.messages[id])
			delete(g.messages, id)
		}
		g.order = g.order[:from]
	case l.ID != "":
		g.put(l.ID, line)
	}
	// A list replaces what the model sees, for example by a summary. What happened before
	// stays.
	for _, m := range slices.Concat(l.Messages, l.Set.Messages) {
		var head geminiMessage
		if object(m, &head) {
			if head.ID == "" {
				head.ID = "message " + strconv.Itoa(len(g.order))
			}
			g.put(head.ID, m)
		}
	}
}

func (g *geminiSession) put(id string, message []byte) {
	old, known := g.messages[id]
	if g.size += len(message) - len(old); g.size > MaxSession {
		g.size -= len(message) - len(old)
		g.note(fmt.Sprintf("messages of the session above %d MiB were left out", MaxSession>>20))
		return
	}
	if !known {
		g.order = append(g.order, id)
	}
	g.messages[id] = bytes.Clone(message)
}

// End replays the messages in their order.
func (g *geminiSession) End(exit int) Outcome {
	for _, id := range g.order {
		var m geminiMessage
		if object(g.messages[id], &m) {
			g.clock(timeOf(m.Timestamp))
			g.message(&m)
		}
	}
	return g.session.End(exit)
}

func (g *geminiSession) message(m *geminiMessage) {
	switch m.Type {
	case "user":
		g.prompt(typed(geminiText(m.Content)))
	case "error":
		g.wrong(statusIn(geminiText(m.Content)), geminiText(m.Content))
	case "gemini":
		if m.Model != "" {
			g.out.Model = m.Model
		}
		g.addText(geminiText(m.Content), "", "")
		for i, call := range m.Calls {
			call.ID = cmp.Or(call.ID, m.ID+" "+strconv.Itoa(i))
			g.call(Tool{Native: call.Name, ID: call.ID, Args: call.Args}, "")
			t := Tool{ID: call.ID, Output: geminiOutput(call.Result, call.Display), Declined: call.Status == "cancelled"}
			if call.Status == "success" || call.Status == "error" {
				t.OK = new(call.Status == "success")
			}
			if found := geminiExit.FindStringSubmatch(strings.TrimSpace(t.Output)); found != nil && g.calls[t.ID].Name == ToolShell {
				status, _ := strconv.Atoi(found[1])
				t.Exit = &status
			}
			if t.Declined {
				t.OK = new(false)
			}
			g.done(t, "")
		}
	}
}

// geminiText is the text of a content: a string, a part or a list of parts.
func geminiText(content json.RawMessage) string {
	var part struct {
		Text string `json:"text"`
	}
	if object(content, &part) {
		return part.Text
	}
	return textOf(content)
}

// geminiOutput is the text of a call's result.
func geminiOutput(result, display json.RawMessage) string {
	var parts []struct {
		Function struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	}
	if json.Unmarshal(result, &parts) == nil {
		for _, p := range parts {
			if text := p.Function.Response.Error + p.Function.Response.Output; text != "" {
				return text
			}
		}
	}
	return textOf(display)
}
