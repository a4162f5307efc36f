// Package tools has the tools that agents can call, and their results: one list of
// tools, from which MCP, WebMCP and the discovery documents are made, and the
// answers to the public ones out of a site. Own lists those of a workspace's evals, which
// MCP alone has.
package tools

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"

	"github.com/firstpick/firstpick/server/public/snapshotview"
)

//go:embed tools.json
var definitions []byte

// The names of the tools.
const (
	GetLeaderboard = "getLeaderboard"
	GetPickRate    = "getPickRate"
	LookupTool     = "lookupTool"
	CompareTools   = "compareTools"
	LookupTools    = "lookupTools"
	GetChanges     = "getChanges"
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

	Use  string `json:"-"` // what to use it for: "to compare a category"
	HTTP HTTP   `json:"-"` // empty for a tool of Own
}

// An HTTP is the request that gets what a tool answers.
type HTTP struct {
	Path, Auth string      // Auth is none or bearer
	Parameters [][2]string // an argument and its query parameter
}

// Arguments returns the names of the arguments, sorted.
func (t Tool) Arguments() []string {
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(t.InputSchema, &schema); err != nil {
		panic(err) // embedded, and read by every test
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

// Public reports whether the tool needs no credential.
func (t Tool) Public() bool { return t.HTTP.Auth == "none" }

// Annotations are the hints of MCP about a tool.
type Annotations struct {
	Title       string `json:"title"`
	ReadOnly    bool   `json:"readOnlyHint"`
	Destructive bool   `json:"destructiveHint"`
	Idempotent  bool   `json:"idempotentHint"`
	OpenWorld   bool   `json:"openWorldHint"`
}

// Tools returns all tools, in the order in which they are listed.
func Tools() []Tool { return parse(definitions) }

func parse(definitions []byte) []Tool {
	var doc struct {
		Tools []struct {
			Tool
			Use  string `json:"use"`
			HTTP HTTP   `json:"http"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(definitions, &doc); err != nil {
		panic(err) // embedded, and read by every test
	}
	out := make([]Tool, len(doc.Tools))
	for i, t := range doc.Tools {
		out[i] = t.Tool
		out[i].Use, out[i].HTTP = t.Use, t.HTTP
	}
	return out
}

// OfSite reports whether a site alone answers a tool.
func OfSite(tool string) bool { return answerOf(tool) != nil }

// answerOf returns what answers a tool from a site; nil for others.
func answerOf(tool string) func(Call, *snapshotview.Site) Answer {
	switch tool {
	case GetLeaderboard:
		return Call.leaderboard
	case GetPickRate:
		return Call.pickRate
	case LookupTool:
		return Call.lookup
	case CompareTools:
		return Call.compare
	case LookupTools:
		return Call.lookupAll
	}
	return nil
}
