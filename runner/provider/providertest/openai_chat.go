package providertest

import (
	"encoding/json"
	"net/url"
	"time"
)

// chatFormat is POST /chat/completions.
type chatFormat struct{}

func (chatFormat) paths() []string {
	return []string{"/chat/completions"}
}

func (chatFormat) read(q *Request, _ *url.URL) {
	var body struct {
		Messages []struct {
			Role      string            `json:"role"`
			ToolCalls []json.RawMessage `json:"tool_calls"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
		Shape struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Schema json.RawMessage `json:"schema"`
			} `json:"json_schema"`
		} `json:"response_format"`
	}
	_ = json.Unmarshal(q.Body, &body)
	for _, m := range body.Messages {
		if m.Role == "assistant" && len(m.ToolCalls) > 0 {
			q.Turn++
		}
	}
	for _, t := range body.Tools {
		q.tools = append(q.tools, tool{name: t.Function.Name, args: readSchema(t.Function.Parameters)})
	}
	q.asJSON, q.shape = body.Shape.Type == "json_object" || body.Shape.Type == "json_schema", readSchema(body.Shape.JSONSchema.Schema)
}

func (chatFormat) usage(a answer) map[string]any {
	u := a.usage
	return map[string]any{
		"prompt_tokens": u.In(), "completion_tokens": u.Output, "total_tokens": u.In() + u.Output,
		"prompt_tokens_details":     map[string]int{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"completion_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning},
	}
}

func (chatFormat) finish(a answer) string {
	switch {
	case a.length():
		return "length"
	case a.do == Blocked:
		return "content_filter"
	case len(a.calls) > 0:
		return "tool_calls"
	default:
		return "stop"
	}
}

func (f chatFormat) render(q Request, a answer) (string, [][]byte) {
	if q.Stream {
		return f.streamType(), f.stream(q, a)
	}
	message := map[string]any{"role": "assistant", "content": a.text, "refusal": nil}
	if a.do == Refusal {
		message["content"], message["refusal"] = nil, a.text
	}
	if len(a.calls) > 0 {
		message["tool_calls"] = f.calls(a, false)
	}
	return "application/json", [][]byte{encode(map[string]any{
		"id": "chatcmpl-" + a.id, "object": "chat.completion", "created": 1764000000, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "logprobs": nil, "finish_reason": f.finish(a)}},
		"usage":   f.usage(a), "system_fingerprint": "fp_fake",
	})}
}

func (chatFormat) calls(a answer, indexed bool) []any {
	var out []any
	for i, c := range a.calls {
		call := map[string]any{"id": c.id, "type": "function", "function": map[string]string{"name": c.name, "arguments": c.arguments()}}
		if indexed {
			call["index"] = i
		}
		out = append(out, call)
	}
	return out
}

func (f chatFormat) stream(q Request, a answer) [][]byte {
	chunk := func(choices []any, usage any) []byte {
		v := map[string]any{"id": "chatcmpl-" + a.id, "object": "chat.completion.chunk", "created": 1764000000, "model": q.Model, "choices": choices}
		if usage != nil {
			v["usage"] = usage
		}
		return event("", v)
	}
	delta := func(d map[string]any, finish any) []byte {
		return chunk([]any{map[string]any{"index": 0, "delta": d, "logprobs": nil, "finish_reason": finish}}, nil)
	}
	out := [][]byte{delta(map[string]any{"role": "assistant", "content": ""}, nil)}
	key := "content"
	if a.do == Refusal {
		key = "refusal"
	}
	for _, p := range pieces(a.text) {
		out = append(out, delta(map[string]any{key: p}, nil))
	}
	if len(a.calls) > 0 {
		out = append(out, delta(map[string]any{"tool_calls": f.calls(a, true)}, nil))
	}
	return append(out, delta(map[string]any{}, f.finish(a)), chunk([]any{}, f.usage(a)), []byte("data: [DONE]\n\n"))
}

func (chatFormat) fault(q Request, s Step) (int, any) { return openAIFault(q, s) }
func (chatFormat) streamType() string                 { return "text/event-stream" }
func (chatFormat) streamError(body any) []byte        { return event("", body) }
func (chatFormat) window(limit, left int, reset time.Duration) map[string]string {
	return openAIWindow(limit, left, reset)
}
