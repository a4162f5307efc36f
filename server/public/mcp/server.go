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
func instructions() string {
	return "firstpick measures how often AI agents pick a developer tool over its rivals, in unbranded trials. Use " + uses(tools.Tools()) +
		". Quote pickRate with its interval (ciLow to ciHigh), nTrials and asOf; say that one tool beats another only where significant is true; pass on warnings and synthetic. Show url to the user unchanged."
}

// uses lists what tools are for.
func uses(list []tools.Tool) string {
	var out []string
	for _, t := range list {
		out = append(out, t.Name+" "+t.Use)
	}
	return strings.Join(out, ", ")
}

// server makes the SDK's server.
func (h *Handler) server() *mcp.Server {
	s := mcp.NewServer(serverInfo(h), &mcp.ServerOptions{
		Instructions: instructions(),
		Capabilities: &mcp.ServerCapabilities{
			Tools: &mcp.ToolCapabilities{}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{}, Completions: &mcp.CompletionCapabilities{},
		},
		CompletionHandler: h.complete,
		SetCacheable: func(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
			c.TTLMs, c.CacheScope = listTTL, "public"
			if senderOf(req.GetExtra()).authorization != "" { // the answer depends on the key
				c.CacheScope = "private"
			}
			if _, read := req.(*mcp.ReadResourceRequest); read {
				c.TTLMs = documentTTL
			}
		},
	})
	all := tools.Tools()
	if h.Evals != nil {
		all = append(all, tools.Own()...)
		s.AddReceivingMiddleware(h.hideOwn)
	}
	for _, t := range all {
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
		Name: "compare", Title: "Compare the tools of a category", Description: "Ask for a comparison of a category's tools by how often agents pick them, with the limits of the data.",
		Arguments: []*mcp.PromptArgument{
			{Name: "category", Title: "Category", Description: "Slug of the category, such as payments", Required: true},
			{Name: "tool", Title: "Tool", Description: "Slug of a tool to look at closely"},
		},
	}, h.compare)
	return s
}

// hideOwn leaves the tools of a workspace's evals out of what a caller without a live eval
// key is shown. A call without one is answered, with what is missing.
func (h *Handler) hideOwn(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		if err != nil {
			return res, err
		}
		switch r := res.(type) {
		case *mcp.ListToolsResult:
			if !h.Evals.opens(ctx, senderOf(req.GetExtra())) {
				r.Tools = slices.DeleteFunc(r.Tools, func(t *mcp.Tool) bool { return tools.IsOwn(t.Name) }) // the list is this result's alone
			}
		case *mcp.InitializeResult:
			r.Instructions += h.ownInstructions(ctx, req)
		case *mcp.DiscoverResult:
			r.Instructions += h.ownInstructions(ctx, req)
		}
		return res, nil
	}
}

// ownInstructions describe the tools of a workspace's evals to a caller who sees them.
func (h *Handler) ownInstructions(ctx context.Context, req mcp.Request) string {
	if !h.Evals.opens(ctx, senderOf(req.GetExtra())) {
		return ""
	}
	return " For the user's own evals use " + uses(tools.Own()) + ". Agree on the budget with the user before startEvalRun."
}

// call answers a call dispatched by the SDK.
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
		text += " Then call lookupTool for " + quote(tool) + ", and report which rivals beat it significantly and which do not."
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
