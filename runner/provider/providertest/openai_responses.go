package providertest

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"time"
)

// responsesFormat is POST /responses.
type responsesFormat struct{}

func (responsesFormat) paths() []string {
	return []string{"/responses"}
}

func (responsesFormat) read(q *Request, _ *url.URL) {
	var body struct {
		Input json.RawMessage `json:"input"`
		Tools []struct {
			Type       string          `json:"type"`
			Name       string          `json:"name"`
			Parameters json.RawMessage `json:"parameters"`
		} `json:"tools"`
		Text struct {
			Format struct {
				Type   string          `json:"type"`
				Schema json.RawMessage `json:"schema"`
			} `json:"format"`
		} `json:"text"`
	}
	_ = json.Unmarshal(q.Body, &body)
	var items []struct {
		Type string `json:"type"`
	}
	_ = json.Unmarshal(body.Input, &items) // a string, not a list: the start of the conversation
	before := false
	for _, item := range items {
		is := slices.Contains([]string{"function_call", "custom_tool_call", "local_shell_call"}, item.Type)
		if is && !before { // calls of one round are adjacent
			q.Turn++
		}
		before = is
	}
	for _, t := range body.Tools {
		switch t.Type {
		case "function":
			q.tools = append(q.tools, tool{name: t.Name, args: readSchema(t.Parameters)})
		case "custom":
			q.tools = append(q.tools, tool{name: t.Name, custom: true})
		}
	}
	q.asJSON, q.shape = body.Text.Format.Type == "json_schema" || body.Text.Format.Type == "json_object", readSchema(body.Text.Format.Schema)
}

// items returns the parts of a complete answer.
func (responsesFormat) items(a answer) []map[string]any {
	out := []map[string]any{}
	if a.thoughts != "" {
		out = append(out, map[string]any{
			"type": "reasoning", "id": "rs_" + a.id, "summary": []any{map[string]string{"type": "summary_text", "text": a.thoughts}},
		})
	}
	for range a.usage.Searches {
		out = append(out, map[string]any{
			"type": "web_search_call", "id": "ws_" + a.id, "status": "completed", "action": map[string]string{"type": "search", "query": "payments"},
		})
	}
	if a.text != "" || len(a.calls) == 0 && a.do != EmptyLength {
		part := map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}
		if a.do == Refusal {
			part = map[string]any{"type": "refusal", "refusal": a.text}
		}
		out = append(out, map[string]any{"type": "message", "id": "msg_" + a.id, "status": "completed", "role": "assistant", "content": []any{part}})
	}
	for _, c := range a.calls {
		item := map[string]any{"type": "function_call", "id": "fc_" + c.id, "call_id": c.id, "name": c.name, "status": "completed", "arguments": c.arguments()}
		if c.custom {
			item = map[string]any{"type": "custom_tool_call", "id": "ctc_" + c.id, "call_id": c.id, "name": c.name, "status": "completed", "input": c.input}
		}
		out = append(out, item)
	}
	return out
}

// whole is the response object; with status in_progress it has neither output nor
// usage.
func (f responsesFormat) whole(q Request, a answer, status string) map[string]any {
	r := map[string]any{
		"id": "resp_" + a.id, "object": "response", "created_at": 1764000000, "status": status, "model": q.Model,
		"error": nil, "incomplete_details": nil, "output": []any{}, "usage": nil, "parallel_tool_calls": true,
	}
	if status == "in_progress" {
		return r
	}
	u := a.usage
	r["output"] = f.items(a)
	r["usage"] = map[string]any{
		"input_tokens": u.In(), "input_tokens_details": map[string]int{"cached_tokens": u.CacheRead, "cache_write_tokens": u.CacheWrite},
		"output_tokens": u.Output, "output_tokens_details": map[string]int{"reasoning_tokens": u.Reasoning}, "total_tokens": u.In() + u.Output,
	}
	switch {
	case a.length():
		r["incomplete_details"] = map[string]string{"reason": "max_output_tokens"}
	case a.do == Blocked:
		r["incomplete_details"] = map[string]string{"reason": "content_filter"}
	}
	return r
}

