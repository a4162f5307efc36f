package mcp

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
)

// modern is the first revision without a handshake.
const modern = "2026-07-28"

// The members of _meta that every request of the newer protocol has.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// fast is the fast path for calls of public tools. Doubtful requests go to
// the SDK.
type fast struct {
	h *Handler
	// meta is the end of results of the newer protocol.
	meta        []byte
	contentType []string // shared and never changed
	kept        *answers
}

func newFast(h *Handler) fast {
	info, err := json.Marshal(map[string]any{"io.modelcontextprotocol/serverInfo": serverInfo(h)})
	if err != nil {
		panic(err) // texts always encode
	}
	return fast{h, append(append([]byte(`,"resultType":"complete","_meta":`), info...), '}'), []string{"application/json"}, &answers{}}
}

// serve answers a request, or returns false.
func (f fast) serve(w http.ResponseWriter, r *http.Request, body []byte) bool {
	c, id, newer, ok := f.read(r, body)
	if !ok {
		return false
	}
	s := f.h.Current()
	if s == nil {
		return false
	}
	c.ip = reqctx.Client(w)
	var made []byte
	if refused, ok := f.h.allow(c.ip); ok {
		made = f.kept.get(s, c)
	} else {
		made = render(refused)
	}
	head := w.Header()
	head["Content-Type"] = f.contentType
	out := make([]byte, 0, len(made)+len(id)+len(f.meta)+64)
	out = append(append(append(out, `{"jsonrpc":"2.0","id":`...), id...), `,"result":`...)
	if newer {
		out = append(append(out, made[:len(made)-1]...), f.meta...)
	} else {
		out = append(out, made...)
	}
	out = append(out, '}')
	head["Content-Length"] = []string{strconv.Itoa(len(out))}
	_, _ = w.Write(out) // a write error means that the client disconnected
	return true
}

// read takes a request that is plainly a call of a public tool. Members are looked
// up in maps: names count as they are written.
func (f fast) read(r *http.Request, body []byte) (c caller, id json.RawMessage, newer, ok bool) {
	if mediaType(r.Header.Get("Content-Type")) != "application/json" || !takesBoth(r.Header["Accept"]) {
		return c, nil, false, false
	}
	var message, params map[string]json.RawMessage
	if json.Unmarshal(body, &message) != nil || !only(message, "jsonrpc", "id", "method", "params") || string(message["jsonrpc"]) != `"2.0"` ||
		string(message["method"]) != `"tools/call"` || !simpleID(message["id"]) || json.Unmarshal(message["params"], &params) != nil || !only(params, "name", "arguments", "_meta") {
		return c, nil, false, false
	}
	c.tool, ok = word(params["name"])
	if !ok || !tools.OfSite(c.tool) {
		return c, nil, false, false
	}
	client, newer, ok := f.era(r, params["_meta"], c.tool)
	if !ok {
		return c, nil, false, false
	}
	c.arguments, c.via = params["arguments"], via(client)
	return c, message["id"], newer, true
}

// era returns the client, and whether it speaks the newer protocol.
func (f fast) era(r *http.Request, raw json.RawMessage, tool string) (client string, newer, ok bool) {
	version := r.Header.Get("Mcp-Protocol-Version")
	if raw == nil {
		return r.UserAgent(), false, version != modern && older(version)
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(raw, &meta) != nil {
		return "", false, false
	}
	if version != modern {
		return r.UserAgent(), false, harmless(meta) && older(version)
	}
	var info struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	var capabilities map[string]json.RawMessage
	said, _ := word(meta[metaVersion])
	if !harmless(meta, metaVersion, metaClient, metaCapabilities) || said != modern || json.Unmarshal(meta[metaCapabilities], &capabilities) != nil || capabilities == nil ||
		r.Header.Get("Mcp-Method") != "tools/call" || r.Header.Get("Mcp-Name") != tool {
		return "", false, false
	}
	if raw, given := meta[metaClient]; given && (json.Unmarshal(raw, &info) != nil || info.Name == "" || info.Version == "") {
		return "", false, false
	}
	if info.Name == "" {
		info.Name = r.UserAgent()
	}
	return info.Name, true, true
}

// harmless reports whether all else in _meta is what clients note there for themselves,
// such as progressToken, traceparent or the id of a call, and changes no answer.
func harmless(meta map[string]json.RawMessage, known ...string) bool {
	for key, value := range meta {
		if !slices.Contains(known, key) && (strings.HasPrefix(strings.ToLower(key), "io.modelcontextprotocol/") || !simpleID(value)) {
			return false
		}
	}
	return true
}

func older(version string) bool {
	switch version {
	case "", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25":
		return true
	}
	return false
}

func only(m map[string]json.RawMessage, names ...string) bool {
	n := 0
	for _, name := range names {
		if _, ok := m[name]; ok {
			n++
		}
	}
	return n == len(m)
}

// word reads a text without escapes.
func word(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || strings.IndexByte(string(raw), '\\') >= 0 {
		return "", false
	}
	return string(raw[1 : len(raw)-1]), true
}

// simpleID reports whether an id is written as anybody would write it again.
func simpleID(raw json.RawMessage) bool {
	if _, ok := word(raw); ok {
		return len(raw) <= 200 && !strings.ContainsFunc(string(raw), func(c rune) bool { return c > '~' || c == '<' || c == '>' || c == '&' })
	}
	if len(raw) == 0 || len(raw) > 15 || raw[0] == '0' && len(raw) > 1 {
		return false
	}
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func mediaType(header string) string {
	kind, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

func takesBoth(accept []string) bool {
	if len(accept) == 0 {
		return true
	}
	all := strings.Join(accept, ",")
	return strings.Contains(all, "*/*") || strings.Contains(all, "application/json") && strings.Contains(all, "text/event-stream")
}

// render makes the result of an answer.
func render(a tools.Answer) []byte {
	text, err := json.Marshal(string(a.JSON))
	if err != nil {
		panic(err) // texts always encode
	}
	out := append(append([]byte(`{"content":[{"type":"text","text":`), text...), `}]`...)
	if a.Failed {
		return append(out, `,"isError":true}`...)
	}
	return append(append(append(out, `,"structuredContent":`...), a.JSON...), '}')
}

// answers keeps results of one site.
type answers struct {
	mu    sync.Mutex
	of    *snapshotview.Site
	made  map[string][]byte
	bytes int
}

const (
	maxKept      = 16 << 20 // bytes
	maxKeptEntry = 256      // bytes of arguments
)

// get returns the result of a call, as it was made before if it was.
func (k *answers) get(s *snapshotview.Site, c caller) []byte {
	call := tools.Call{Tool: c.tool, Arguments: c.arguments, Via: c.via}
	if len(c.arguments) > maxKeptEntry {
		return render(call.Answer(s))
	}
	key := c.tool + " " + c.via + " " + string(c.arguments)
	k.mu.Lock()
	if k.of != s {
		k.of, k.made, k.bytes = s, map[string][]byte{}, 0
	}
	made, ok := k.made[key]
	k.mu.Unlock()
	if ok {
		return made
	}
	made = render(call.Answer(s))
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == s {
		if k.bytes += len(key) + len(made); k.bytes > maxKept {
			clear(k.made)
			k.bytes = len(key) + len(made)
		}
		k.made[key] = made
	}
	return made
}
