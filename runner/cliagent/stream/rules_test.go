package stream_test

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	claudeSays = `{"type":"assistant","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"Stripe."}]}}`
	codexSays  = `{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Stripe."}}`
	geminiSays = `{"type":"message","role":"assistant","content":"Stripe.","delta":true}`
	openSays   = `{"type":"text","sessionID":"s","part":{"messageID":"m","text":"Stripe."}}`
	copiSays   = `{"type":"assistant.message","data":{"messageId":"m","model":"gpt","content":"Stripe."}}`
	cursorSays = `{"type":"assistant","message":{"content":[{"type":"text","text":"Stripe."}]}}`
	gooseSays  = `{"type":"message","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Stripe."}]}}`
)

// How a program ends decides between an answer, whole or cut off, and a failure.
func TestEnds(t *testing.T) {
	t.Parallel()
	claudeResult := func(rest string) string { return `{"type":"result","num_turns":2,` + rest + `}` }
	for _, c := range []struct {
		name   string
		format string
		stdout string
		stderr string
		exit   int
		reason string // of the failure; empty for an answer
		lane   bool
		after  time.Duration
		stop   transcript.Stop
		final  string // "Stripe." where it is empty
	}{
		{name: "claude, killed after its result", format: eval.KindClaudeCode, exit: -1,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":false,"result":"Stripe."`))},
		{name: "claude, no result", format: eval.KindClaudeCode, stdout: lines(claudeSays), reason: agent.ReasonCrashed},
		{name: "claude, error that says success", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonAuth, lane: true,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":403,"result":"API Error: 403"`))},
		{name: "claude, rate", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonRateLimited, after: 20 * time.Second,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: 429 try again in 20s"`))},
		{name: "claude, overloaded", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonServer,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":529,"result":"Overloaded"`))},
		{name: "claude, bad request", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonBadRequest,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":400,"result":"max_tokens is too large"`))},
		{name: "claude, money", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonQuota, lane: true,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":400,"result":"Your credit balance is too low"`))},
		{name: "claude, no such model", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonNotFound, lane: true,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"api_error_status":404,"result":"model: x"`))},
		{name: "claude, network", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonNetwork,
			stdout: lines(claudeResult(`"subtype":"success","is_error":true,"result":"API Error: Connection error."`)), final: "-"},
		{name: "claude, error of its own", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonCrashed,
			stdout: lines(claudeSays, claudeResult(`"subtype":"error_during_execution","is_error":true,"errors":["undefined is not a function"]`))},
		{name: "claude, turns", format: eval.KindClaudeCode, exit: 1, stop: transcript.StopTurns,
			stdout: lines(claudeSays, claudeResult(`"subtype":"error_max_turns","is_error":true`))},
		{name: "claude, budget", format: eval.KindClaudeCode, exit: 1, stop: transcript.StopCost,
			stdout: lines(claudeSays, claudeResult(`"subtype":"error_max_budget_usd","is_error":true`))},
		{name: "claude, no fitting structure", format: eval.KindClaudeCode, exit: 1,
			stdout: lines(claudeSays, claudeResult(`"subtype":"error_max_structured_output_retries","is_error":true`))},
		{name: "claude, refusal", format: eval.KindClaudeCode, stop: transcript.StopRefusal,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":true,"stop_reason":"refusal","result":"cannot help"`))},
		{name: "claude, length", format: eval.KindClaudeCode, stop: transcript.StopLength,
			stdout: lines(claudeSays, claudeResult(`"subtype":"success","is_error":false,"stop_reason":"max_tokens","result":"Stripe."`))},
		{name: "claude, says nothing", format: eval.KindClaudeCode, reason: agent.ReasonMalformed, final: "-",
			stdout: lines(claudeResult(`"subtype":"success","is_error":false,"result":""`))},
		{name: "claude, made-up message", format: eval.KindClaudeCode, exit: 1, reason: agent.ReasonAuth, lane: true, final: "-",
			stdout: lines(`{"type":"assistant","error":"authentication_failed","message":{"model":"<synthetic>","content":[{"type":"text","text":"Please run /login"}]}}`)},

		{name: "codex", format: eval.KindCodex, stdout: lines(codexSays, `{"type":"turn.completed"}`)},
		{name: "codex, no end", format: eval.KindCodex, stdout: lines(codexSays), reason: agent.ReasonCrashed},
		{name: "codex, turn failed", format: eval.KindCodex, exit: 1, reason: agent.ReasonServer,
			stdout: lines(codexSays, `{"type":"turn.failed","error":{"message":"unexpected status 503 Service Unavailable"}}`)},
		{name: "codex, quota", format: eval.KindCodex, exit: 1, reason: agent.ReasonQuota, lane: true,
			stdout: lines(codexSays, `{"type":"turn.failed","error":{"message":"You've hit your usage limit. Try again in 3 days."}}`), after: 72 * time.Hour},
		{name: "codex, network", format: eval.KindCodex, exit: 1, reason: agent.ReasonNetwork,
			stdout: lines(codexSays, `{"type":"turn.failed","error":{"message":"stream disconnected before completion: error sending request"}}`)},
		{name: "codex, error item is no failure", format: eval.KindCodex,
			stdout: lines(`{"type":"item.completed","item":{"type":"error","message":"status 401"}}`, codexSays, `{"type":"turn.completed"}`)},
		{name: "codex, goes on after a failure", format: eval.KindCodex,
			stdout: lines(`{"type":"turn.failed","error":{"message":"x"}}`, `{"type":"turn.started"}`, codexSays, `{"type":"turn.completed"}`)},

		{name: "gemini", format: eval.KindGeminiCLI, stdout: lines(geminiSays, `{"type":"result","status":"success"}`)},
		{name: "gemini, empty and well", format: eval.KindGeminiCLI, reason: agent.ReasonCrashed, final: "-"},
		{name: "gemini, no result", format: eval.KindGeminiCLI, stdout: lines(geminiSays), reason: agent.ReasonCrashed},
		{name: "gemini, auth by status", format: eval.KindGeminiCLI, exit: 41, stderr: "Invalid auth method selected.", reason: agent.ReasonAuth, lane: true, final: "-"},
		{name: "gemini, input", format: eval.KindGeminiCLI, exit: 42, reason: agent.ReasonBadRequest, final: "-"},
		{name: "gemini, config", format: eval.KindGeminiCLI, exit: 52, reason: agent.ReasonNotStarted, lane: true, final: "-"},
		{name: "gemini, untrusted", format: eval.KindGeminiCLI, exit: 55, reason: agent.ReasonNotStarted, lane: true, final: "-"},
		{name: "gemini, turns by status", format: eval.KindGeminiCLI, exit: 53, stop: transcript.StopTurns, stdout: lines(geminiSays)},
		{name: "gemini, turns by result", format: eval.KindGeminiCLI, exit: 1, stop: transcript.StopTurns,
			stdout: lines(geminiSays, `{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"x"}}`)},
		{name: "gemini, turns by error", format: eval.KindGeminiCLI, exit: 1, stop: transcript.StopTurns,
			stdout: lines(geminiSays, `{"type":"error","severity":"error","message":"Maximum session turns exceeded"}`)},
		{name: "gemini, key refused with 400", format: eval.KindGeminiCLI, exit: 1, reason: agent.ReasonAuth, lane: true,
			stdout: lines(geminiSays, `{"type":"result","status":"error","error":{"message":"{\"code\":400,\"message\":\"API key not valid.\"}"}}`)},
		{name: "gemini, a quota that is a rate", format: eval.KindGeminiCLI, exit: 1, reason: agent.ReasonRateLimited, after: 31500 * time.Millisecond,
			stdout: lines(geminiSays, `{"type":"result","status":"error","error":{"message":"\"code\": 429, You exceeded your current quota, please check your plan and billing details. Please retry in 31.5s."}}`)},
		{name: "gemini, noise on stderr", format: eval.KindGeminiCLI, stderr: "Attempt 1 failed: fetch failed",
			stdout: lines(geminiSays, `{"type":"result","status":"success"}`)},

		{name: "opencode", format: eval.KindOpenCode, stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`)},
		{name: "opencode, killed after its end", format: eval.KindOpenCode, exit: -1, stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`)},
		{name: "opencode, status", format: eval.KindOpenCode, exit: 1, reason: agent.ReasonCrashed,
			stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`)},
		{name: "opencode, still at work", format: eval.KindOpenCode, reason: agent.ReasonCrashed,
			stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"tool-calls"}}`)},
		{name: "opencode, next step open", format: eval.KindOpenCode, reason: agent.ReasonCrashed,
			stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"stop"}}`, `{"type":"step_start","sessionID":"s"}`)},
		{name: "opencode, length", format: eval.KindOpenCode, stop: transcript.StopLength,
			stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"length"}}`)},
		{name: "opencode, filter", format: eval.KindOpenCode, stop: transcript.StopRefusal,
			stdout: lines(openSays, `{"type":"step_finish","sessionID":"s","part":{"reason":"content-filter"}}`)},
		{name: "opencode, quota in the body", format: eval.KindOpenCode, exit: 1, reason: agent.ReasonQuota, lane: true,
			stdout: lines(openSays, `{"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"Too much","statusCode":429,"responseBody":"{\"code\":\"insufficient_quota\"}"}}}`)},

		{name: "copilot", format: eval.KindCopilot, stdout: lines(copiSays, `{"type":"result","exitCode":0}`)},
		{name: "copilot, no result", format: eval.KindCopilot, stdout: lines(copiSays), reason: agent.ReasonCrashed},
		{name: "copilot, failing result", format: eval.KindCopilot, stdout: lines(copiSays, `{"type":"result","exitCode":2}`), reason: agent.ReasonCrashed},
		{name: "copilot, error that was overcome", format: eval.KindCopilot,
			stdout: lines(`{"type":"session.error","data":{"statusCode":500,"message":"x"}}`, copiSays, `{"type":"result","exitCode":0}`)},
		{name: "copilot, nothing to show but ephemera", format: eval.KindCopilot, reason: agent.ReasonMalformed, final: "-",
			stdout: lines(strings.Replace(copiSays, `{"type"`, `{"ephemeral":true,"type"`, 1), `{"type":"result","exitCode":0}`)},

		{name: "cursor, no result", format: eval.KindCursor, stdout: lines(cursorSays), reason: agent.ReasonCrashed, exit: 1},
		{name: "cursor, network after work", format: eval.KindCursor, stdout: lines(cursorSays), stderr: "ECONNRESET", reason: agent.ReasonCrashed, exit: 1},
		{name: "cursor, network before", format: eval.KindCursor, stderr: "Error: connect ECONNREFUSED", reason: agent.ReasonNetwork, exit: 1, final: "-"},
		{name: "cursor, result alone", format: eval.KindCursor, stdout: lines(`{"type":"result","subtype":"success","result":"Stripe."}`)},

		{name: "goose, no end", format: eval.KindGoose, stdout: lines(gooseSays), reason: agent.ReasonCrashed},
		{name: "goose, error", format: eval.KindGoose, exit: 1, stdout: lines(gooseSays, `{"type":"error","error":"Server error: status 500"}`), reason: agent.ReasonServer},
		{name: "goose, network in words", format: eval.KindGoose, reason: agent.ReasonNetwork,
			stdout: lines(gooseSays, `{"type":"message","message":{"id":"n","role":"assistant","content":[{"type":"text","text":"Network error: could not connect\n\nPlease resend your message to try again."}]}}`, `{"type":"complete"}`)},
		{name: "goose, credits", format: eval.KindGoose, reason: agent.ReasonQuota, lane: true,
			stdout: lines(gooseSays, `{"type":"message","message":{"role":"assistant","content":[{"type":"systemNotification","notificationType":"creditsExhausted","msg":"Please check your account with your provider to add more credits"}]}}`, `{"type":"complete"}`)},
		{name: "goose, error that was overcome", format: eval.KindGoose,
			stdout: lines(`{"type":"error","error":"status 500"}`, gooseSays, `{"type":"complete"}`)},

		{name: "aider, not started", format: eval.KindAider, exit: 1, stdout: "aider: error: unrecognized arguments\n", reason: agent.ReasonCrashed, final: "-"},
		{name: "aider, nothing", format: eval.KindAider, reason: agent.ReasonCrashed, final: "-"},
		{name: "aider, fails after an answer", format: eval.KindAider, reason: agent.ReasonServer,
			stdout: lines("Stripe.", "Tokens: 1 sent, 2 received.", "litellm.InternalServerError: x")},
		{name: "aider, overcomes an error", format: eval.KindAider,
			stdout: lines("litellm.InternalServerError: x", "Retrying in 0.2 seconds...", "Stripe.", "Tokens: 1 sent, 2 received.")},

		{name: "text", format: cliagent.FormatText, stdout: "Stripe.\n"},
		{name: "text of a command", format: eval.KindCommand, stdout: "\nStripe.\r\n\n"},
		{name: "text, status", format: cliagent.FormatText, stdout: "Stripe.\n", exit: 3, reason: agent.ReasonCrashed},
		{name: "text, killed", format: cliagent.FormatText, stdout: "Stripe.\n", exit: -1, reason: agent.ReasonCrashed},
		{name: "text, empty", format: cliagent.FormatText, stdout: " \n", reason: agent.ReasonCrashed, final: "-"},
		{name: "text, key refused", format: cliagent.FormatText, stderr: "HTTP 401", exit: 1, reason: agent.ReasonAuth, lane: true, final: "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := source{format: c.format, stdout: c.stdout, stderr: c.stderr, exit: c.exit}.read(t).Outcome
			want := strings.Trim(cmp.Or(c.final, "Stripe."), "-")
			if got.Final != want || got.Stop != c.stop || got.Answered != (want != "") {
				t.Errorf("final %q, stop %q, answered %v; want %q, %q", got.Final, got.Stop, got.Answered, want, c.stop)
			}
			var f stream.Failure
			if got.Fail != nil {
				f = *got.Fail
				if f.Message == "" {
					t.Error("the failure has no message")
				}
			}
			if f.Reason != c.reason || f.Lane != c.lane || f.After != c.after {
				t.Errorf("failure %+v, want %q, lane %v, after %v", f, c.reason, c.lane, c.after)
			}
			again := c.reason == agent.ReasonRateLimited || c.reason == agent.ReasonServer || c.reason == agent.ReasonNetwork ||
				c.reason == agent.ReasonCrashed || c.reason == agent.ReasonMalformed
			if f.Retry != again {
				t.Errorf("retry %v, want %v", f.Retry, again)
			}
		})
	}
}

