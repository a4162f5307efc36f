package stream

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
)

// CodexSession is the Decoder of ~/.codex/sessions/**/rollout-*.jsonl.
func CodexSession(emit func(Event)) Parser {
	s := newSession(emit)
	return &codexSession{session: s, codex: &codex{recorder: s.recorder}}
}

// codexSession reads the items of the model's protocol. Files of 2025 have them without
// an envelope.
type codexSession struct {
	session
	codex *codex
}

type codexSessionLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

type codexPayload struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Version   string          `json:"cli_version"`
	Model     string          `json:"model"`
	Message   json.RawMessage `json:"message"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Name      string          `json:"name"`
	CallID    string          `json:"call_id"`
	Arguments string          `json:"arguments"` // JSON
	Input     string          `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Status    string          `json:"status"`
}

func (c *codexSession) Line(at time.Duration, off int64, line []byte) {
	var l codexSessionLine
	var p codexPayload
	if !c.object(at, off, line, &l) {
		return
	}
	c.clock(timeOf(l.Timestamp))
	if len(l.Payload) == 0 {
		l.Type, l.Payload = "response_item", line
	}
	if !object(l.Payload, &p) {
		return
	}
	switch l.Type {
	case "session_meta":
		if c.out.Session == "" {
			c.out.Session, c.out.Version = p.ID, p.Version
		}
	case "turn_context":
		c.out.Model = cmp.Or(p.Model, c.out.Model)
	case "event_msg":
		switch p.Type {
		case "user_message":
			c.prompt(typed(textOf(p.Message)))
		case "turn_aborted":
			c.interrupted()
		case "error":
			message := textOf(p.Message)
			c.wrong(statusIn(message), message)
		}
	case "response_item":
		c.item(&p)
	}
}

func (c *codexSession) item(p *codexPayload) {
	switch p.Type {
	case "", "message":
		text := textOf(p.Content)
		switch p.Role {
		case "assistant":
			c.out.Stop = ""
			c.addText(text, "", "")
		case "user":
			c.prompt(typed(text))
		default:
			if p.Type == "" && c.out.Session == "" {
				c.out.Session = p.ID // the first line of files without envelopes
			}
		}
	case "function_call":
		t := Tool{Native: p.Name, ID: p.CallID}
		if json.Valid([]byte(p.Arguments)) {
			t.Args = json.RawMessage(p.Arguments)
		}
		t.Name = codexTool(p.Name)
		c.call(t, "")
	case "custom_tool_call":
		args, _ := json.Marshal(map[string]string{"patch": p.Input}) // a map of strings always encodes
		c.call(Tool{Native: p.Name, ID: p.CallID, Args: args}, "")
	case "local_shell_call":
		c.call(Tool{Name: ToolShell, Native: p.Type, ID: p.CallID, Args: p.Action}, "")
	case "web_search_call":
		c.codex.web(&codexItem{Type: "web_search", Action: p.Action})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		c.done(codexResult(p), "")
	}
}

// codexTool names the tools that only sessions show; describe names the others.
func codexTool(native string) string {
	switch native {
	case "shell_command", "local_shell", "container.exec":
		return ToolShell
	}
	return ""
}

// codexResult reads the output of a call: a text, or an object with the text and the exit
// status, as JSON or as a text with JSON in it.
func codexResult(p *codexPayload) Tool {
	var o struct {
		Output   json.RawMessage `json:"output"`
		Content  json.RawMessage `json:"content"`
		Success  *bool           `json:"success"`
		Metadata struct {
			Exit *count `json:"exit_code"`
		} `json:"metadata"`
	}
	t := Tool{ID: p.CallID, Output: textOf(p.Output)}
	if object(p.Output, &o) || object([]byte(t.Output), &o) {
		t.Exit, t.OK = o.Metadata.Exit.exit(), o.Success
		t.Output = cmp.Or(textOf(o.Output), textOf(o.Content), t.Output)
	}
	head := inert.Truncate(t.Output, maxMessage)
	if before, _, ok := strings.Cut(head, "\nOutput:"); ok {
		head = before
	}
	if m := sessionExit.FindStringSubmatch(head); m != nil && t.Exit == nil {
		exit, _ := strconv.Atoi(m[1])
		t.Exit = &exit
	}
	switch {
	case t.OK != nil:
	case t.Exit != nil:
		t.OK = new(*t.Exit == 0)
	case strings.HasPrefix(t.Output, "Success."):
		t.OK = new(true)
	case strings.Contains(head, "verification failed"), strings.HasPrefix(head, "failed "), strings.HasPrefix(head, "patch rejected"),
		strings.HasPrefix(head, "aborted"), strings.HasPrefix(head, "exec command rejected"):
		t.OK = new(false)
		t.Declined = strings.Contains(head, "rejected") || strings.HasPrefix(head, "aborted")
	}
	return t
}
