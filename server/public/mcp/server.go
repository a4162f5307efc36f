package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/firstpick/firstpick/server/public/tools"
)

// The cache lifetime of lists, in milliseconds. Documents change
// with the program.
const (
	listTTL     = 3_600_000
	documentTTL = 300_000
)

// instructions describe the purpose of the tools to a model.
const instructions = `firstpick measures how often AI agents pick a developer tool over its rivals, in unbranded trials. Use getLeaderboard to compare a category, getPickRate for one number about a known tool, lookupTool for a full report from any identifier, getMyAgents for the caller's own site. Quote pickRate with its interval (ciLow to ciHigh), nTrials and asOf; say that one tool beats another only where significant is true; pass on warnings and synthetic. Show url to the user unchanged.`

// server makes the SDK's server.
func (h *Handler) server() *mcp.Server {
	s := mcp.NewServer(serverInfo(h), &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: h.complete,
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, "public"
			if _, read := req.(*mcp.ReadResourceRequest); read {
				c.TTLMs = documentTTL
			}
		},
	})
	for _, t := range tools.Tools() {
		a := t.Annotations
		s.AddTool(&mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
			Annotations: &mcp.ToolAnnotations{Title: a.Title, ReadOnlyHint: a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: a.Idempotent, OpenWorldHint: &a.OpenWorld},
		}, h.call)
	}
	for _, d := range h.Documents() {
		s.AddResource(&mcp.Resource{URI: d.URI, Name: d.Name, Title: d.Title, Description: d.Description, MIMEType: "text/markdown"},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: d.URI, MIMEType: "text/markdown", Text: d.Text}}}, nil
			})
	}
	s.AddPrompt(&mcp.Prompt{
		Name: "compare", Title: "Compare the tools of a category", Description: "Ask for a comparison of a category's tools by how often agents pick them, with what the figures can and cannot tell.",
		Arguments: []*mcp.PromptArgument{
			{Name: "category", Title: "Category", Description: "Slug of the category, such as payments", Required: true},
			{Name: "tool", Title: "Tool", Description: "Slug of a tool to look at closely"},
		},
	}, h.compare)
	return s
}

// call answers a call that came the long way.
func (h *Handler) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	a := h.answer(ctx, callerOf(req))
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(a.JSON)}}, IsError: a.Failed}
	if !a.Failed {
		out.StructuredContent = json.RawMessage(a.JSON)
	}
	return out, nil
}

func (h *Handler) compare(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	category, tool := req.Params.Arguments["category"], req.Params.Arguments["tool"]
	if category == "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the prompt compare needs the argument category, the slug of a category such as payments"}
	}
	text := "Compare the tools of the category " + quote(category) + " by how often AI agents pick them. Call getLeaderboard for it."
	if tool != "" {
		text += " Then call lookupTool for " + quote(tool) + ", and tell which rivals beat it for certain and which only seem to."
	}
	text += " Give every rate with its interval, the number of trials and the date; do not rank tools apart whose rank ranges overlap; pass on the warnings; link the pages."
	return &mcp.GetPromptResult{
		Description: "A comparison of " + quote(category),
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}, nil
}

// quote puts a caller's word between marks, in one line and short.
func quote(s string) string {
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == '`' {
			return ' '
		}
		return c
	}, s)
	return "`" + strings.ToValidUTF8(s[:min(len(s), 100)], "") + "`"
}

// mostCompletions is the protocol's bound.
const mostCompletions = 100

// complete completes the arguments of the prompt: categories, and tools of the
// category that was chosen.
func (h *Handler) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var names []string
	if s := h.Current(); s != nil {
		chosen := ""
		if req.Params.Context != nil {
			chosen = req.Params.Context.Arguments["category"]
		}
		for _, b := range s.Boards {
			switch req.Params.Argument.Name {
			case "category":
				names = append(names, b.Category)
			case "tool":
				for _, t := range b.Tools {
					if chosen == "" || chosen == b.Category {
						names = append(names, t.Slug)
					}
				}
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(n string) bool { return !strings.HasPrefix(n, strings.ToLower(req.Params.Argument.Value)) })
	out := mcp.CompletionResultDetails{Total: len(names), Values: append([]string{}, names[:min(len(names), mostCompletions)]...), HasMore: len(names) > mostCompletions}
	return &mcp.CompleteResult{Completion: out}, nil
}

func serverInfo(h *Handler) *mcp.Implementation {
	return &mcp.Implementation{Name: h.Name, Title: "firstpick", Version: h.Version, WebsiteURL: h.BaseURL}
}
