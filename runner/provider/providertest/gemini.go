package providertest

import (
	"encoding/json"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
)

// geminiFormat is POST /v1beta/models/{model}:generateContent, and
// :streamGenerateContent.
type geminiFormat struct{}

func (geminiFormat) paths() []string {
	return []string{":generateContent", ":streamGenerateContent", ":countTokens"}
}

func (geminiFormat) read(q *Request, u *url.URL) {
	model, verb, _ := strings.Cut(path.Base(u.Path), ":")
	q.Model, q.Stream, q.sse = model, verb == "streamGenerateContent", u.Query().Get("alt") == "sse"
	var body struct {
		Contents []struct {
			Role  string `json:"role"`
			Parts []struct {
				Call json.RawMessage `json:"functionCall"`
			} `json:"parts"`
		} `json:"contents"`
		Tools []struct {
			Functions []struct {
				Name       string          `json:"name"`
				Parameters json.RawMessage `json:"parameters"`
				JSONSchema json.RawMessage `json:"parametersJsonSchema"`
			} `json:"functionDeclarations"`
		} `json:"tools"`
		Config struct {
			MIME       string          `json:"responseMimeType"`
			JSONSchema json.RawMessage `json:"responseJsonSchema"`
			Schema     json.RawMessage `json:"responseSchema"`
		} `json:"generationConfig"`
	}
	_ = json.Unmarshal(q.Body, &body)
	for _, c := range body.Contents {
		for _, p := range c.Parts {
			if c.Role == "model" && len(p.Call) > 0 {
				q.Turn++
				break
			}
		}
	}
	either := func(a, b json.RawMessage) *schema {
		if len(a) == 0 {
			a = b
		}
		return readSchema(a)
	}
	for _, t := range body.Tools {
		for _, f := range t.Functions {
			q.tools = append(q.tools, tool{name: f.Name, args: either(f.JSONSchema, f.Parameters)})
		}
	}
	q.asJSON, q.shape = body.Config.MIME == "application/json", either(body.Config.JSONSchema, body.Config.Schema)
}

func (geminiFormat) finish(a answer) string {
	switch {
	case a.length():
		return "MAX_TOKENS"
	case a.do == Refusal:
		return "SAFETY"
	default:
		return "STOP"
	}
}

// chunk is a response, whole or a part of one. Only the last has a finish reason.
func (f geminiFormat) chunk(q Request, a answer, parts []any, last bool) map[string]any {
	u := a.usage
	usage := map[string]int{
		"promptTokenCount": u.In(), "cachedContentTokenCount": u.CacheRead, "candidatesTokenCount": u.Output - u.Reasoning,
		"thoughtsTokenCount": u.Reasoning, "totalTokenCount": u.In() + u.Output,
	}
	out := map[string]any{"usageMetadata": usage, "modelVersion": q.Model, "responseId": a.id}
	if a.do == Blocked {
		out["promptFeedback"] = map[string]string{"blockReason": "PROHIBITED_CONTENT"}
		usage["candidatesTokenCount"], usage["thoughtsTokenCount"] = 0, 0
		return out
	}
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	if len(parts) == 0 {
		candidate["content"] = map[string]any{"role": "model"}
	}
	if last {
		candidate["finishReason"] = f.finish(a)
		if u.Searches > 0 {
			queries := make([]string, u.Searches)
			for i := range queries {
				queries[i] = "payments " + string(rune('a'+i))
			}
			candidate["groundingMetadata"] = map[string]any{"webSearchQueries": queries}
		}
	}
	out["candidates"] = []any{candidate}
	return out
}

func (geminiFormat) calls(a answer) []any {
	var out []any
	for _, c := range a.calls {
		out = append(out, map[string]any{"functionCall": map[string]any{"id": c.id, "name": c.name, "args": c.args}})
	}
	return out
}

func (f geminiFormat) render(q Request, a answer) (string, [][]byte) {
	thought := []any{}
	if a.thoughts != "" {
		thought = append(thought, map[string]any{"text": a.thoughts, "thought": true})
	}
	if !q.Stream {
		parts := thought
		if a.text != "" {
			parts = append(parts, map[string]any{"text": a.text})
		}
		return "application/json", [][]byte{encode(f.chunk(q, a, append(parts, f.calls(a)...), true))}
	}
	var all []map[string]any
	if len(thought) > 0 {
		all = append(all, f.chunk(q, a, thought, false))
	}
	for _, p := range pieces(a.text) {
		all = append(all, f.chunk(q, a, []any{map[string]any{"text": p}}, false))
	}
	all = append(all, f.chunk(q, a, f.calls(a), true))
	if !q.sse {
		return "application/json", [][]byte{encode(all)}
	}
	var out [][]byte
	for _, c := range all {
		out = append(out, event("", c))
	}
	return f.streamType(), out
}

func (geminiFormat) fault(q Request, s Step) (int, any) {
	failed := func(code int, status, message string, details ...any) (int, any) {
		e := map[string]any{"code": code, "status": status, "message": message}
		if len(details) > 0 {
			e["details"] = details
		}
		return code, map[string]any{"error": e}
	}
	const google = "type.googleapis.com/google.rpc."
	quota := func(id string) any {
		return map[string]any{"@type": google + "QuotaFailure", "violations": []any{map[string]string{
			"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests", "quotaId": id, "quotaValue": "50",
		}}}
	}
	wait := func(d time.Duration) any {
		return map[string]string{"@type": google + "RetryInfo", "retryDelay": strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"}
	}
	switch s.Do {
	case BadRequest:
		return failed(400, "INVALID_ARGUMENT", "Request contains an invalid argument.")
	case Unsupported:
		return failed(400, "INVALID_ARGUMENT", "Unsupported value for temperature: this model does not support it.")
	case Unauthorized:
		return failed(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			map[string]any{"@type": google + "ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"})
	case NoModel:
		return failed(404, "NOT_FOUND", "models/"+q.Model+" is not found for API version v1beta.")
	case Limited:
		details := []any{quota("GenerateRequestsPerMinutePerProjectPerModel")}
		if s.Style == InText {
			details = append(details, wait(s.Wait))
		}
		return failed(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota."+waitText(s, "retry"), details...)
	case DayQuota:
		return failed(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 10h17m34.074s.",
			quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), wait(10*time.Hour+17*time.Minute))
	case NoMoney:
		return failed(429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: "+q.Model)
	case Overloaded:
		return failed(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
	case ErrorIn200:
		_, body := failed(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
		return 200, body
	default:
		return failed(500, "INTERNAL", "An internal error has occurred.")
	}
}

func (geminiFormat) streamType() string          { return "text/event-stream" }
func (geminiFormat) streamError(body any) []byte { return event("", body) }

// window returns nothing: the format has no such headers.
func (geminiFormat) window(int, int, time.Duration) map[string]string { return nil }
