package provider

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// openAIChat is POST /chat/completions, which many other servers speak too.
type openAIChat struct{ openAI }

func (openAIChat) path(string) string { return "/chat/completions" }

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

func (openAIChat) encode(a eval.Agent, q request) any {
	return struct {
		Model       string    `json:"model"`
		Messages    []message `json:"messages"`
		MaxTokens   int       `json:"max_completion_tokens,omitempty"`
		Temperature *float64  `json:"temperature,omitempty"`
		Seed        uint64    `json:"seed,omitempty"`
		Effort      string    `json:"reasoning_effort,omitempty"`
	}{a.Model, q.messages(), q.maxTokens, a.Temperature, a.Seed, a.Effort}
}

type chatMessage struct {
	Content json.RawMessage `json:"content"`
	Refusal string          `json:"refusal"`
}

func (openAIChat) decode(body []byte) (answer, error) {
	var r struct {
		Model   string `json:"model"`
		Choices []struct {
			Message      *chatMessage    `json:"message"`
			FinishReason string          `json:"finish_reason"`
			Error        json.RawMessage `json:"error"`
		} `json:"choices"`
		Usage *struct {
			In         tokens        `json:"prompt_tokens"`
			Out        tokens        `json:"completion_tokens"`
			InDetails  openAIDetails `json:"prompt_tokens_details"`
			OutDetails openAIDetails `json:"completion_tokens_details"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, err
	}
	if f := failureIn(r.Error); f != nil {
		return answer{}, f
	}
	if len(r.Choices) == 0 {
		return answer{}, errors.New("it has no choices")
	}
	choice := r.Choices[0]
	if f := failureIn(choice.Error); f != nil { // as some routers report an upstream error
		return answer{}, f
	}
	if choice.Message == nil {
		return answer{}, errors.New("its choice has no message")
	}
	text, err := contentText(choice.Message.Content)
	if err != nil {
		return answer{}, err
	}
	a := answer{text: text, model: r.Model}
	switch {
	case choice.Message.Refusal != "":
		a.stop = transcript.StopRefusal
		if text == "" {
			a.text = choice.Message.Refusal
		}
	case choice.FinishReason == "content_filter":
		a.stop = transcript.StopRefusal
	case choice.FinishReason == "length":
		a.stop = transcript.StopLength
	}
	if u := r.Usage; u != nil {
		a.usage = openAIUsage(u.In, u.Out, u.InDetails, u.OutDetails)
	}
	return a, nil
}

// contentText reads content as the format has it, a text or null, and as some
// compatible servers do, a list of parts.
func contentText(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return text, nil
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", errors.New("the message's content is neither a string nor a list of parts")
	}
	var all strings.Builder
	for _, p := range parts {
		if p.Type == "text" {
			all.WriteString(p.Text)
		}
	}
	return all.String(), nil
}
