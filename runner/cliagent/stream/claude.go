package stream

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Claude is the Decoder of its stream.
func Claude(emit func(Event)) Parser { return &claude{recorder: newRecorder(emit)} }

// claude parses `claude -p --output-format stream-json --verbose`. Several lines may
// share a message and repeat its usage, so only the result's tokens and cost count.
type claude struct {
	*recorder
	result *claudeLine
}

type claudeLine struct {
	Type      string `json:"type"`
	Subtype   string `json:"subtype"`
	SessionID string `json:"session_id"`
	Parent    string `json:"parent_tool_use_id"`
	Timestamp string `json:"timestamp"` // of a message, in newer releases
	// Of the start.
	Model   string `json:"model"`
	Version string `json:"claude_code_version"`
	// Of a message.
	Message struct {
		ID      string          `json:"id"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	// Of the results of tools: why one did not run.
	ResultMeta []struct {
		ID           string `json:"id"`
		NotRunReason string `json:"non_execution_kind"`
	} `json:"tool_result_meta"`
	// For a retry, or a synthetic message that reports an error.
	Attempt      count  `json:"attempt"`
	RetryDelayMS count  `json:"retry_delay_ms"`
	ErrorStatus  count  `json:"error_status"`
	Error        string `json:"error"`
	Limit        struct {
		Status   string  `json:"status"`
		ResetsAt float64 `json:"resetsAt"` // Unix seconds
		Type     string  `json:"rateLimitType"`
	} `json:"rate_limit_info"`
	// Of the result.
	IsError        bool                   `json:"is_error"`
	APIErrorStatus count                  `json:"api_error_status"`
	Turns          count                  `json:"num_turns"`
	Result         string                 `json:"result"`
	StopReason     string                 `json:"stop_reason"`
	CostUSD        *float64               `json:"total_cost_usd"`
	Usage          *claudeUsage           `json:"usage"`
	ModelUsage     map[string]claudeModel `json:"modelUsage"`
	Errors         []string               `json:"errors"`
	Denials        []claudeDenial         `json:"permission_denials"`
}

// A claudeDenial is a call that the CLI's permissions refused.
type claudeDenial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

type claudeUsage struct {
	Input      count `json:"input_tokens"`
	CacheWrite count `json:"cache_creation_input_tokens"`
	CacheRead  count `json:"cache_read_input_tokens"`
	Output     count `json:"output_tokens"`
	Details    struct {
		Thinking count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
	Tools struct {
		Searches count `json:"web_search_requests"`
	} `json:"server_tool_use"`
}

type claudeModel struct {
	Input      count `json:"inputTokens"`
	Output     count `json:"outputTokens"`
	CacheRead  count `json:"cacheReadInputTokens"`
	CacheWrite count `json:"cacheCreationInputTokens"`
	Searches   count `json:"webSearchRequests"`
	Thinking   count `json:"thinkingTokens"` // of Output
}

func (c *claude) Line(at time.Duration, off int64, line []byte) {
	var l claudeLine
	if !c.object(at, off, line, &l) {
		return
	}
	c.clock(timeOf(l.Timestamp))
	if l.SessionID != "" {
		c.out.Session = l.SessionID
	}
	switch l.Type {
	case "system":
		c.systemLine(&l)
	case "rate_limit_event":
		c.limit(&l)
	case "assistant":
		c.assistant(&l)
	case "user":
		c.user(&l)
	case "result":
		c.ended, c.result = true, &l
		c.account(&l)
		c.denied(l.Denials)
	}
}

func (c *claude) systemLine(l *claudeLine) {
	switch l.Subtype {
	case "init":
		c.out.Version, c.out.Model = l.Version, l.Model
		c.system(strings.TrimSpace("Claude Code " + l.Version + " " + l.Model))
	case "api_retry":
		c.retry(Retry{
			Attempt: l.Attempt.int(), Status: l.ErrorStatus.int(), AfterMS: int64(l.RetryDelayMS.int()),
			Message: fmt.Sprintf("API error %d: %s", l.ErrorStatus.int(), l.Error),
		})
	}
}

func (c *claude) limit(l *claudeLine) {
	text := strings.TrimSpace(l.Limit.Type + " limit: " + l.Limit.Status)
	if l.Limit.Status != "rejected" {
		c.system(text)
		return
	}
	t := Retry{Status: 429, Message: text}
	if s := l.Limit.ResetsAt; s > 0 && s < 1e11 {
		t.Until = time.Unix(int64(s), 0).UTC()
	}
	c.retry(t)
}

func (c *claude) assistant(l *claudeLine) {
	blocks := blocksOf(l.Message.Content)
	if l.Message.Model == "<synthetic>" {
		// The CLI itself speaks: an error as a rule, and never an answer.
		var text strings.Builder
		for _, b := range blocks {
			text.WriteString(b.Text)
		}
		if l.Error != "" {
			c.wrong(statusIn(text.String()+" "+l.Error), text.String())
		} else {
			c.system(text.String())
		}
		return
	}
	if l.Message.Model != "" && l.Parent == "" {
		c.out.Model = l.Message.Model
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			c.addText(b.Text, l.Message.ID, l.Parent)
		case "thinking":
			c.think(b.Thinking, l.Parent)
		case "tool_use", "server_tool_use":
			c.call(Tool{Native: b.Name, ID: b.ID, Args: b.Input}, l.Parent)
		}
	}
}

// maxDenials is how many denied calls of one session are read.
const maxDenials = 1000

var claudeExit = lazyregexp.MustCompile(`^Exit code (-?\d{1,9})\b`)

func (c *claude) user(l *claudeLine) {
	for _, b := range blocksOf(l.Message.Content) {
		if b.Type != "tool_result" {
			continue
		}
		ok := !b.IsError
		t := Tool{ID: b.ToolUseID, OK: &ok, Output: textOf(b.Content)}
		for _, m := range l.ResultMeta {
			t.Declined = t.Declined || m.ID == t.ID && m.NotRunReason != ""
		}
		if c.calls[t.ID].Name == ToolShell {
			if m := claudeExit.FindStringSubmatch(t.Output); ok {
				t.Exit = new(0)
			} else if m != nil {
				exit, _ := strconv.Atoi(m[1])
				t.Exit = &exit
			}
		}
		c.done(t, l.Parent)
	}
}

// denied removes the commands that the result lists as denied: releases without
// tool_result_meta report such a call as failed.
func (c *claude) denied(denials []claudeDenial) {
	for i, d := range denials {
		if i == maxDenials {
			c.note(fmt.Sprintf("denied calls above %d were left out", maxDenials))
			return
		}
		t := Tool{Native: d.Tool, Args: d.Input}
		describe(&t)
		c.deny(d.ID)
		c.system(strings.TrimSpace("permission denied: " + d.Tool + " " + inert.Truncate(cmp.Or(t.Command, t.Path), maxMessage)))
	}
}

// account reads tokens and cost of the result. By model is more than
// usage, which is of the main loop alone and lags behind at a budget's end.
func (c *claude) account(l *claudeLine) {
	c.out.Turns = l.Turns.int()
	c.out.Usage, c.out.CostUSD = nil, nil
	if l.Usage == nil && len(l.ModelUsage) == 0 && l.CostUSD == nil {
		return
	}
	var u prices.Usage
	if l.Usage != nil {
		u = prices.Usage{
			Input: l.Usage.Input.int(), CacheRead: l.Usage.CacheRead.int(), CacheWrite: l.Usage.CacheWrite.int(),
			Output: l.Usage.Output.int(), Reasoning: l.Usage.Details.Thinking.int(), Searches: l.Usage.Tools.Searches.int(),
		}
	}
	if len(l.ModelUsage) > 0 {
		u = prices.Usage{}
		for _, m := range l.ModelUsage {
			u = u.Plus(prices.Usage{
				Input: m.Input.int(), CacheRead: m.CacheRead.int(), CacheWrite: m.CacheWrite.int(),
				Output: m.Output.int(), Reasoning: m.Thinking.int(), Searches: m.Searches.int(),
			})
		}
	}
	c.spend(u, l.CostUSD)
}

func (c *claude) End(exit int) Outcome {
	l := c.result
	c.outsideLine(c.at)
	if l == nil {
		return c.fail(c.noResult(exit))
	}
	switch {
	case l.Subtype == "error_max_turns":
		c.out.Stop = transcript.StopTurns
	case l.Subtype == "error_max_budget_usd":
		c.out.Stop = transcript.StopCost
	case l.StopReason == "refusal" && l.APIErrorStatus == 0:
		c.out.Stop = transcript.StopRefusal
	case l.Subtype == "error_max_structured_output_retries":
		// The model answered, but never in the requested form.
	case l.Subtype != "success" || l.IsError:
		message := l.Result
		if message == "" {
			message = strings.Join(slices.Concat([]string{l.Subtype}, l.Errors), ": ")
		}
		return c.fail(failed(l.APIErrorStatus.int(), message))
	case l.StopReason == "max_tokens":
		c.out.Stop = transcript.StopLength
	}
	if strings.TrimSpace(l.Result) != "" && !l.IsError {
		c.out.Answered = true
		c.final = c.final[:0]
		c.keep(l.Result)
	}
	return c.answer()
}
