package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// ollama is POST /api/chat on an Ollama server.
type ollama struct{}

func (ollama) path(string) string             { return "/api/chat" }
func (ollama) lookup(string) string           { return "/api/tags" }
func (ollama) sign(h http.Header, key string) { h.Set("Authorization", "Bearer "+key) }

// minContext is the minimum context size in tokens. The server's default is smaller, and
// it truncates in silence.
const minContext = 16384

// context returns a context size for a prompt and its answer: a power of two, because
// the server reloads a model whenever the size changes.
func (ollama) context(q request) int {
	const answer = 4096 // if no length is set
	need := (len(q.prompt)+len(q.system))/2 + max(q.maxTokens, answer)
	size := minContext
	for size < need {
		size *= 2
	}
	return size
}

func (o ollama) encode(a eval.Agent, q request) any {
	type options struct {
		Context     int      `json:"num_ctx"`
		MaxTokens   int      `json:"num_predict,omitempty"`
		Temperature *float64 `json:"temperature,omitempty"`
		Seed        uint64   `json:"seed,omitempty"`
	}
	return struct {
		Model    string    `json:"model"`
		Messages []message `json:"messages"`
		Stream   bool      `json:"stream"`
		Options  options   `json:"options"`
	}{a.Model, q.messages(), false, options{o.context(q), q.maxTokens, a.Temperature, a.Seed}}
}

func (ollama) decode(body []byte) (answer, error) {
	var r struct {
		Model   string `json:"model"`
		Message *struct {
			Content string `json:"content"`
		} `json:"message"`
		Done   bool            `json:"done"`
		Reason string          `json:"done_reason"`
		In     *tokens         `json:"prompt_eval_count"`
		Out    *tokens         `json:"eval_count"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, err
	}
	if f := failureIn(r.Error); f != nil {
		return answer{}, f
	}
	switch {
	case r.Message == nil:
		return answer{}, errors.New("it has no message")
	case !r.Done:
		return answer{}, errors.New("it is not done")
	case r.Reason == "load", r.Reason == "unload":
		return answer{}, fmt.Errorf("the server only says %q", r.Reason)
	}
	a := answer{text: r.Message.Content, model: r.Model}
	if r.Reason == "length" {
		a.stop = transcript.StopLength
	}
	if r.Out != nil {
		a.usage = &prices.Usage{Output: int(*r.Out)}
		if r.In != nil {
			a.usage.Input = int(*r.In)
		}
	}
	return a, nil
}

// has parses the list of pulled models. A model without a tag means the latest.
func (ollama) has(body []byte, model string) bool {
	var list struct {
		Models []struct {
			Name  string `json:"name"`
			Model string `json:"model"`
		} `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil || list.Models == nil {
		return true // unknown
	}
	for _, m := range list.Models {
		for _, name := range []string{m.Name, m.Model} {
			if name == model || name == model+":latest" {
				return true
			}
		}
	}
	return false
}
