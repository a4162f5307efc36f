package stream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
)

// Tokens come in one form, whatever a CLI adds up: what it does not tell is nil.
func TestUsage(t *testing.T) {
	t.Parallel()
	usd := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name   string
		source source
		want   *prices.Usage
		cost   *float64
		model  string
	}{
		{
			name: "claude, by model and never by line",
			source: source{format: eval.KindClaudeCode, stdout: lines(
				`{"type":"assistant","message":{"id":"m1","model":"opus","content":[],"usage":{"input_tokens":77,"output_tokens":1}}}`,
				`{"type":"result","subtype":"success","usage":{"input_tokens":10,"output_tokens":1},"total_cost_usd":0.5,"modelUsage":{`+
					`"opus":{"inputTokens":100,"outputTokens":20,"thinkingTokens":7,"cacheReadInputTokens":30,"cacheCreationInputTokens":40,"webSearchRequests":2},`+
					`"haiku":{"inputTokens":5,"outputTokens":6}}}`)},
			want: &prices.Usage{Input: 105, CacheRead: 30, CacheWrite: 40, Output: 26, Reasoning: 7, Searches: 2}, cost: usd(0.5), model: "opus",
		},
		{
			name: "claude, without models",
			source: source{format: eval.KindClaudeCode, stdout: lines(
				`{"type":"result","subtype":"success","usage":{"input_tokens":10,"cache_read_input_tokens":4,"output_tokens":9,"output_tokens_details":{"thinking_tokens":6},"server_tool_use":{"web_search_requests":3}}}`)},
			want: &prices.Usage{Input: 10, CacheRead: 4, Output: 9, Reasoning: 6, Searches: 3},
		},
		{name: "claude, none", source: source{format: eval.KindClaudeCode, stdout: lines(`{"type":"result","subtype":"success"}`)}},
		{
			name:   "claude, a later result stands for all",
			source: source{format: eval.KindClaudeCode, stdout: lines(`{"type":"result","total_cost_usd":1,"usage":{"input_tokens":1}}`, `{"type":"result","total_cost_usd":2,"usage":{"input_tokens":3}}`)},
			want:   &prices.Usage{Input: 3}, cost: usd(2),
		},
		{
			name: "codex, a turn reports the thread so far",
			source: source{format: eval.KindCodex, stdout: lines(
				`{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":20,"reasoning_output_tokens":5}}`,
				`{"type":"turn.completed","usage":{"input_tokens":250,"cached_input_tokens":150,"output_tokens":30,"reasoning_output_tokens":8}}`)},
			want: &prices.Usage{Input: 100, CacheRead: 150, Output: 30, Reasoning: 8},
		},
		{
			name: "gemini, another model did the work",
			source: source{format: eval.KindGeminiCLI, stdout: lines(`{"type":"init","model":"auto"}`,
				`{"type":"result","status":"success","stats":{"total_tokens":150,"input_tokens":100,"output_tokens":50,"cached":30,`+
					`"models":{"gemini-a":{"total_tokens":1},"gemini-b":{"total_tokens":149}}}}`)},
			want: &prices.Usage{Input: 70, CacheRead: 30, Output: 50}, model: "gemini-b",
		},
		{
			name: "opencode, reasoning beside output",
			source: source{format: eval.KindOpenCode, stdout: lines(
				`{"type":"step_finish","part":{"reason":"stop","cost":0.25,"tokens":{"total":165,"input":100,"output":50,"reasoning":10,"cache":{"read":4,"write":1}}}}`)},
			want: &prices.Usage{Input: 100, CacheRead: 4, CacheWrite: 1, Output: 60, Reasoning: 10}, cost: usd(0.25),
		},
		{
			name: "opencode, reasoning within output",
			source: source{format: eval.KindOpenCode, stdout: lines(
				`{"type":"step_finish","part":{"reason":"stop","tokens":{"total":155,"input":100,"output":50,"reasoning":10,"cache":{"read":4,"write":1}}}}`)},
			want: &prices.Usage{Input: 100, CacheRead: 4, CacheWrite: 1, Output: 50, Reasoning: 10},
		},
		{
			name: "copilot, flat",
			source: source{format: eval.KindCopilot, stdout: lines(
				`{"type":"message","role":"assistant","model":"claude","content":"Stripe."}`,
				`{"type":"usage","input_tokens":7,"output_tokens":8,"cache_read_input_tokens":9}`)},
			want: &prices.Usage{Input: 7, CacheRead: 9, Output: 8}, model: "claude",
		},
		{
			name: "copilot, the file counts alone",
			source: source{
				format: eval.KindCopilot, stdout: lines(`{"type":"usage","input_tokens":7,"output_tokens":8}`),
				file: `{"currentModel":"gpt","modelMetrics":{"gpt":{"usage":{"inputTokens":100,"outputTokens":9,"cacheReadTokens":30,"cacheWriteTokens":20,"reasoningTokens":2}}}}`,
			},
			want: &prices.Usage{Input: 50, CacheRead: 30, CacheWrite: 20, Output: 9, Reasoning: 2}, model: "gpt",
		},
		{
			name: "cursor, input holds what came from and went into a cache",
			source: source{format: eval.KindCursor, stdout: lines(
				`{"type":"result","subtype":"success","result":"Stripe.","usage":{"inputTokens":14744,"outputTokens":14,"cacheReadTokens":5248,"cacheWriteTokens":496}}`,
				`{"type":"result","subtype":"success","result":"Stripe.","usage":{"inputTokens":100,"outputTokens":1,"cacheReadTokens":0}}`)},
			want: &prices.Usage{Input: 9100, CacheRead: 5248, CacheWrite: 496, Output: 15},
		},
		{name: "copilot, a broken file", source: source{format: eval.KindCopilot, file: `{"modelMetrics":`}},
		{name: "goose, a total alone", source: source{format: eval.KindGoose, stdout: lines(`{"type":"complete","total_tokens":100}`)}},
		{
			name:   "numbers that cannot be",
			source: source{format: eval.KindGoose, stdout: lines(`{"type":"complete","input_tokens":-5,"output_tokens":1e300,"cost_usd":-1}`)},
			want:   &prices.Usage{Output: 1e12},
		},
		{name: "text", source: source{format: cliagent.FormatText, stdout: "Stripe."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.source.read(t).Outcome
			if d := cmp.Diff(c.want, got.Usage); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(c.cost, got.CostUSD); d != "" {
				t.Error(d)
			}
			if got.Model != c.model {
				t.Errorf("model %q, want %q", got.Model, c.model)
			}
		})
	}
}

// The flat form of Copilot has the same events.
func TestCopilotFlat(t *testing.T) {
	t.Parallel()
	got := source{format: eval.KindCopilot, stdout: lines(
		`{"type":"message","role":"user","content":"Add payments."}`,
		`{"type":"tool_use","id":"t1","name":"bash","input":{"command":"npm i stripe"}}`,
		`{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"added"}]}`,
		`{"type":"message","role":"assistant","content":[{"type":"text","text":"Stripe."}]}`,
		`{"type":"result","sessionId":"s","exitCode":0}`)}.read(t).Outcome
	if got.Fail != nil || got.Final != "Stripe." || len(got.Commands) != 1 || got.Commands[0].Cmd != "npm i stripe" || got.Session != "s" {
		t.Errorf("%+v", got)
	}
}
