package stream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// exits writes commands as "npm test:0"; "?" is an exit status that is not known.
func exits(commands []transcript.Command) []string {
	var out []string
	for _, c := range commands {
		exit := "?"
		if c.Exit != nil {
			exit = fmt.Sprint(*c.Exit)
		}
		out = append(out, c.Cmd+":"+exit)
	}
	return out
}

// A call that was refused or cancelled is no command that ran, and a command that
// ran has an exit status where the stream has it.
func TestCommandsThatRan(t *testing.T) {
	t.Parallel()
	claudeCall := `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"npm i x"}}]}}`
	claudeDone := func(text, rest string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` + text + `","is_error":true}]}` + rest + `}`
	}
	codexDone := func(rest string) string {
		return `{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"npm i x",` + rest + `}}`
	}
	cursorDone := func(result string) string {
		return `{"type":"tool_call","subtype":"completed","call_id":"t","tool_call":{"shellToolCall":{"args":{"command":"npm i x"},"result":` + result + `}}}`
	}
	openDone := func(state string) string {
		return `{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"input":{"command":"npm i x"},` + state + `}}}`
	}
	copilotCall := `{"type":"assistant.message","data":{"messageId":"m","toolRequests":[{"toolCallId":"t","name":"bash","arguments":{"command":"npm i x"}}]}}`
	for name, c := range map[string]struct{ format, stdout, want string }{
		"claude, exit status":               {eval.KindClaudeCode, lines(claudeCall, claudeDone("Exit code 2\\nno", "")), "npm i x:2"},
		"claude, failed without one":        {eval.KindClaudeCode, lines(claudeCall, claudeDone("Command timed out", "")), "npm i x:?"},
		"claude, refused by a rule":         {eval.KindClaudeCode, lines(claudeCall, claudeDone("no", `,"tool_result_meta":[{"id":"t","non_execution_kind":"permission-rule"}]`)), ""},
		"claude, another call was refused":  {eval.KindClaudeCode, lines(claudeCall, claudeDone("no", `,"tool_result_meta":[{"id":"u","non_execution_kind":"permission-rule"}]`)), "npm i x:?"},
		"claude, cancelled with another":    {eval.KindClaudeCode, lines(claudeCall, claudeDone("<tool_use_error>Cancelled: parallel tool call Bash(a) errored</tool_use_error>", "")), ""},
		"claude, listed as denied":          {eval.KindClaudeCode, lines(claudeCall, claudeDone("no", ""), `{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"npm i x"}}]}`), ""},
		"claude, another is listed":         {eval.KindClaudeCode, lines(claudeCall, claudeDone("no", ""), `{"type":"result","subtype":"success","permission_denials":[{"tool_name":"Bash","tool_use_id":""},{"tool_use_id":"u"}]}`), "npm i x:?"},
		"codex, declined":                   {eval.KindCodex, lines(codexDone(`"status":"declined","exit_code":-1`)), ""},
		"codex, failed":                     {eval.KindCodex, lines(codexDone(`"status":"failed","exit_code":1`)), "npm i x:1"},
		"codex, failed without exit status": {eval.KindCodex, lines(codexDone(`"status":"failed","exit_code":null`)), "npm i x:?"},
		"cursor, rejected":                  {eval.KindCursor, lines(cursorDone(`{"rejected":{"command":"npm i x","reason":""}}`)), ""},
		"cursor, permission denied":         {eval.KindCursor, lines(cursorDone(`{"permissionDenied":{"error":"no"}}`)), ""},
		"cursor, timeout":                   {eval.KindCursor, lines(cursorDone(`{"timeout":{"timeoutMs":1}}`)), "npm i x:?"},
		"cursor, failure":                   {eval.KindCursor, lines(cursorDone(`{"failure":{"exitCode":3}}`)), "npm i x:3"},
		"cursor, success":                   {eval.KindCursor, lines(cursorDone(`{"success":{"stdout":""},"isBackground":false}`)), "npm i x:0"},
		"opencode, rejected":                {eval.KindOpenCode, lines(openDone(`"status":"error","error":"The user rejected permission to use this specific tool call."`)), ""},
		"opencode, aborted":                 {eval.KindOpenCode, lines(openDone(`"status":"error","error":"Tool execution aborted"`)), "npm i x:?"},
		"copilot, rejected":                 {eval.KindCopilot, lines(copilotCall, `{"type":"tool.execution_complete","data":{"toolCallId":"t","success":false,"error":{"message":"The user rejected this tool call."}}}`), ""},
		"copilot, its output says so":       {eval.KindCopilot, lines(copilotCall, `{"type":"tool.execution_complete","data":{"toolCallId":"t","success":true,"result":{"content":"The user rejected it."},"shellExecution":{"exitCode":0}}}`), "npm i x:0"},
	} {
		got := source{format: c.format, stdout: c.stdout}.read(t)
		if ran := strings.Join(exits(got.Outcome.Commands), " "); ran != c.want {
			t.Errorf("%s: ran %q, want %q", name, ran, c.want)
		}
	}
}

