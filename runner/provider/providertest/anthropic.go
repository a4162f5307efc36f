package providertest

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// anthropicFormat is POST /v1/messages.
type anthropicFormat struct{}

func (anthropicFormat) paths() []string {
	return []string{"/messages", "/messages/count_tokens"}
}

func (anthropicFormat) read(q *Request, _ *url.URL) {
	var body struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []struct {
			Name   string          `json:"name"`
			Schema json.RawMessage `json:"input_schema"`
		} `json:"tools"`
		Output struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	_ = json.Unmarshal(q.Body, &body)
	for _, m := range body.Messages {
		var blocks []struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(m.Content, &blocks) // a plain text calls nothing
		for _, b := range blocks {
			if m.Role == "assistant" && b.Type == "tool_use" {
				q.Turn++
				break
			}
		}
	}
	for _, t := range body.Tools {
		q.tools = append(q.tools, tool{name: t.Name, args: readSchema(t.Schema)})
	}
	q.asJSON, q.shape = body.Output.Format.Type == "json_schema", readSchema(body.Output.Format.Schema)
}

func (anthropicFormat) usage(a answer) map[string]any {
	u := map[string]any{
		"input_tokens": a.usage.Input, "cache_creation_input_tokens": a.usage.CacheWrite, "cache_read_input_tokens": a.usage.CacheRead,
		"output_tokens": a.usage.Output, "service_tier": "standard",
	}
	if a.usage.Searches > 0 {
		u["server_tool_use"] = map[string]int{"web_search_requests": a.usage.Searches}
	}
	return u
}

func (anthropicFormat) stop(a answer) string {
	switch {
	case a.length():
		return "max_tokens"
	case a.do == Refusal, a.do == Blocked:
		return "refusal"
	case a.do == Pause:
		return "pause_turn"
	case len(a.calls) > 0:
		return "tool_use"
	default:
		return "end_turn"
	}
}

func (anthropicFormat) blocks(a answer) []map[string]any {
	out := []map[string]any{}
	if a.thoughts != "" {
		out = append(out, map[string]any{"type": "thinking", "thinking": a.thoughts, "signature": "c2lnbmF0dXJl"})
	}
	for range a.usage.Searches {
		out = append(out,
			map[string]any{"type": "server_tool_use", "id": "srvtoolu_" + a.id, "name": "web_search", "input": map[string]string{"query": "payments"}},
			map[string]any{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_" + a.id, "content": []any{map[string]string{
				"type": "web_search_result", "url": "https://example.com/", "title": "Payments", "encrypted_content": "ZW5jcnlwdGVk",
			}}})
	}
	if a.text != "" {
		out = append(out, map[string]any{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		out = append(out, map[string]any{"type": "tool_use", "id": "toolu_" + c.id, "name": c.name, "input": c.args})
	}
	return out
}

func (f anthropicFormat) render(q Request, a answer) (string, [][]byte) {
	message := map[string]any{
		"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": q.Model, "content": f.blocks(a),
		"stop_reason": f.stop(a), "stop_sequence": nil, "usage": f.usage(a),
	}
	if !q.Stream {
		return "application/json", [][]byte{encode(message)}
	}
	begun := f.usage(a)
	begun["output_tokens"] = 1
	message["content"], message["stop_reason"], message["usage"] = []any{}, nil, begun
	out := [][]byte{
		event("message_start", map[string]any{"type": "message_start", "message": message}),
		event("ping", map[string]any{"type": "ping"}),
	}
	for i, b := range f.blocks(a) {
		out = append(out, f.block(i, b)...)
	}
	return f.streamType(), append(out,
		event("message_delta", map[string]any{
			"type": "message_delta", "delta": map[string]any{"stop_reason": f.stop(a), "stop_sequence": nil}, "usage": f.usage(a),
		}),
		event("message_stop", map[string]any{"type": "message_stop"}))
}

// block streams one block of content: it starts empty, is filled, and stops.
func (anthropicFormat) block(i int, b map[string]any) [][]byte {
	var out [][]byte
	add := func(name string, v map[string]any) {
		v["type"], v["index"] = name, i
		out = append(out, event(name, v))
	}
	fill := func(kind, key, value string) {
		for _, p := range pieces(value) {
			add("content_block_delta", map[string]any{"delta": map[string]any{"type": kind, key: p}})
		}
	}
	start := func(v map[string]any) { add("content_block_start", map[string]any{"content_block": v}) }
	switch b["type"] {
	case "text":
		start(map[string]any{"type": "text", "text": ""})
		fill("text_delta", "text", b["text"].(string))
	case "thinking":
		start(map[string]any{"type": "thinking", "thinking": "", "signature": ""})
		fill("thinking_delta", "thinking", b["thinking"].(string))
		fill("signature_delta", "signature", b["signature"].(string))
	case "tool_use", "server_tool_use":
		start(map[string]any{"type": b["type"], "id": b["id"], "name": b["name"], "input": map[string]any{}})
		fill("input_json_delta", "partial_json", string(encode(b["input"])))
	default:
		start(b)
	}
	add("content_block_stop", map[string]any{})
	return out
}

func (anthropicFormat) fault(q Request, s Step) (int, any) {
	failed := func(status int, kind, message string) (int, any) {
		return status, map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}, "request_id": "req_fake"}
	}
	switch s.Do {
	case BadRequest:
		return failed(400, "invalid_request_error", "messages: roles must alternate")
	case Unsupported:
		return failed(400, "invalid_request_error", "`temperature` is deprecated for this model.")
	case Unauthorized:
		return failed(401, "authentication_error", "invalid x-api-key")
	case NoModel:
		return failed(404, "not_found_error", "model: "+q.Model)
	case Limited:
		return failed(429, "rate_limit_error", "This request would exceed your organization's rate limit."+waitText(s, "try again"))
	case DayQuota, NoMoney:
		return failed(429, "enforced_spend_limit_reached", "Your organization has reached its spend limit.")
	case Overloaded:
		return failed(529, "overloaded_error", "Overloaded")
	case ErrorIn200:
		return failed(200, "overloaded_error", "Overloaded")
	default:
		return failed(500, "api_error", "Internal server error")
	}
}

func (anthropicFormat) streamType() string          { return "text/event-stream" }
func (anthropicFormat) streamError(body any) []byte { return event("error", body) }

// window states the reset as a time of day, by the Date header.
func (anthropicFormat) window(limit, left int, reset time.Duration) map[string]string {
	now := time.Date(2026, 11, 21, 14, 0, 0, 0, time.UTC)
	return map[string]string{
		"Date":                               now.Format("Mon, 02 Jan 2006 15:04:05 GMT"),
		"Anthropic-Ratelimit-Requests-Limit": strconv.Itoa(limit), "Anthropic-Ratelimit-Requests-Remaining": strconv.Itoa(left),
		"Anthropic-Ratelimit-Requests-Reset": now.Add(reset).Format(time.RFC3339Nano),
	}
}