// A program is to end after its result, but not while it goes on.
func TestEnded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format, stdout string
		want           bool
	}{
		{eval.KindClaudeCode, lines(claudeSays), false},
		{eval.KindClaudeCode, lines(`{"type":"result","subtype":"success"}`), true},
		{eval.KindCodex, lines(`{"type":"turn.completed"}`), true},
		{eval.KindCodex, lines(`{"type":"turn.failed"}`), true},
		{eval.KindCodex, lines(`{"type":"turn.completed"}`, `{"type":"turn.started"}`), false},
		{eval.KindGeminiCLI, lines(`{"type":"result","status":"error"}`), true},
		{eval.KindOpenCode, lines(`{"type":"step_finish","part":{"reason":"tool-calls"}}`), false},
		{eval.KindOpenCode, lines(`{"type":"step_finish","part":{"reason":"stop"}}`), true},
		{eval.KindCopilot, lines(`{"type":"result","exitCode":0}`), true},
		{eval.KindCursor, lines(`{"type":"result","subtype":"success"}`), true},
		{eval.KindCursor, lines(`{"type":"result","subtype":"success"}`, cursorSays), false},
		{eval.KindGoose, lines(`{"type":"complete"}`), true},
		{eval.KindAider, lines("Tokens: 1 sent, 2 received."), false},
		{cliagent.FormatText, lines("Stripe."), false},
	} {
		if got := (source{format: c.format, stdout: c.stdout}).read(t).ended; got != c.want {
			t.Errorf("%s %s: ended %v", c.format, c.stdout, got)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	t.Parallel()
	if _, err := cliagent.NewParser("teletype", func(stream.Event) {}); err == nil || !strings.Contains(err.Error(), "teletype") {
		t.Errorf("%v", err)
	}
}

// What a sub-agent says is not the answer; what it runs was run all the same.
func TestNested(t *testing.T) {
	t.Parallel()
	got := source{format: eval.KindClaudeCode, stdout: lines(
		`{"type":"assistant","message":{"id":"m1","model":"opus","content":[{"type":"text","text":"Stripe."},{"type":"tool_use","id":"t1","name":"Task","input":{}}]},"parent_tool_use_id":null}`,
		`{"type":"assistant","message":{"id":"m2","model":"haiku","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"npm i paddle"}}]},"parent_tool_use_id":"t1"}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"Exit code 7\nno"}],"is_error":true}]},"parent_tool_use_id":"t1"}`,
		`{"type":"assistant","message":{"id":"m3","model":"haiku","content":"Paddle."},"parent_tool_use_id":"t1"}`,
		`{"type":"result","subtype":"error_max_turns","is_error":true}`,
	)}.read(t)
	if got.Outcome.Final != "Stripe." || got.Outcome.Model != "opus" {
		t.Errorf("%+v", got.Outcome)
	}
	if c := got.Outcome.Commands; len(c) != 1 || c[0].Cmd != "npm i paddle" || c[0].Exit == nil || *c[0].Exit != 7 {
		t.Errorf("commands %+v", c)
	}
	var by []string
	for _, e := range got.Events {
		by = append(by, string(e.Kind)+e.Agent)
	}
	if s := strings.Join(by, " "); s != "text tool_call tool_callt1 tool_resultt1 textt1 final" {
		t.Error(s)
	}
}

func TestRetrySignals(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name, format, stdout, stderr string
		want                         []limiter.Signal
	}{
		{"limit of a subscription", eval.KindClaudeCode,
			lines(`{"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1800000600}}`,
				`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000600,"rateLimitType":"five_hour"}}`), "",
			[]limiter.Signal{{Verdict: limiter.Limited, After: 10 * time.Minute}}},
		{"overloaded", eval.KindClaudeCode, lines(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":1500.5,"error_status":529,"error":"overloaded"}`), "",
			[]limiter.Signal{{Verdict: limiter.Overloaded, After: 1500 * time.Millisecond}}},
		{"no key", eval.KindClaudeCode, lines(`{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":10,"error_status":401}`), "",
			[]limiter.Signal{{Verdict: limiter.Neutral, After: 10 * time.Millisecond}}},
		{"two lines on stderr", eval.KindGeminiCLI, "", "Attempt 1 failed: x\nSuggested retry after 2s.. Retrying after 5105ms...\nAttempt 2 failed with status 503. Retrying with backoff...\n",
			[]limiter.Signal{{After: 5105 * time.Millisecond}, {Verdict: limiter.Overloaded}}},
		{"refused call", eval.KindCopilot, lines(`{"type":"model.call_failure","ephemeral":true,"data":{"statusCode":429,"retryAttempt":0,"errorMessage":"slow"}}`), "",
			[]limiter.Signal{{Verdict: limiter.Limited}}},
	} {
		var got []limiter.Signal
		for _, e := range (source{format: c.format, stdout: c.stdout, stderr: c.stderr, exit: -1}).read(t).Events {
			if e.Kind == stream.KindRetry {
				got = append(got, e.Retry.Signal(now))
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %+v, want %+v", c.name, got[i], c.want[i])
			}
		}
	}
	// The failure behind a limit says until when.
	got := source{format: eval.KindClaudeCode, exit: 1, stdout: lines(
		`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000600}}`,
		`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"limit reached"}`)}.read(t).Outcome
	if f := got.Fail; f == nil || f.Until.Unix() != 1_800_000_600 || f.Reason != agent.ReasonRateLimited {
		t.Errorf("%+v", f)
	}
}

// Times are the stream's own where they can be, otherwise when the line came.
func TestClock(t *testing.T) {
	t.Parallel()
	at := func(stamp string) string { return strings.Replace(geminiSays, "{", `{"timestamp":"`+stamp+`",`, 1) }
	got := source{format: eval.KindGeminiCLI, stdout: lines(
		at("yesterday"), at("2026-11-21T00:00:10Z"), at("2026-11-21T00:00:12.5Z"), at("2026-11-21T00:00:09Z"), at("2027-11-21T00:00:00Z"), geminiSays,
	)}.read(t)
	// Lines come every ten milliseconds; the second is where the clocks meet. The last
	// has no time and is not before those that have one.
	for i, want := range []time.Duration{0, 10, 2510, 30, 40, 2510} {
		if e := got.Events[i]; e.At != want*time.Millisecond {
			t.Errorf("line %d at %v, want %v", i, e.At, want*time.Millisecond)
		}
	}
}
