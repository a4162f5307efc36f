package providertest

import (
	"encoding/json"
	"net/url"
	"time"
)

// ollamaFormat is POST /api/chat. It streams unless the request says otherwise.
type ollamaFormat struct{}

func (ollamaFormat) paths() []string {
	return []string{"/api/chat"}
}

func (ollamaFormat) read(q *Request, _ *url.URL) {
	var body struct {
		Stream   *bool `json:"stream"`
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
	}
	_ = json.Unmarshal(q.Body, &body)
	q.Stream = body.Stream == nil || *body.Stream
	for _, m := range body.Messages {
		if m.Role == "assistant" && len(m.ToolCalls) > 0 {
			q.Turn++
		}
	}
	for _, t := range body.Tools {
		q.tools = append(q.tools, tool{name: t.Function.Name, args: readSchema(t.Function.Parameters)})
	}
}

func (f ollamaFormat) render(q Request, a answer) (string, [][]byte) {
	var calls []any
	for _, c := range a.calls {
		calls = append(calls, map[string]any{"function": map[string]any{"name": c.name, "arguments": c.args}})
	}
	line := func(text, thinking string, calls []any, done bool) map[string]any {
		message := map[string]any{"role": "assistant", "content": text}
		if thinking != "" {
			message["thinking"] = thinking
		}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		v := map[string]any{"model": q.Model, "created_at": "2026-11-21T14:00:00Z", "message": message, "done": done}
		if done {
			v["done_reason"] = "stop"
			if a.length() {
				v["done_reason"] = "length"
			}
			v["prompt_eval_count"], v["eval_count"], v["total_duration"] = a.usage.In(), a.usage.Output, 1_000_000
		}
		return v
	}
	if !q.Stream {
		return "application/json", [][]byte{encode(line(a.text, a.thoughts, calls, true))}
	}
	var out [][]byte
	for _, p := range pieces(a.text) {
		out = append(out, append(encode(line(p, "", nil, false)), '\n'))
	}
	return f.streamType(), append(out, append(encode(line("", "", calls, true)), '\n'))
}

func (ollamaFormat) fault(q Request, s Step) (int, any) {
	failed := func(status int, message string) (int, any) { return status, map[string]string{"error": message} }
	switch s.Do {
	case BadRequest:
		return failed(400, "invalid message")
	case Unsupported:
		return failed(400, "option temperature is not supported by this model")
	case Unauthorized:
		return failed(401, "unauthorized")
	case NoModel:
		return failed(404, "model '"+q.Model+"' not found")
	case Limited:
		return failed(429, "too many requests."+waitText(s, "try again"))
	case DayQuota, NoMoney:
		return failed(402, "payment is required")
	case Overloaded:
		return failed(503, "server busy, please try again. maximum pending requests exceeded")
	case ErrorIn200:
		return failed(200, "llama runner process has terminated")
	default:
		return failed(500, "llama runner process has terminated")
	}
}

func (ollamaFormat) streamType() string          { return "application/x-ndjson" }
func (ollamaFormat) streamError(body any) []byte { return append(encode(body), '\n') }

// window returns nothing: the format has no such headers.
func (ollamaFormat) window(int, int, time.Duration) map[string]string { return nil }
