// Package tools has the tools that agents can call, and their results: one list of
// tools, from which MCP, WebMCP and the discovery documents are made, and the
// answers to the public ones out of a site.
package tools

import (
	_ "embed"
	"encoding/json"
)

//go:embed tools.json
var definitions []byte

// The names of the tools.
const (
	GetLeaderboard = "getLeaderboard"
	GetPickRate    = "getPickRate"
	LookupTool     = "lookupTool"
	GetMyAgents    = "getMyAgents"
)

// A Tool is something that agents can call. Schemas are JSON Schema 2020-12.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  Annotations     `json:"annotations"`
}

// Annotations are the hints of MCP about a tool.
type Annotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

// Tools returns all tools, in the order in which they are listed.
func Tools() []Tool {
	var doc struct {
		Tools []Tool `json:"tools"`
	}
	if err := json.Unmarshal(definitions, &doc); err != nil {
		panic(err) // embedded, and read by every test
	}
	return doc.Tools
}
