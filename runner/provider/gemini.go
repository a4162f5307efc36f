package provider

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// gemini is POST /v1beta/models/{model}:generateContent.
type gemini struct{}

func (g gemini) path(model string) string { return g.lookup(model) + ":generateContent" }

func (gemini) lookup(model string) string {
	return "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(model, "models/"))
}

func (gemini) has([]byte, string) bool        { return true }
func (gemini) sign(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }

type geminiContent struct {
	Role  string       `json:"role,omitempty"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought,omitempty"`
}

func (gemini) encode(a eval.Agent, q request) any {
	type config struct {
		MaxTokens   int      `json:"maxOutputTokens,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        uint64   `json:"seed,omitempty"`
	}
	type tool struct {
		Search struct{} `json:"google_search"`
	}
	body := struct {
		System   *geminiContent  `json:"systemInstruction,omitempty"`
		Contents []geminiContent `json:"contents"`
		Config   *config         `json:"generationConfig,omitempty"`
		Tools    []tool          `json:"tools,omitempty"`
	}{Contents: []geminiContent{{Role: "user", Parts: []geminiPart{{Text: q.prompt}}}}}
	if q.system != "" {
		body.System = &geminiContent{Parts: []geminiPart{{Text: q.system}}}
	}
	if c := (config{q.maxTokens, a.Temperature, a.Seed}); c != (config{}) {
		body.Config = &c
	}
	if searchesWeb(a) {
		body.Tools = []tool{{}}
	}
	return body
}

func (gemini) decode(body []byte) (answer, error) {
	var r struct {
		Model      string `json:"modelVersion"`
		Candidates []struct {
			Content   geminiContent `json:"content"`
			Finish    string        `json:"finishReason"`
			Grounding struct {
				Queries []string `json:"webSearchQueries"`
			} `json:"groundingMetadata"`
		} `json:"candidates"`
		Feedback struct {
			Blocked string `json:"blockReason"`
		} `json:"promptFeedback"`
		Usage *struct {
			In       tokens `json:"promptTokenCount"`
			Tools    tokens `json:"toolUsePromptTokenCount"`
			Cached   tokens `json:"cachedContentTokenCount"`
			Out      tokens `json:"candidatesTokenCount"`
			Thoughts tokens `json:"thoughtsTokenCount"`
		} `json:"usageMetadata"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, err
	}
	if f := failureIn(r.Error); f != nil {
		return answer{}, f
	}
	a := answer{model: r.Model}
	if u := r.Usage; u != nil {
		a.usage = &prices.Usage{
			Input: (u.In + u.Tools).less(u.Cached), CacheRead: int(u.Cached),
			Output: int(u.Out + u.Thoughts), Reasoning: int(u.Thoughts),
		}
	}
	if len(r.Candidates) == 0 {
		if r.Feedback.Blocked == "" {
			return answer{}, errors.New("it has no candidates")
		}
		a.stop = transcript.StopRefusal
		return a, nil
	}
	first := r.Candidates[0]
	var text strings.Builder
	for _, p := range first.Content.Parts {
		if !p.Thought {
			text.WriteString(p.Text)
		}
	}
	a.text, a.stop = text.String(), geminiStop(first.Finish)
	if a.usage != nil {
		a.usage.Searches = groundings(r.Model, first.Grounding.Queries)
	}
	return a, nil
}

func geminiStop(finish string) transcript.Stop {
	switch finish {
	case "MAX_TOKENS":
		return transcript.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return transcript.StopRefusal
	default:
		return transcript.StopEnd
	}
}

// groundings counts the searches that are charged: each distinct query, or for
// second-generation models each answer with a search.
func groundings(model string, queries []string) int {
	distinct := map[string]bool{}
	for _, q := range queries {
		if q = strings.TrimSpace(q); q != "" {
			distinct[q] = true
		}
	}
	if strings.HasPrefix(model, "gemini-2") {
		return min(1, len(distinct))
	}
	return len(distinct)
}
