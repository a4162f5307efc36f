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

func (s *Service) webMCP() webDoc {
	out := webDoc{
		Spec: "webmcp/0.1", Name: s.Name, Title: title, Description: summary, Version: s.Version, Origin: s.BaseURL,
		Server: webServer{s.BaseURL + "/api/mcp", "streamable-http"}, Auth: webAuth{"none"},
		Invocation: webInvocation{"mcp", s.BaseURL + "/api/mcp", s.BaseURL + "/"}, Docs: s.BaseURL + "/docs/mcp.md", OpenAPI: s.BaseURL + "/openapi.json",
	}
	for _, t := range tools.Tools() {
		out.Tools = append(out.Tools, webTool{Tool: t, URL: s.BaseURL + t.HTTP.Path, Method: "GET", Auth: webAuth{t.HTTP.Auth}, Parameters: parameters(t)})
	}
	return out
}

// parameters are the arguments that plain HTTP has; others are left out.
func parameters(t tools.Tool) []webParameter {
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
	for _, n := range t.HTTP.Parameters {
		p := schema.Properties[n[0]]
		one := webParameter{Name: n[1], Argument: n[0], Type: p.Type, Description: p.Description, Enum: p.Enum, Default: p.Default}
		for _, r := range schema.Required {
			one.Required = one.Required || r == n[0]
		}
		out = append(out, one)
	}
	return out
}