func (responsesFormat) status(a answer) string {
	if a.length() || a.do == Blocked {
		return "incomplete"
	}
	return "completed"
}

func (f responsesFormat) render(q Request, a answer) (string, [][]byte) {
	status := f.status(a)
	if !q.Stream {
		return "application/json", [][]byte{encode(f.whole(q, a, status))}
	}
	s := &responseStream{}
	s.add("response.created", map[string]any{"response": f.whole(q, a, "in_progress")})
	s.add("response.in_progress", map[string]any{"response": f.whole(q, a, "in_progress")})
	for i, item := range f.items(a) {
		s.item(i, item)
	}
	s.add("response."+status, map[string]any{"response": f.whole(q, a, status)})
	return f.streamType(), s.out
}

// A responseStream numbers its events.
type responseStream struct{ out [][]byte }

func (s *responseStream) add(name string, v map[string]any) {
	v["type"], v["sequence_number"] = name, len(s.out)
	s.out = append(s.out, event(name, v))
}

// item streams one part of an answer: it is added empty, filled, and done.
func (s *responseStream) item(index int, item map[string]any) {
	id, begun := item["id"], maps.Clone(item)
	begun["status"] = "in_progress"
	at := func(more map[string]any) map[string]any {
		more["output_index"], more["item_id"] = index, id
		return more
	}
	added := func() { s.add("response.output_item.added", map[string]any{"output_index": index, "item": begun}) }
	fill := func(name, key, value string) {
		added()
		for _, p := range pieces(value) {
			s.add("response."+name+".delta", at(map[string]any{"delta": p}))
		}
		s.add("response."+name+".done", at(map[string]any{key: value}))
	}
	switch item["type"] {
	case "message":
		begun["content"] = []any{}
		added()
		s.part(at, item["content"].([]any)[0].(map[string]any))
	case "function_call":
		begun["arguments"] = ""
		fill("function_call_arguments", "arguments", item["arguments"].(string))
	case "custom_tool_call":
		begun["input"] = ""
		fill("custom_tool_call_input", "input", item["input"].(string))
	default:
		added()
	}
	s.add("response.output_item.done", map[string]any{"output_index": index, "item": item})
}

// part streams the only part of a message.
func (s *responseStream) part(at func(map[string]any) map[string]any, part map[string]any) {
	kind, key := "output_text", "text"
	if part["type"] == "refusal" {
		kind, key = "refusal", "refusal"
	}
	begun := maps.Clone(part)
	begun[key] = ""
	s.add("response.content_part.added", at(map[string]any{"content_index": 0, "part": begun}))
	for _, p := range pieces(part[key].(string)) {
		s.add("response."+kind+".delta", at(map[string]any{"content_index": 0, "delta": p}))
	}
	s.add("response."+kind+".done", at(map[string]any{"content_index": 0, key: part[key]}))
	s.add("response.content_part.done", at(map[string]any{"content_index": 0, "part": part}))
}

func (responsesFormat) fault(q Request, s Step) (int, any) {
	if s.Do == ErrorIn200 && !q.Stream {
		return 200, map[string]any{
			"id": "resp_failed", "object": "response", "status": "failed", "model": q.Model, "output": []any{}, "usage": nil,
			"error": map[string]string{"code": "server_error", "message": "The server had an error while processing the request."},
		}
	}
	return openAIFault(q, s)
}

func (responsesFormat) streamType() string { return "text/event-stream" }

func (responsesFormat) streamError(body any) []byte {
	e := body.(map[string]any)["error"]
	return event("response.failed", map[string]any{
		"type": "response.failed", "sequence_number": 0,
		"response": map[string]any{"id": "resp_failed", "object": "response", "status": "failed", "error": e, "output": []any{}},
	})
}

func (responsesFormat) window(limit, left int, reset time.Duration) map[string]string {
	return openAIWindow(limit, left, reset)
}