// The pages that an agent found and opened are kept, and opening one is no search.
func TestSources(t *testing.T) {
	t.Parallel()
	got := sources(t)["codex_web"].read(t)
	want := []transcript.Source{
		{URL: "https://stripe.com/pricing"}, {URL: "https://www.paddle.com/pricing"}, {URL: "https://docs.stripe.com/billing", Opened: true},
	}
	if d := cmp.Diff(want, got.Outcome.Sources); d != "" {
		t.Error(d)
	}
	var did []string
	for _, e := range got.Events {
		if e.Kind == stream.KindWeb {
			did = append(did, e.Tool.Name+" "+strings.Join(e.Tool.Queries, ", "))
		}
	}
	if want := []string{"web_search payment api saas 2026, stripe vs paddle fees", "web_fetch ", "web_fetch "}; !slices.Equal(did, want) {
		t.Errorf("%q, want %q", did, want)
	}
	// Too many and too long ones are left out.
	var many []string
	for i := range 1200 {
		many = append(many, fmt.Sprintf(`{"type":"item.completed","item":{"type":"web_search","action":{"type":"open_page","url":"https://x.example/%d"}}}`, i))
	}
	many = append(many, `{"type":"item.completed","item":{"type":"web_search","action":{"type":"open_page","url":"https://`+strings.Repeat("x", 5000)+`"}}}`)
	if o := (source{format: eval.KindCodex, stdout: lines(many...)}).read(t).Outcome; len(o.Sources) != 1000 || len(o.Notes) != 1 {
		t.Errorf("%d sources, notes %q", len(o.Sources), o.Notes)
	}
}

// What Cursor's tools return is kept, whatever the field is called.
func TestCursorOutputs(t *testing.T) {
	t.Parallel()
	wants := map[string]string{
		"t-1": "Payments: stripe or paddle?", "t-2": "tsconfig.json", "t-3": "q1Bk0dW7jX0=", "t-4": "File not found",
		"t-5": "Install a client", "t-7": "added 1 package",
	}
	for _, e := range sources(t)["cursor_tools"].read(t).Events {
		if e.Kind != stream.KindToolResult {
			continue
		}
		if want := wants[e.Tool.ID]; !strings.Contains(e.Tool.Output, want) {
			t.Errorf("%s: output %q, want %q", e.Tool.ID, e.Tool.Output, want)
		}
		delete(wants, e.Tool.ID)
	}
	if len(wants) != 0 {
		t.Errorf("no result of %v", wants)
	}
}

// Times are the stream's own, in Cursor's milliseconds and Claude's stamps.
func TestStampedStreams(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for name, want := range map[string]time.Duration{"cursor_tools": 10*time.Second + 120*time.Millisecond, "claude_denied": 130*time.Second + 10*time.Millisecond} {
		events := all[name].read(t).Events
		if last := events[len(events)-1]; last.At != want || last.Kind != stream.KindFinal {
			t.Errorf("%s: %s at %s, want %s", name, last.Kind, last.At, want)
		}
	}
}
