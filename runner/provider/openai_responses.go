package provider

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// openAIResponses is POST /responses.
type openAIResponses struct{ openAI }

func (openAIResponses) path(string) string { return "/responses" }

func (openAIResponses) encode(a eval.Agent, q request) any {
	type effort struct {
		Effort string `json:"effort"`
	}
	type tool struct {
		Type string `json:"type"`
	}
	body := struct {
		Model        string   `json:"model"`
		Instructions string   `json:"instructions,omitempty"`
		Input        string   `json:"input"`
		MaxTokens    int      `json:"max_output_tokens,omitempty"`
		Temperature  *float64 `json:"temperature,omitempty"`
		Reasoning    *effort  `json:"reasoning,omitempty"`
		Tools        []tool   `json:"tools,omitempty"`
		MaxToolCalls int      `json:"max_tool_calls,omitempty"`
	}{Model: a.Model, Instructions: q.system, Input: q.prompt, MaxTokens: q.maxTokens, Temperature: a.Temperature}
	if a.Effort != "" {
		body.Reasoning = &effort{a.Effort}
	}
	if searchesWeb(a) {
		body.Tools, body.MaxToolCalls = []tool{{"web_search"}}, q.searches
	}
	return body
}

// A responseItem is one part of the output: a message, a web search, reasoning.
type responseItem struct {
	Type    string `json:"type"`
	Content []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
	Action struct {
		Type string `json:"type"`
	} `json:"action"`
}

func (openAIResponses) decode(body []byte) (answer, error) {
	var r struct {
		Model      string          `json:"model"`
		Status     string          `json:"status"`
		Error      json.RawMessage `json:"error"`
		Incomplete struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
		Output []responseItem `json:"output"`
		Usage  *struct {
			In         tokens        `json:"input_tokens"`
			Out        tokens        `json:"output_tokens"`
			InDetails  openAIDetails `json:"input_tokens_details"`
			OutDetails openAIDetails `json:"output_tokens_details"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return answer{}, err
	}
	if f := failureIn(r.Error); f != nil {
		return answer{}, f
	}
	switch {
	case r.Output == nil:
		return answer{}, errors.New("it has no output")
	case r.Status != "completed" && r.Status != "incomplete" && r.Status != "":
		return answer{}, fmt.Errorf("its status is %q", clip(r.Status))
	}
	a := answer{model: r.Model}
	a.text, a.stop = responseText(r.Output)
	switch r.Incomplete.Reason {
	case "max_output_tokens":
		a.stop = transcript.StopLength
	case "content_filter":
		a.stop = transcript.StopRefusal
	}
	if u := r.Usage; u != nil {
		a.usage = openAIUsage(u.In, u.Out, u.InDetails, u.OutDetails)
		a.usage.Searches = searches(r.Output)
	}
	return a, nil
}

func responseText(items []responseItem) (text string, stop transcript.Stop) {
	var messages []string
	for _, item := range items {
		if item.Type != "message" {
			continue
		}
		var b strings.Builder
		for _, part := range item.Content {
			b.WriteString(part.Text)
			if part.Type == "refusal" {
				b.WriteString(part.Refusal)
				stop = transcript.StopRefusal
			}
		}
		messages = append(messages, b.String())
	}
	return paragraphs(messages), stop
}

// searches counts the web searches that are charged: opening a result is a separate,
// free item.
func searches(items []responseItem) int {
	n := 0
	for _, item := range items {
		if item.Type == "web_search_call" && (item.Action.Type == "search" || item.Action.Type == "") {
			n++
		}
	}
	return n
}
