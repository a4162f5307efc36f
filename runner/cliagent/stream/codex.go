package stream

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/prices"
)

// Codex is the Decoder of its stream.
func Codex(emit func(Event)) Parser { return &codex{recorder: newRecorder(emit)} }

// codex parses `codex exec --json`. The stream has neither model nor cost, and its file
// changes have no content.
type codex struct {
	*recorder
	completed bool
	failure   string
	used      prices.Usage // of the thread, as the last turn reported it
}

type codexLine struct {
	Type     string    `json:"type"`
	ThreadID string    `json:"thread_id"`
	Item     codexItem `json:"item"`
	Usage    *struct {
		Input      count `json:"input_tokens"`
		CacheRead  count `json:"cached_input_tokens"`
		CacheWrite count `json:"cache_write_input_tokens"`
		Output     count `json:"output_tokens"`
		Reasoning  count `json:"reasoning_output_tokens"`
	} `json:"usage"`
	Message string `json:"message"`
	Error   struct {
		Message string `json:"message"`
	} `json:"error"`
}

type codexItem struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Message string `json:"message"`
	Command string `json:"command"`
	Output  string `json:"aggregated_output"`
	Exit    *count `json:"exit_code"`
	Changes []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"changes"`
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    struct {
		Content json.RawMessage `json:"content"`
	} `json:"result"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Query   string          `json:"query"`
	Action  json.RawMessage `json:"action"`
	Results []struct {
		URL string `json:"url"`
	} `json:"results"`
}

// A codexAction is the action of a web_search: search, open_page or find_in_page.
type codexAction struct {
	Type    string   `json:"type"`
	Query   string   `json:"query"`
	Queries []string `json:"queries"`
	URL     string   `json:"url"`
}

var codexRetry = lazyregexp.MustCompile(`^Reconnecting\W{1,5}(\d{1,4})/\d{1,4}`)

func (c *codex) Line(at time.Duration, off int64, line []byte) {
	var l codexLine
	if !c.object(at, off, line, &l) {
		return
	}
	switch l.Type {
	case "thread.started":
		c.out.Session = l.ThreadID
	case "turn.started":
		c.out.Turns++
		c.ended, c.completed, c.failure = false, false, ""
	case "item.started":
		c.started(&l.Item)
	case "item.completed":
		c.finished(&l.Item)
	case "error":
		if m := codexRetry.FindStringSubmatch(l.Message); m != nil {
			n, _ := strconv.Atoi(m[1])
			c.retry(Retry{Attempt: n, Message: l.Message})
		} else {
			c.wrong(statusIn(l.Message), l.Message)
		}
	case "turn.completed":
		c.ended, c.completed = true, true
		c.account(&l)
	case "turn.failed":
		c.ended, c.completed = true, false
		c.failure = cmp.Or(l.Error.Message, "the turn failed")
	}
}

// account handles the cumulative tokens of the thread, which every turn reports. Input
// tokens include cached ones.
func (c *codex) account(l *codexLine) {
	u := l.Usage
	if u == nil {
		return
	}
	read, write := u.CacheRead.int(), u.CacheWrite.int()
	now := prices.Usage{
		Input: max(u.Input.int()-read-write, 0), CacheRead: read, CacheWrite: write,
		Output: u.Output.int(), Reasoning: u.Reasoning.int(),
	}
	before := c.used
	c.used = now
	c.spend(prices.Usage{
		Input: max(now.Input-before.Input, 0), CacheRead: max(now.CacheRead-before.CacheRead, 0),
		CacheWrite: max(now.CacheWrite-before.CacheWrite, 0),
		Output:     max(now.Output-before.Output, 0), Reasoning: max(now.Reasoning-before.Reasoning, 0),
	}, nil)
	c.out.Usage = &now
}

func (c *codex) started(i *codexItem) {
	switch i.Type {
	case "command_execution":
		c.call(Tool{Native: i.Type, ID: i.ID, Command: unwrap([]string{i.Command})}, "")
	case "mcp_tool_call":
		c.call(Tool{Name: ToolMCP, Native: i.Server + "." + i.Tool, ID: i.ID, Args: i.Arguments}, "")
	}
}

func (c *codex) finished(i *codexItem) {
	ok := i.Status != "failed" && i.Status != "declined"
	switch i.Type {
	case "agent_message":
		c.addText(i.Text, "", "")
	case "reasoning":
		c.think(i.Text, "")
	case "command_execution":
		t := Tool{Native: i.Type, ID: i.ID, Command: unwrap([]string{i.Command}), OK: &ok, Exit: i.Exit.exit(), Output: i.Output, Declined: i.Status == "declined"}
		c.done(t, "")
	case "mcp_tool_call":
		t := Tool{Name: ToolMCP, Native: i.Server + "." + i.Tool, ID: i.ID, OK: &ok}
		t.Output = cmp.Or(i.Error.Message, textOf(i.Result.Content))
		c.done(t, "")
	case "file_change":
		c.files(i, ok)
	case "web_search":
		c.web(i)
	case "error":
		// Not fatal: the first item is often a warning about the model.
		c.event(Event{Kind: KindError, Text: inert.Truncate(i.Message, maxMessage)})
	}
}

// web handles a search, or a page that was opened or searched.
func (c *codex) web(i *codexItem) {
	var a codexAction
	t := Tool{Native: i.Type, Args: i.Action}
	if !object(i.Action, &a) {
		t.Args, _ = json.Marshal(map[string]string{"query": i.Query})
	}
	switch a.Type {
	case "open_page", "find_in_page":
		t.Name, t.Native = ToolWebFetch, i.Type+"."+a.Type
		t.Sources = []string{cmp.Or(a.URL, i.Query)}
	default:
		t.Queries = a.Queries
		if query := cmp.Or(a.Query, i.Query); len(t.Queries) == 0 && query != "" {
			t.Queries = []string{query}
		}
		for _, r := range i.Results {
			t.Sources = append(t.Sources, r.URL)
		}
	}
	c.call(t, "")
}

func (c *codex) files(i *codexItem, ok bool) {
	c.acted()
	c.endMessage()
	if !ok {
		c.event(Event{Kind: KindToolResult, Tool: &Tool{Name: ToolEdit, Native: i.Type, ID: i.ID, OK: &ok}})
		return
	}
	for _, f := range i.Changes {
		name := ToolEdit
		if f.Kind == "add" {
			name = ToolWrite
		}
		c.changed(name, i.Type, f.Path, "")
	}
}

func (c *codex) End(exit int) Outcome {
	c.outsideLine(c.at)
	switch {
	case c.completed:
		return c.answer()
	case c.failure != "":
		return c.fail(failed(0, c.failure))
	}
	return c.fail(c.noResult(exit))
}
