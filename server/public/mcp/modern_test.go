package mcp

import (
	"strings"
	"testing"
)

// modernRequest is a request of the newer protocol with the parameters before _meta.
func modernRequest(method, params string) (body string, header []string) {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		[]string{"Mcp-Protocol-Version", modern, "Mcp-Method", method}
}

// The rules of the newer protocol: which status goes with which failure, and what clients
// may keep.
func TestNewerProtocol(t *testing.T) {
	h := newHandler(t, nil)
	without := func(body, part string) string { return strings.Replace(body, part, "", 1) }
	for name, c := range map[string]struct {
		method, params string
		change         func(body string, header []string) (string, []string)
		status         int
		want           string
	}{
		"an unknown method is 404":             {"no/such", "", nil, 404, `"code":-32601`},
		"a method of the older protocol, too":  {"ping", "", nil, 404, `"code":-32601`},
		"an unknown tool":                      {"tools/call", `"name":"nothing",`, named("nothing"), 400, `"code":-32602`},
		"an unknown prompt":                    {"prompts/get", `"name":"nothing",`, named("nothing"), 400, `"code":-32602`},
		"a prompt without what it needs":       {"prompts/get", `"name":"compare",`, named("compare"), 400, `needs the argument category`},
		"an unknown document":                  {"resources/read", `"uri":"test://x",`, named("test://x"), 400, `"code":-32602`},
		"a cursor that nobody gave":            {"tools/list", `"cursor":"x",`, nil, 400, `"code":-32602`},
		"a tool that the header does not name": {"tools/call", `"name":"getPickRate",`, named("lookupTool"), 400, `"code":-32020`},
		"a name in base64":                     {"tools/call", `"name":"getPickRate","arguments":{"tool":"flask"},`, named("=?base64?Z2V0UGlja1JhdGU=?="), 200, `"pickRate"`},
		"no name in the header":                {"tools/call", `"name":"getPickRate",`, nil, 400, `"code":-32020`},
		"another method in the header": {"tools/list", "", func(b string, h []string) (string, []string) {
			h[3] = "prompts/list"
			return b, h
		}, 400, `"code":-32020`},
		"another version in the header": {"tools/list", "", func(b string, h []string) (string, []string) {
			h[1] = "2025-11-25"
			return b, h
		}, 400, `"code":-32020`},
		"a version to come": {"tools/list", "", func(b string, h []string) (string, []string) {
			h[1] = "2099-01-01"
			return strings.Replace(b, modern, "2099-01-01", 1), h
		}, 400, `"code":-32022`},
		"no capabilities": {"tools/list", "", func(b string, h []string) (string, []string) {
			return without(b, `,"io.modelcontextprotocol/clientCapabilities":{}`), h
		}, 400, `"code":-32602`},
		"discovery":                       {"server/discover", "", nil, 200, `"ttlMs":3600000,"cacheScope":"public"`},
		"tools may be kept":               {"tools/list", "", nil, 200, `"ttlMs":3600000,"cacheScope":"public"`},
		"prompts may be kept":             {"prompts/list", "", nil, 200, `"ttlMs":3600000,"cacheScope":"public"`},
		"documents may be kept":           {"resources/list", "", nil, 200, `"ttlMs":3600000,"cacheScope":"public"`},
		"templates, of which there are 0": {"resources/templates/list", "", nil, 200, `"resourceTemplates":[]`},
		"a notification is taken": {"notifications/cancelled", `"requestId":7,`, func(b string, h []string) (string, []string) {
			return without(b, `"id":1,`), h
		}, 202, ``},
	} {
		body, header := modernRequest(c.method, c.params)
		if c.change != nil {
			body, header = c.change(body, header)
		}
		w := ask(h, request(body, header...))
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || c.status == 202 && w.Body.Len() > 0 {
			t.Errorf("%s: %d %s, want %d %s", name, w.Code, w.Body, c.status, c.want)
		}
		if w.Body.Len() > 0 && w.Header().Get("Content-Type") != "application/json" || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Mcp-Session-Id") != "" {
			t.Errorf("%s: %v", name, w.Header())
		}
	}
}

func named(name string) func(string, []string) (string, []string) {
	return func(body string, header []string) (string, []string) { return body, append(header, "Mcp-Name", name) }
}

// Nothing here changes while a client waits for it, so a stream that a client asks for
// is ended at once.
func TestStreamEndsAtOnce(t *testing.T) {
	body, header := modernRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true},`)
	w := ask(newHandler(t, nil), request(body, header...))
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" || w.Header().Get("X-Accel-Buffering") != "no" || !w.Flushed || strings.Count(w.Body.String(), "data: ") != 2 {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}
