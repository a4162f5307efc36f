package stream

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
)

// Copilot is the Decoder of its stream.
func Copilot(emit func(Event)) Parser { return &copilot{recorder: newRecorder(emit)} }

// copilot parses `copilot -p --output-format json`. Lines come in envelopes; with some
// models they may be flat, with the fields next to the type. Only the
// --usage-output-file has tokens.
type copilot struct {
	*recorder
	result *copilotLine
}

type copilotLine struct {
	Type      string      `json:"type"`
	Timestamp string      `json:"timestamp"`
	Ephemeral bool        `json:"ephemeral"`
	Data      copilotData `json:"data"`
	// Of the result.
	SessionID string `json:"sessionId"`
	ExitCode  *count `json:"exitCode"`
	// Of the flat form.
	Role      string          `json:"role"`
	Model     string          `json:"model"`
	ID        string          `json:"id"`
	ToolUseID string          `json:"tool_use_id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
	In        *count          `json:"input_tokens"`
	Out       count           `json:"output_tokens"`
	CacheRead count           `json:"cache_read_input_tokens"`
}

type copilotData struct {
	Model        string `json:"model"`
	MessageID    string `json:"messageId"`
	ParentCall   string `json:"parentToolCallId"`
	Content      string `json:"content"`
	Reasoning    string `json:"reasoningText"`
	ToolRequests []struct {
		ID   string          `json:"toolCallId"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"toolRequests"`
	ToolCallID string          `json:"toolCallId"`
	ToolName   string          `json:"toolName"`
	Args       json.RawMessage `json:"arguments"`
	Success    bool            `json:"success"`
	Result     struct {
		Content string `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Shell struct {
		Exit *count `json:"exitCode"`
	} `json:"shellExecution"`
	FileEdits []struct {
		Path string `json:"path"`
	} `json:"fileEdits"`
	Status       count  `json:"statusCode"`
	Message      string `json:"message"`
	ErrorMessage string `json:"errorMessage"`
	RetryAttempt count  `json:"retryAttempt"`
}

func (c *copilot) Line(at time.Duration, off int64, line []byte) {
	var l copilotLine
	if !c.object(at, off, line, &l) {
		return
	}
	c.clock(timeOf(l.Timestamp))
	d := &l.Data
	if l.Ephemeral {
		// Of the display-only lines, a rejection by the provider counts: no other line
		// reports it before the CLI gives up.
		if l.Type == "model.call_failure" {
			c.retry(Retry{Attempt: d.RetryAttempt.int() + 1, Status: d.Status.int(), Message: d.ErrorMessage})
		}
		return
	}
	switch l.Type {
	case "assistant.turn_start":
		c.out.Turns++
	case "assistant.message":
		c.out.Model = cmp.Or(d.Model, c.out.Model)
		c.think(d.Reasoning, d.ParentCall)
		c.addText(d.Content, d.MessageID, d.ParentCall)
		for _, t := range d.ToolRequests {
			c.call(Tool{Native: t.Name, ID: t.ID, Args: t.Args}, d.ParentCall)
		}
	case "tool.execution_start":
		if _, known := c.calls[d.ToolCallID]; !known {
			c.call(Tool{Native: d.ToolName, ID: d.ToolCallID, Args: d.Args}, d.ParentCall)
		}
	case "tool.execution_complete":
		c.complete(d)
	case "session.error":
		c.wrong(d.Status.int(), d.Message)
	case "result":
		c.ended, c.result = true, &l
		c.out.Session = l.SessionID
	default:
		c.flat(&l)
	}
}

func (c *copilot) complete(d *copilotData) {
	t := Tool{ID: d.ToolCallID, OK: &d.Success, Exit: d.Shell.Exit.exit(), Output: cmp.Or(d.Result.Content, d.Error.Message)}
	paths := make([]string, len(d.FileEdits))
	for i, e := range d.FileEdits {
		paths[i] = e.Path
	}
	c.done(t, d.ParentCall, paths...)
}

// flat reads the flat form.
func (c *copilot) flat(l *copilotLine) {
	switch l.Type {
	case "message":
		if l.Role == "assistant" {
			c.out.Model = cmp.Or(l.Model, c.out.Model)
			c.addText(textOf(l.Content), l.ID, "")
		}
	case "tool_use":
		c.call(Tool{Native: l.Name, ID: l.ID, Args: l.Input}, "")
	case "tool_result":
		ok := !l.IsError
		c.done(Tool{ID: cmp.Or(l.ToolUseID, l.ID), OK: &ok, Output: textOf(l.Content)}, "")
	case "usage":
		if l.In != nil {
			c.spend(prices.Usage{Input: l.In.int(), CacheRead: l.CacheRead.int(), Output: l.Out.int()}, nil)
		}
	}
}

// File reads the usage file. Its input tokens include cached ones.
func (c *copilot) File(text []byte) {
	var f struct {
		CurrentModel string `json:"currentModel"`
		Models       map[string]struct {
			Usage struct {
				Input      count `json:"inputTokens"`
				Output     count `json:"outputTokens"`
				CacheRead  count `json:"cacheReadTokens"`
				CacheWrite count `json:"cacheWriteTokens"`
				Reasoning  count `json:"reasoningTokens"`
			} `json:"usage"`
		} `json:"modelMetrics"`
	}
	if !object(text, &f) || len(f.Models) == 0 {
		return
	}
	c.outsideLine(c.at)
	c.out.Usage = nil
	var sum prices.Usage
	for _, m := range f.Models {
		read, write := m.Usage.CacheRead.int(), m.Usage.CacheWrite.int()
		sum = sum.Plus(prices.Usage{
			Input: max(m.Usage.Input.int()-read-write, 0), CacheRead: read, CacheWrite: write,
			Output: m.Usage.Output.int(), Reasoning: m.Usage.Reasoning.int(),
		})
	}
	c.out.Model = cmp.Or(c.out.Model, f.CurrentModel)
	c.spend(sum, nil)
}

func (c *copilot) End(exit int) Outcome {
	c.outsideLine(c.at)
	if c.result == nil {
		return c.fail(c.noResult(exit))
	}
	if code := c.result.ExitCode; code == nil || *code != 0 {
		if code != nil {
			exit = code.int()
		}
		return c.fail(c.noResult(exit))
	}
	return c.answer()
}
