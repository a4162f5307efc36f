package provider

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// anthropic is POST /v1/messages.
type anthropic struct{}

func (anthropic) path(string) string         { return "/v1/messages" }
func (anthropic) lookup(model string) string { return "/v1/models/" + url.PathEscape(model) }
func (anthropic) has([]byte, string) bool    { return true }

func (anthropic) sign(h http.Header, key string) {
	h.Set("X-Api-Key", key)
	h.Set("Anthropic-Version", "2023-06-01")
}

func (anthropic) encode(a eval.Agent, q request) any {
	type config struct {
		Effort string `json:"effort"`
	}
	type tool struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		MaxUses int    `json:"max_uses"`
	}
	body := struct {
		Model       string    `json:"model"`
		MaxTokens   int       `json:"max_tokens"`
		System      string    `json:"system,omitempty"`
		Messages    []message `json:"messages"`
		Temperature *float64  `json:"temperature,omitempty"`
		Output      *config   `json:"output_config,omitempty"`
		Tools       []tool    `json:"tools,omitempty"`
	}{Model: a.Model, MaxTokens: q.maxTokens, System: q.system, Messages: []message{{"user", q.prompt}}, Temperature: a.Temperature}
	if len(q.paused) > 0 {
		body.Messages = append(body.Messages, message{"assistant", q.paused})
	}
	if a.Effort != "" {
		body.Output = &config{a.Effort}
	}
	if searchesWeb(a) {
		body.Tools = []tool{{"web_search_20250305", "web_search", q.searches}}
	}
	return body
}

func (anthropic) decode(body []byte) (answer, error) {
	var r struct {
		Model   string            `json:"model"`
		Content []json.RawMessage `json:"content"`
		Stop    string            `json:"stop_reason"`
		Usage   *struct {
			In         tokens `json:"input_tokens"`
			Out        tokens `json:"output_tokens"`
			Read       tokens `json:"cache_read_input_tokens"`
			Written    tokens `json:"cache_creation_input_tokens"`
			ServerTool struct {
				Searches tokens `json:"web_search_requests"`
			} `json:"server_tool_use"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, err
	}
	if f := failureIn(r.Error); f != nil {
		return answer{}, f
	}
	if r.Content == nil {
		return answer{}, errors.New("it has no content")
	}
	a := answer{model: r.Model}
	var err error
	if a.text, err = blockText(r.Content); err != nil {
		return answer{}, err
	}
	switch r.Stop {
	case "max_tokens", "model_context_window_exceeded":
		a.stop = transcript.StopLength
	case "refusal":
		a.stop = transcript.StopRefusal
	case "pause_turn":
		a.paused = r.Content
	}
	if u := r.Usage; u != nil {
		a.usage = &prices.Usage{
			Input: int(u.In), CacheRead: int(u.Read), CacheWrite: int(u.Written),
			Output: int(u.Out), Searches: int(u.ServerTool.Searches),
		}
	}
	return a, nil
}

// blockText joins the text blocks. Citations cut one text in many blocks, so
// neighbours belong together; a search between two separates paragraphs.
func blockText(blocks []json.RawMessage) (string, error) {
	var runs []string
	open := false
	for _, raw := range blocks {
		var b struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		if err := json.Unmarshal(raw, &b); err != nil {
			return "", err
		}
		switch {
		case b.Type != "text":
			open = false
		case open:
			runs[len(runs)-1] += b.Text
		default:
			runs, open = append(runs, b.Text), true
		}
	}
	return paragraphs(runs), nil
}
