package wellknown

import (
	"encoding/json"

	"github.com/firstpick/firstpick/server/public/tools"
)

// A webDoc is the WebMCP manifest. It has no standard: it holds what its
// readers look for, made of the same tools as MCP.
type webDoc struct {
	Spec        string        `json:"spec"`
	Name        string        `json:"name"`
	Title       string        `json:"title"`
	Description string        `json:"description"`
	Version     string        `json:"version"`
	Origin      string        `json:"origin"`
	Server      webServer     `json:"server"`
	Auth        webAuth       `json:"auth"`
	Invocation  webInvocation `json:"invocation"`
	Docs        string        `json:"docs"`
	OpenAPI     string        `json:"openapi"`
	Tools       []webTool     `json:"tools"`
}

type webServer struct {
	URL  string `json:"url"`
	Type string `json:"type"`
}

type webAuth struct {
	Type string `json:"type"`
}

type webInvocation struct {
	Preferred string `json:"preferred"`
	MCP       string `json:"mcp"`
	Page      string `json:"page"`
}

type webTool struct {
	tools.Tool
	// How the same is asked over plain HTTP.
	URL        string         `json:"url"`
	Method     string         `json:"method"`
	Auth       webAuth        `json:"auth"`
	Parameters []webParameter `json:"parameters"`
}

type webParameter struct {
	Name        string          `json:"name"`     // of the query
	Argument    string          `json:"argument"` // of the tool
	Type        string          `json:"type"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Enum        []string        `json:"enum,omitempty"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// A binding is where a tool's answer is had over plain HTTP, and under which names
// its arguments go there; arguments that are left out have no counterpart.
type binding struct {
	path, auth string
	names      [][2]string // argument, parameter
}

func bindings() map[string]binding {
	return map[string]binding{
		tools.GetLeaderboard: {"/api/public/leaderboard", "none", [][2]string{{"category", "category"}, {"domain", "domain"}}},
		tools.GetPickRate:    {"/api/public/report", "none", [][2]string{{"tool", "q"}}},
		tools.LookupTool:     {"/api/public/report", "none", [][2]string{{"query", "q"}}},
		tools.GetMyAgents:    {"/api/agent/workspace", "bearer", [][2]string{{"period", "window"}}},
	}
}

func (s *Service) webMCP() webDoc {
	out := webDoc{
		Spec: "webmcp/0.1", Name: s.Name, Title: title, Description: summary, Version: s.Version, Origin: s.BaseURL,
		Server: webServer{s.BaseURL + "/api/mcp", "streamable-http"}, Auth: webAuth{"none"},
		Invocation: webInvocation{"mcp", s.BaseURL + "/api/mcp", s.BaseURL + "/"}, Docs: s.BaseURL + "/docs/mcp.md", OpenAPI: s.BaseURL + "/openapi.json",
	}
	for _, t := range tools.Tools() {
		b := bindings()[t.Name]
		out.Tools = append(out.Tools, webTool{Tool: t, URL: s.BaseURL + b.path, Method: "GET", Auth: webAuth{b.auth}, Parameters: parameters(t, b)})
	}
	return out
}

func parameters(t tools.Tool, b binding) []webParameter {
	var schema struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type        string          `json:"type"`
			Description string          `json:"description"`
			Enum        []string        `json:"enum"`
			Default     json.RawMessage `json:"default"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
		panic(err) // embedded, and read by every test
	}
	out := []webParameter{}
	for _, n := range b.names {
		p := schema.Properties[n[0]]
		one := webParameter{Name: n[1], Argument: n[0], Type: p.Type, Description: p.Description, Enum: p.Enum, Default: p.Default}
		for _, r := range schema.Required {
			one.Required = one.Required || r == n[0]
		}
		out = append(out, one)
	}
	return out
}
