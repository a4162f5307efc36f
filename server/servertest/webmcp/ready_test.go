package webmcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// A reply is an answer of the server.
type reply struct {
	status int
	head   http.Header
	body   string
}

// has says whether a header holds all of some texts.
func (r reply) has(header string, texts ...string) bool {
	all := strings.Join(r.head.Values(header), ", ")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			return false
		}
	}
	return true
}

// json returns a member of a JSON object; "" where there is none, or it is no object.
func (r reply) json(name string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(r.body), &members) != nil {
		return ""
	}
	return string(members[name])
}

func fetch(t *testing.T, s *servertest.Service, path, accept string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, read(t, resp)}
}

// TestReadyForAgents goes through what public scanners of "is this site ready for agents"
// look at, a row for each of their checks. What they ask for that the service does not
// have is left out: it sells nothing by agent payments, signs no requests of its own, and
// is no agent that others give tasks to (A2A).
func TestReadyForAgents(t *testing.T) {
	s := newServer(t)
	for name, row := range map[string]struct {
		path, accept string
		ok           func(r reply) bool
	}{
		"robots.txt": {"/robots.txt", "", func(r reply) bool {
			return r.has("Content-Type", "text/plain") && strings.Contains(r.body, "User-agent: *\n")
		}},
		"robots.txt: sitemap": {"/robots.txt", "", func(r reply) bool { return strings.Contains(r.body, "\nSitemap: "+s.URL+"/sitemap.xml\n") }},
		"robots.txt: AI bots": {"/robots.txt", "", func(r reply) bool {
			return strings.Contains(r.body, "\nUser-agent: GPTBot\nUser-agent: ") && strings.Contains(r.body, "Allow: /\n") && !strings.Contains(r.body, "Disallow: /\n")
		}},
		"content signals": {"/robots.txt", "", func(r reply) bool {
			return strings.Contains(r.body, "\nContent-Signal: search=yes, ai-input=yes, ai-train=")
		}},
		"sitemap": {"/sitemap.xml", "", func(r reply) bool { return strings.Contains(r.body, "<loc>"+s.URL+"/docs</loc>") }},
		"Link: API": {"/", "", func(r reply) bool {
			return r.has("Link", `/.well-known/api-catalog>; rel="api-catalog"`, `rel="service-desc"`, `rel="service-doc"`)
		}},
		"Link: agents": {"/", "", func(r reply) bool { return r.has("Link", `/llms.txt>; rel="describedby"`, `rel="ard"`, `rel="webmcp"`) }},
		"Link: markdown": {"/leaderboards/webserver", "", func(r reply) bool {
			return r.has("Link", `/leaderboards/webserver.md>; rel="alternate"; type="text/markdown"`)
		}},
		"links in HTML": {"/", "text/html", func(r reply) bool {
			return strings.Contains(r.body, `<link rel="ard" `) && strings.Contains(r.body, `<link rel="alternate" type="text/markdown" href="/index.md">`)
		}},
		"markdown: front page": {"/", "text/markdown", func(r reply) bool {
			return r.has("Content-Type", "text/markdown") && r.has("Vary", "Accept") && strings.HasPrefix(r.body, "# ")
		}},
		"markdown: liked better":   {"/docs", "text/markdown, text/html;q=0.9, */*;q=0.8", func(r reply) bool { return r.has("Content-Type", "text/markdown") }},
		"markdown: not by default": {"/", "*/*", func(r reply) bool { return r.has("Content-Type", "text/html") && r.has("Vary", "Accept") }},
		"llms.txt":                 {"/llms.txt", "", func(r reply) bool { return strings.HasPrefix(r.body, "# ") && strings.Contains(r.body, "\n- [") }},
		"llms-full.txt":            {"/llms-full.txt", "", func(r reply) bool { return len(r.body) > 10_000 }},
		"MCP server card": {"/.well-known/mcp/server-card.json", "", func(r reply) bool {
			return r.has("Access-Control-Allow-Origin", "*") && strings.Contains(r.json("remotes"), s.URL+"/api/mcp")
		}},
		"MCP server card, old path": {"/.well-known/mcp.json", "", func(r reply) bool { return r.json("name") != "" }},
		"resource catalogue": {"/.well-known/ard.json", "", func(r reply) bool {
			return r.has("Content-Type", "application/ai-catalog+json") && r.json("entries") != ""
		}},
		"resource catalogue, old": {"/.well-known/ai-catalog.json", "", func(r reply) bool { return r.json("entries") != "" }},
		"agent skills":            {"/.well-known/agent-skills/index.json", "", func(r reply) bool { return strings.Contains(r.json("skills"), `"digest": "sha256:`) }},
		"WebMCP: manifest":        {"/.well-known/webmcp", "", func(r reply) bool { return strings.Contains(r.json("tools"), `"inputSchema"`) }},
		"WebMCP: page, by script": {"/leaderboards/webserver", "text/html", func(r reply) bool { return strings.Contains(r.body, `<script src="/assets/webmcp-`) }},
		"WebMCP: page, by markup": {"/leaderboards/webserver", "text/html", func(r reply) bool {
			return strings.Contains(r.body, ` toolname="findTool"`) && strings.Contains(r.body, `toolparamdescription="`)
		}},
		"WebMCP: docs": {"/docs", "text/html", func(r reply) bool { return strings.Contains(r.body, ` toolname="searchDocs"`) }},
		"API catalogue": {"/.well-known/api-catalog", "", func(r reply) bool {
			return r.has("Content-Type", "application/linkset+json") && strings.Contains(r.json("linkset"), "/openapi.")
		}},
		"OpenAPI":         {"/openapi.json", "", func(r reply) bool { return strings.HasPrefix(r.json("openapi"), `"3.1`) }},
		"OAuth: server":   {"/.well-known/oauth-authorization-server", "", func(r reply) bool { return r.json("issuer") == `"`+s.URL+`"` && r.json("token_endpoint") != "" }},
		"OAuth: resource": {"/.well-known/oauth-protected-resource", "", func(r reply) bool { return strings.Contains(r.json("authorization_servers"), s.URL) }},
		"auth.md":         {"/auth.md", "", func(r reply) bool { return strings.HasPrefix(r.body, "# ") }},
		"security.txt": {"/.well-known/security.txt", "", func(r reply) bool {
			return strings.Contains(r.body, "Contact: ") && strings.Contains(r.body, "\nExpires: ")
		}},
	} {
		r := fetch(t, s, row.path, row.accept)
		if r.status != http.StatusOK || !row.ok(r) {
			t.Errorf("%s: %s answers %d %v\n%.600s", name, row.path, r.status, r.head, r.body)
		}
	}
}
