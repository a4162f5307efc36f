package providertest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// formats returns the wire formats that the server speaks.
func formats() []format {
	return []format{chatFormat{}, responsesFormat{}, anthropicFormat{}, geminiFormat{}, ollamaFormat{}}
}

// A Request is one request for an answer.
type Request struct {
	// N counts requests from 0.
	N      int
	Path   string
	Header http.Header
	Body   []byte

	Model  string
	Stream bool
	// System are the instructions in the format's own place for them, Prompt is the text
	// of the last message.
	System, Prompt string
	// Turn is how many rounds of tool calls the conversation holds already.
	Turn int

	tools  []tool
	shape  *schema // of the answer, where it shall be JSON
	asJSON bool
	sse    bool // Gemini: events rather than an array
}

// A format is a wire format: it reads requests and writes answers.
type format interface {
	// paths are the ends of the paths at which the format answers.
	paths() []string
	// read sets model, turn and tools from a request's body.
	read(q *Request, u *url.URL)
	// render writes an answer: one chunk whole, many of them streamed.
	render(q Request, a answer) (contentType string, chunks [][]byte)
	// fault writes an error: its status and body.
	fault(q Request, step Step) (status int, body any)
	streamType() string
	streamError(body any) []byte
	// window returns the headers that state the rest of a limit.
	window(limit, left int, reset time.Duration) map[string]string
}

// formatOf returns the format of a path; nil for an unknown path.
func formatOf(path string) format {
	for _, f := range formats() {
		if slices.ContainsFunc(f.paths(), func(end string) bool { return strings.HasSuffix(path, end) }) {
			return f
		}
	}
	return nil
}

func (q *Request) read(f format, u *url.URL) {
	var common struct {
		Model  string `json:"model"`
		Stream bool   `json:"stream"`
	}
	_ = json.Unmarshal(q.Body, &common) // an invalid body is answered too
	q.Model, q.Stream = common.Model, common.Stream
	q.readTexts()
	f.read(q, u)
}

// readTexts sets the texts of a body of any format.
func (q *Request) readTexts() {
	type message struct {
		Role    string `json:"role"`
		Content words  `json:"content"`
		Parts   words  `json:"parts"`
	}
	var body struct {
		System       words           `json:"system"`            // Anthropic
		Instructions words           `json:"instructions"`      // Responses
		Instruction  message         `json:"systemInstruction"` // Gemini
		Messages     []message       `json:"messages"`
		Contents     []message       `json:"contents"`
		Input        json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(q.Body, &body)
	q.System = string(body.System + body.Instructions + body.Instruction.Parts)
	list := append(body.Messages, body.Contents...)
	if json.Unmarshal(body.Input, &q.Prompt) != nil && len(body.Input) > 0 {
		_ = json.Unmarshal(body.Input, &list)
	}
	for _, m := range list {
		if m.Role == "system" {
			q.System += string(m.Content)
			continue
		}
		q.Prompt = string(m.Content + m.Parts)
	}
}

// words is a text, or the texts of a list of parts.
type words string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*w = words(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(data, &parts) // other content has no text
	for _, p := range parts {
		*w += words(p.Text)
	}
	return nil
}
