package stream

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Goose is the Decoder of its stream.
func Goose(emit func(Event)) Parser { return &goose{recorder: newRecorder(emit)} }

// goose parses `goose run --output-format stream-json`. Messages come in chunks that
// share an id. A provider's error is also sent as an agent message, followed by a
// regular end.
type goose struct {
	*recorder
	completed bool
	fault     *Failure
}

type gooseLine struct {
	Type    string `json:"type"`
	Message struct {
		ID      string            `json:"id"`
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
	} `json:"message"`
	Error      string   `json:"error"`
	Input      *count   `json:"input_tokens"`
	Output     *count   `json:"output_tokens"`
	CacheRead  count    `json:"cache_read_input_tokens"`
	CacheWrite count    `json:"cache_write_input_tokens"`
	CostUSD    *float64 `json:"cost_usd"`
}

type gooseBlock struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	ID       string `json:"id"`
	ToolCall struct {
		Status string `json:"status"`
		Value  struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"value"`
	} `json:"toolCall"`
	ToolResult struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Value  struct {
			Content    json.RawMessage `json:"content"`
			IsError    bool            `json:"isError"`
			Structured struct {
				Exit *count `json:"exit_code"`
			} `json:"structuredContent"`
		} `json:"value"`
	} `json:"toolResult"`
	NotificationType string `json:"notificationType"`
	Msg              string `json:"msg"`
}

func (g *goose) Line(at time.Duration, off int64, line []byte) {
	var l gooseLine
	if !g.object(at, off, line, &l) {
		return
	}
	switch l.Type {
	case "message":
		g.ended, g.completed = false, false
		for _, raw := range l.Message.Content {
			var b gooseBlock
			if object(raw, &b) {
				g.block(&b, l.Message.ID, l.Message.Role)
			}
		}
	case "error":
		g.broke(l.Error)
	case "complete":
		g.ended, g.completed = true, true
		if l.Input != nil && l.Output != nil {
			// Input tokens include cached ones.
			read, write := l.CacheRead.int(), l.CacheWrite.int()
			g.spend(prices.Usage{
				Input: max(l.Input.int()-read-write, 0), CacheRead: read, CacheWrite: write, Output: l.Output.int(),
			}, l.CostUSD)
		}
	}
}

func (g *goose) block(b *gooseBlock, id, role string) {
	switch b.Type {
	case "text":
		if role == "assistant" {
			g.text(b.Text, id)
		}
	case "thinking", "reasoning":
		g.fault = nil
		g.think(cmp.Or(b.Thinking, b.Text), "")
	case "toolRequest":
		g.fault = nil
		g.call(Tool{Native: b.ToolCall.Value.Name, ID: b.ID, Args: b.ToolCall.Value.Arguments}, "")
	case "toolResponse":
		v := b.ToolResult.Value
		ok := !v.IsError && b.ToolResult.Status != "error"
		t := Tool{ID: b.ID, OK: &ok, Exit: v.Structured.Exit.exit(), Output: cmp.Or(textOf(v.Content), b.ToolResult.Error)}
		g.done(t, "")
	case "systemNotification":
		if b.NotificationType == "creditsExhausted" || strings.HasPrefix(b.Msg, "Unable to continue: ") {
			g.broke(b.NotificationType + ": " + b.Msg)
		}
	}
}

// text handles text of the agent, or of goose in its name.
func (g *goose) text(text, id string) {
	switch {
	case strings.HasPrefix(text, "I've reached the maximum number of actions I can do without user input"):
		g.out.Stop = transcript.StopTurns
		g.system(text)
	case strings.HasPrefix(text, "Ran into this error") && strings.Contains(text, "\n\nPlease "),
		strings.HasSuffix(text, "\n\nPlease resend your message to try again."):
		message, _, _ := strings.Cut(text, "\n\nPlease ")
		g.broke(message)
	default:
		g.fault = nil
		g.addText(text, id, "")
	}
}

func (g *goose) broke(message string) {
	g.wrong(0, message)
	g.fault = failed(0, message)
}

func (g *goose) End(exit int) Outcome {
	g.outsideLine(g.at)
	switch {
	case g.fault != nil:
		return g.fail(g.fault)
	case g.completed:
		return g.answer()
	}
	return g.fail(g.noResult(exit))
}
