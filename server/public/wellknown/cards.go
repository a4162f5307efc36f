package wellknown

import (
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/public/tools"
)

// protocolVersions are the revisions of MCP that are served, the newest last.
func protocolVersions() []string {
	return []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
}

type remote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions,omitempty"`
}

// A registryDoc is an entry of the MCP registry (its schema of 2025-12-11).
type registryDoc struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	WebsiteURL  string   `json:"websiteUrl"`
	Remotes     []remote `json:"remotes"`
}

func (s *Service) registry() registryDoc {
	return registryDoc{
		Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:   s.Name, Title: title, Description: summary, Version: s.Version, WebsiteURL: s.BaseURL + "/",
		Remotes: []remote{{Type: "streamable-http", URL: s.BaseURL + "/api/mcp"}},
	}
}

// card is the server card (SEP-2127). Tools are not in it: they are listed by the
// protocol.
func (s *Service) card() registryDoc {
	c := s.registry()
	c.Schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"
	c.Remotes[0].Versions = protocolVersions()
	return c
}

type catalogDoc struct {
	SpecVersion string         `json:"specVersion"`
	Host        catalogHost    `json:"host"`
	Entries     []catalogEntry `json:"entries"`
}

type catalogHost struct {
	DisplayName string `json:"displayName"`
	Docs        string `json:"documentationUrl"`
}

type catalogEntry struct {
	Identifier   string   `json:"identifier"`
	DisplayName  string   `json:"displayName"`
	Type         string   `json:"type"`
	URL          string   `json:"url"`
	Description  string   `json:"description"`
	Capabilities []string `json:"capabilities,omitempty"`
	Queries      []string `json:"representativeQueries"`
	Version      string   `json:"version"`
}

// ard is the catalogue of Agentic Resource Discovery.
func (s *Service) ard() catalogDoc {
	host := "localhost"
	if u, err := url.Parse(s.BaseURL); err == nil && u.Hostname() != "" {
		host = strings.ReplaceAll(strings.Trim(u.Hostname(), "[]"), ":", "-")
	}
	entry := func(kind, name, display, contentType, path, description string, queries ...string) catalogEntry {
		return catalogEntry{
			Identifier: "urn:air:" + host + ":" + kind + ":" + name, DisplayName: display, Type: contentType, URL: s.BaseURL + path, Description: description,
			Queries: queries, Version: s.Version,
		}
	}
	server := entry("mcp", "firstpick", "firstpick pick rates", "application/mcp-server-card+json", "/api/mcp/server-card", summary,
		"which payments service do AI agents pick", "pick rate of stripe", "who beats algolia with coding agents", "compare auth providers by agent preference")
	for _, t := range tools.Tools() {
		server.Capabilities = append(server.Capabilities, t.Name)
	}
	out := catalogDoc{"1.0", catalogHost{title, s.BaseURL + "/docs"}, []catalogEntry{server}}
	for _, k := range s.skillList() {
		out.Entries = append(out.Entries, entry("skill", k.name, k.title, `text/markdown; profile="urn:air:agent-skills"`, skillPath(k.name), k.description, k.queries...))
	}
	return out
}

type link struct {
	Href  string `json:"href"`
	Type  string `json:"type,omitempty"`
	Title string `json:"title,omitempty"`
}

type linkContext struct {
	Anchor string `json:"anchor"`
	Desc   []link `json:"service-desc,omitempty"`
	Doc    []link `json:"service-doc"`
	Meta   []link `json:"service-meta,omitempty"`
	Status []link `json:"status,omitempty"`
}

// linkset is the API catalogue (RFC 9727, linkset of RFC 9264).
func (s *Service) linkset() map[string][]linkContext {
	b := s.BaseURL
	return map[string][]linkContext{"linkset": {
		{
			Anchor: b + "/api/",
			Desc:   []link{{b + "/openapi.json", "application/json", "OpenAPI 3.1"}, {b + "/openapi.yaml", "application/yaml", "OpenAPI 3.1"}},
			Doc:    []link{{b + "/docs/api", "text/html", "API reference"}, {b + "/docs/api.md", "text/markdown", "API reference"}},
			Meta:   []link{{b + "/.well-known/oauth-protected-resource", "application/json", "Protected resource metadata"}, {b + "/.well-known/oauth-authorization-server", "application/json", "Authorization server metadata"}},
			Status: []link{{b + "/readyz", "application/json", ""}},
		},
		{
			Anchor: b + "/api/mcp",
			Desc:   []link{{b + "/api/mcp/server-card", "application/mcp-server-card+json", "MCP server card"}},
			Doc:    []link{{b + "/docs/mcp", "text/html", "MCP"}, {b + "/docs/mcp.md", "text/markdown", "MCP"}},
			Meta:   []link{{b + "/.well-known/webmcp", "application/json", "WebMCP manifest"}},
		},
	}}
}

// Links is the value of Link on pages and answers: where the rest is found.
func Links(base string) string {
	var parts []string
	for _, l := range []struct{ path, rel, contentType string }{
		{"/openapi.yaml", "service-desc", "application/yaml"}, {"/docs", "service-doc", "text/html"}, {"/.well-known/api-catalog", "api-catalog", "application/linkset+json"},
		{"/.well-known/ard.json", "ard", "application/ai-catalog+json"}, {"/.well-known/ai-catalog.json", "ai-catalog", "application/ai-catalog+json"},
		{"/llms.txt", "describedby", "text/plain"}, {"/.well-known/webmcp", "webmcp", "application/json"},
	} {
		parts = append(parts, "<"+base+l.path+`>; rel="`+l.rel+`"; type="`+l.contentType+`"`)
	}
	return strings.Join(parts, ", ")
}
