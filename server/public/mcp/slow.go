package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
)

// slow lets the SDK answer. Its answers are short, so they are held back until they
// are whole: its failures of transport are plain text, and become ours. Only a stream
// of events passes as it comes; our server ends the few that it begins at once.
func (h *Handler) slow(w http.ResponseWriter, r *http.Request, body []byte) {
	if mediaType(r.Header.Get("Content-Type")) == "application/json" { // the SDK refuses other types
		e := &rpcError{Code: parseError, Message: "the body is not one JSON text"} // the SDK ignores data after a message
		if json.Valid(body) {
			e = check(bytes.TrimSpace(body))
		}
		if e != nil {
			h.refuse(w, *e)
			return
		}
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	// Clients must take both forms of answers, but we send JSON alone, and many forget.
	if accept := strings.ToLower(r.Header.Get("Accept")); accept == "" || strings.Contains(accept, "json") || strings.Contains(accept, "*/*") {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	if name, ok := decodeName(r.Header.Get("Mcp-Name")); ok {
		r.Header.Set("Mcp-Name", name)
	}
	r.Header.Set(clientHeader, reqctx.Client(w).String())
	r.Header.Set(requestHeader, reqctx.ID(w))
	held := &holder{to: w, header: http.Header{}, status: http.StatusOK}
	h.sdk().ServeHTTP(held, r)
	if held.streams {
		return
	}
	head := w.Header()
	if held.status >= http.StatusBadRequest && !strings.HasPrefix(held.header.Get("Content-Type"), "application/json") {
		if allow := held.header.Get("Allow"); allow != "" {
			head.Set("Allow", allow)
		}
		if held.status == http.StatusBadRequest {
			h.refuse(w, refusal(body, held.body.String()))
			return
		}
		h.Errors.Write(w, r, transportError(held.status))
		return
	}
	held.pass(head)
	answer := explained(held.body.Bytes())
	head.Set("Content-Length", strconv.Itoa(len(answer)))
	w.WriteHeader(held.status)
	_, _ = w.Write(answer) // a write error means that the client disconnected
}

// maxBatch is how many messages a batch may have, in the revisions that know batches. A
// batch counts as one request, and a message of a hundred bytes may ask for a document of
// a hundred thousand.
const maxBatch = 20

// decodeName decodes a base64 Mcp-Name header; the SDK does not decode it.
func decodeName(value string) (string, bool) {
	value, begins := strings.CutPrefix(value, "=?base64?")
	value, ends := strings.CutSuffix(value, "?=")
	name, err := base64.StdEncoding.DecodeString(value)
	return string(name), begins && ends && err == nil
}

// transportError is a failure before any message was read.
func transportError(status int) *apierr.Error {
	switch status {
	case http.StatusUnsupportedMediaType:
		return &apierr.Error{Status: status, Code: "unsupported_media_type", Description: "Send JSON-RPC messages as application/json."}
	case http.StatusRequestEntityTooLarge:
		return apierr.TooLarge()
	default:
		return apierr.Internal(nil)
	}
}

// The codes of JSON-RPC 2.0, 5.1.
const (
	parseError     = -32700
	invalidRequest = -32600
	methodNotFound = -32601
	invalidParams  = -32602
)

// An rpcError is an error object of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`

	id     json.RawMessage // of the request; nil for a notification
	status int             // of the answer; 0 makes one of the code
}

func invalid(why string) *rpcError { return &rpcError{Code: invalidRequest, Message: why} }

// refusal is the error of a message that the SDK refused with a text. Clients of the
// older protocol read errors under status 200 only; for the newer one an unknown
// method is a 404, which the SDK sends.
func refusal(body []byte, why string) rpcError {
	e := rpcError{Code: invalidRequest, Message: why}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &message) != nil {
		return e
	}
	e.id = message.ID
	if message.Method != "" && !inProtocol(message.Method) {
		e.Code, e.Message = methodNotFound, "unknown method "+message.Method
		if len(message.ID) > 0 {
			e.status = http.StatusOK
		}
	}
	return e
}

// refuse answers a message that the SDK did not take, in the protocol's own form.
func (h *Handler) refuse(w http.ResponseWriter, e rpcError) {
	status := cmp.Or(e.status, http.StatusBadRequest)
	if e.Code == invalidParams && e.status == 0 { // the message is well-formed, and answered as the SDK would
		status = http.StatusOK
	}
	e.Message = sanitize(e.Message)
	if len(e.id) == 0 {
		e.id = json.RawMessage("null")
	}
	data, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", e.id, e})
	if err != nil {
		panic(err) // an id that was read and texts always encode
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // a write error means that the client disconnected
}

// sanitize makes a text safe for a message: ASCII, one line, without quotes.
func sanitize(text string) string {
	text = strings.Map(func(c rune) rune {
		switch {
		case c == '"' || c == '\\':
			return '\''
		case c < ' ' || c > '~':
			return ' '
		}
		return c
	}, strings.TrimSpace(text))
	return text[:min(len(text), 200)]
}
