package provider

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/transcript"
)

// maxSearches limits the web searches of one attempt if the provider supports a limit;
// otherwise it is the estimate.
const maxSearches = 5

// A codec is one wire format.
type codec interface {
	// path is the path of requests, below the base address.
	path(model string) string
	// sign puts a key into a request's headers; it is not called without one.
	sign(h http.Header, key string)
	// encode returns the body of a request.
	encode(a eval.Agent, q request) any
	// decode parses the body of an answer of status 200. It fails with a *failure for an
	// error inside, and with any other error for an invalid body.
	decode(body []byte) (answer, error)
	// lookup is the path that reports whether a model exists. has parses its answer of
	// status 200.
	lookup(model string) string
	has(body []byte, model string) bool
}

// A request asks for an answer, or for the rest of a paused one.
type request struct {
	prompt string
	// system are instructions in the format's own place for them; empty sends none.
	system string
	// paused are the blocks of the answer before the pause.
	paused []json.RawMessage
	// maxTokens and searches are the rest of the limits. maxTokens 0 means no limit;
	// searches is at least 1.
	maxTokens, searches int
}

// messages returns the conversation of formats that take instructions as a message.
func (q request) messages() []message {
	m := []message{{"user", q.prompt}}
	if q.system != "" {
		m = append([]message{{"system", q.system}}, m...)
	}
	return m
}

// An answer is a decoded answer, in the same form for all codecs.
type answer struct {
	text  string
	stop  transcript.Stop
	model string
	usage *prices.Usage // nil if unknown
	// paused are the blocks to send back if the provider paused a long turn.
	paused []json.RawMessage
}

// tokens is a token count in an answer. Invalid counts decode as 0: they must not cost
// an answer.
type tokens int

func (t *tokens) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(data), `"`), 64)
	if err != nil || !(v > 0) || v > 1e12 {
		v = 0
	}
	*t = tokens(v)
	return nil
}

// less returns a count without parts of it that are counted separately.
func (t tokens) less(parts ...tokens) int {
	for _, p := range parts {
		t -= p
	}
	return int(max(0, t))
}

// searchesWeb reports whether an agent has web search. Off and unset are the same for a
// model behind an API: it searches only if it is offered the tool.
func searchesWeb(a eval.Agent) bool { return a.WebSearch != nil && *a.WebSearch }

// paragraphs joins texts that other blocks separate.
func paragraphs(parts []string) string {
	var nonEmpty []string
	for _, p := range parts {
		if strings.TrimSpace(p) != "" {
			nonEmpty = append(nonEmpty, p)
		}
	}
	return strings.Join(nonEmpty, "\n\n")
}
