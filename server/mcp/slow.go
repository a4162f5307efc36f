package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/apierr"
	"github.com/firstpick/firstpick/server/reqctx"
)

// slow lets the SDK answer. Its answers are short, so they are held back until they
// are whole: its failures of transport are plain text, and become ours.
func (h *Handler) slow(w http.ResponseWriter, r *http.Request, body []byte) {
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	// Clients must take both forms of answers, but we send JSON alone, and many forget.
	if accept := strings.ToLower(r.Header.Get("Accept")); accept == "" || strings.Contains(accept, "json") || strings.Contains(accept, "*/*") {
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	r.Header.Set(clientHeader, reqctx.Client(w).String())
	held := &holder{header: http.Header{}, status: http.StatusOK}
	h.sdk().ServeHTTP(held, r)
	head := w.Header()
	if held.status >= http.StatusBadRequest && !strings.HasPrefix(held.header.Get("Content-Type"), "application/json") {
		if allow := held.header.Get("Allow"); allow != "" {
			head.Set("Allow", allow)
		}
		if held.status == http.StatusBadRequest {
			h.refuse(w, body, held.body.String())
			return
		}
		h.Errors.Write(w, r, transportError(held.status))
		return
	}
	for name, values := range held.header {
		head[name] = values
	}
	head.Set("Content-Length", strconv.Itoa(held.body.Len()))
	w.WriteHeader(held.status)
	_, _ = w.Write(held.body.Bytes()) // the client is gone; nothing to do
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
)

type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// refuse answers a message that the SDK did not take, in the protocol's own form.
func (h *Handler) refuse(w http.ResponseWriter, body []byte, why string) {
	e := rpcError{Version: "2.0", ID: json.RawMessage("null")}
	e.Error.Code, e.Error.Message = invalidRequest, plain(why)
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	switch err := json.Unmarshal(body, &message); {
	case err != nil && !json.Valid(body):
		e.Error.Code = parseError
	case err == nil && len(message.ID) > 0 && message.ID[0] != '{' && message.ID[0] != '[':
		e.ID = message.ID
	}
	if message.Method != "" && strings.Contains(why, "not handled") {
		e.Error.Code = methodNotFound
	}
	data, err := json.Marshal(e)
	if err != nil {
		panic(err) // an id that was read and texts always encode
	}
	head := w.Header()
	head.Set("Content-Type", "application/json")
	head.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(data) // the client is gone; nothing to do
}

// plain makes a message of a text: ASCII in one line.
func plain(text string) string {
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

// A holder holds an answer back.
type holder struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (h *holder) Header() http.Header { return h.header }

// WriteHeader implements http.ResponseWriter.
func (h *holder) WriteHeader(status int) {
	if !h.wrote {
		h.status, h.wrote = status, true
	}
}

// Write implements http.ResponseWriter.
func (h *holder) Write(b []byte) (int, error) {
	h.wrote = true
	return h.body.Write(b)
}

// Flush implements http.Flusher, which the SDK asks for.
func (*holder) Flush() {}
