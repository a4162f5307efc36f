package sessions_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/importer/sessions"
)

// Older, newer and rarer forms of each kind.
func TestForms(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, file string
		lines      []string
		prompt     string
		answer     string // JSON
	}{
		"Gemini: one indented document": {"gemini", "session-1.json", []string{
			`{`, `"sessionId": "s", "startTime": "2026-11-20T10:00:00Z",`,
			`"messages": [{"type":"user","content":"Pay."},`,
			`{"type":"gemini","content":"Use Stripe.","model":"m","toolCalls":[{"name":"run_shell_command","args":{"command":"npm i stripe"},"status":"success"}]}]}`,
		}, "Pay.", `{"final_text":"Use Stripe.","commands":[{"cmd":"npm i stripe","exit":0}]}`},
		"Gemini: a list of messages after a compression keeps what was before": {"gemini", "a.jsonl", []string{
			`{"sessionId":"s"}`, `{"id":"1","type":"user","content":"Pay."}`,
			`{"id":"2","type":"gemini","content":"","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"npm i stripe"},"status":"success"}]}`,
			`{"$set":{"messages":[{"id":"9","type":"user","content":"<session_context>"}]}}`, `{"id":"3","type":"gemini","content":"Done."}`,
		}, "Pay.", `{"final_text":"Done.","commands":[{"cmd":"npm i stripe","exit":0}]}`},
		"Gemini: a cancelled command never ran": {"gemini", "a.jsonl", []string{
			`{"sessionId":"s"}`, `{"id":"1","type":"user","content":"Pay."}`,
			`{"id":"2","type":"gemini","content":"No.","toolCalls":[{"id":"c","name":"run_shell_command","args":{"command":"npm i stripe"},"status":"cancelled"}]}`,
		}, "Pay.", `{"final_text":"No."}`},
		"Codex: without envelopes": {"codex", "rollout-1.jsonl", []string{
			`{"id":"s","timestamp":"2026-11-20T10:00:00Z","instructions":null}`, `{"record_type":"state"}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}`,
			`{"type":"message","role":"user","content":[{"type":"input_text","text":"Pay."}]}`,
			`{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["bash","-lc","npm i stripe"]}}`,
			`{"type":"function_call_output","call_id":"c","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":1}}"}`,
			`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It failed."}]}`,
		}, "Pay.", `{"final_text":"It failed.","commands":[{"cmd":"npm i stripe","exit":1}]}`},
		"Codex: a patch in a shell command, and what the editor adds to a prompt": {"codex", "rollout-1.jsonl", []string{
			`{"type":"session_meta","payload":{"id":"s","cwd":"/w"}}`,
			`{"type":"event_msg","payload":{"type":"user_message","message":"# Context from my IDE setup:\n\n## Open tabs:\n- a.js\n\n## My request for Codex:\nPay."}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"shell","call_id":"c","arguments":"{\"command\":[\"bash\",\"-lc\",\"apply_patch <<'E'\\n*** Begin Patch\\n*** Update File: a.js\\n@@\\n-old\\n+pay()\\n*** Delete File: b.js\\n*** End Patch\\nE\"]}"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Exit code: 0\nOutput:\nSuccess."}}`,
			`{"type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`,
		}, "Pay.", `{"commands":[{"cmd":"apply_patch \u003c\u003c'E'\n*** Begin Patch\n*** Update File: a.js\n@@\n-old\n+pay()\n*** Delete File: b.js\n*** End Patch\nE","exit":0}],"workspace_diff":[{"path":"a.js","added":["pay()"]}],"stop":"incomplete"}`},
		"Codex: a command that still runs": {"codex", "rollout-1.jsonl", []string{
			`{"type":"session_meta","payload":{"id":"s"}}`, `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Pay."}]}}`,
			`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","call_id":"c","arguments":"{\"cmd\":\"npm i stripe\"}"}}`,
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"Process running with session ID 1\nOutput:\nExit code: 0"}}`,
		}, "Pay.", `{"commands":[{"cmd":"npm i stripe"}]}`},
		"Claude Code: interrupted, with a rejected command": {"claude-code", "a.jsonl", []string{
			prompted,
			`{"type":"assistant","sessionId":"ID","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"npm i stripe"}}]}}`,
			`{"type":"user","sessionId":"ID","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"The user doesn't want to proceed with this tool use."}]}}`,
			answered, `{"type":"user","sessionId":"ID","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
		}, "Add payments.", `{"final_text":"Use Stripe.","stop":"incomplete"}`},
		"Claude Code: files outside of the folder": {"claude-code", "a.jsonl", []string{
			prompted,
			`{"type":"assistant","sessionId":"ID","message":{"content":[{"type":"tool_use","id":"t","name":"Write","input":{"file_path":"/home/me/.claude/plan.md","content":"x"}},{"type":"tool_use","id":"u","name":"MultiEdit","input":{"file_path":"/w/a.js","edits":[{"old_string":"a","new_string":"a\nb"},{"old_string":"b","new_string":"c"}]}}]}}`,
			`{"type":"user","sessionId":"ID","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""},{"type":"tool_result","tool_use_id":"u","content":""}]}}`,
			answered,
		}, "Add payments.", `{"final_text":"Use Stripe.","workspace_diff":[{"path":"a.js","added":["c"]}]}`},
		"Cursor: a stream": {"cursor", "out.jsonl", []string{
			`{"type":"system","subtype":"init","cwd":"/w","session_id":"s","model":"m"}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Pay."}]},"session_id":"s"}`,
			`{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"writeToolCall":{"args":{"path":"/w/a.js","fileText":"pay()"}}},"session_id":"s"}`,
			`{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"writeToolCall":{"args":{"path":"/w/a.js"},"result":{"success":{"path":"/w/a.js"}}}},"session_id":"s"}`,
			`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Use Stripe."}]},"session_id":"s"}`,
			`{"type":"result","subtype":"success","is_error":false,"result":"Use Stripe.","session_id":"s"}`,
		}, "Pay.", `{"final_text":"Use Stripe.","workspace_diff":[{"path":"a.js","added":["pay()"]}]}`},
		"ATIF: results without a status, and a call without a result": {"atif", "trajectory.json", []string{
			`{"schema_version":"ATIF-v1.6","session_id":"s","agent":{"name":"x","version":"1"},"steps":[{"step_id":1,"source":"user","message":[{"type":"text","text":"Pay."}]},`,
			`{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"a","function_name":"Bash","arguments":{"command":"npm i stripe"}},{"tool_call_id":"b","function_name":"Bash","arguments":{"command":"npm test"}}],`,
			`"observation":{"results":[{"source_call_id":"a","content":"added"}]}}]}`,
		}, "Pay.", `{"commands":[{"cmd":"npm i stripe"},{"cmd":"npm test"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, sessions.Options{Kind: tt.kind}, write(t, t.TempDir(), map[string]string{tt.file: session("s", tt.lines...)}))
			if len(r.Sessions) != 1 {
				t.Fatalf("skipped %v", r.Skipped)
			}
			s := r.Sessions[0]
			got, err := json.Marshal(s.Answer)
			if err != nil || strings.TrimSpace(string(got)) != tt.answer || s.Prompt != tt.prompt || s.ID != "s" {
				t.Errorf("session %q, prompt %q, %v\n got %s\nwant %s", s.ID, s.Prompt, err, got, tt.answer)
			}
		})
	}
}
