package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/tools"
)

// TrafficTool answers getMyAgents out of the reports of a token's workspace. A failure has
// its remedy in the result itself: a 401 would make clients begin a sign-in that does not
// exist.
type TrafficTool struct {
	Agents  *registrations.Service
	Reports traffic.Reports // nil where this server has none
	// Guide is the address of the page about getting a token.
	Guide string
	Log   *slog.Logger
}

// Answer answers a call in a request by who sent a header Authorization.
func (m *TrafficTool) Answer(ctx context.Context, request, authorization string, arguments []byte) tools.Answer {
	q, wrong := tools.ReadMine(arguments)
	if wrong != nil {
		return *wrong
	}
	token := bearer(authorization)
	if strings.HasPrefix(token, evalKeyPrefix) {
		return m.fail(request, &apierr.Error{Status: http.StatusUnauthorized, Code: "invalid_token", Description: "This is an eval key, which opens the tools of evals only. This tool needs an access token with the scope analytics.read; auth_guide describes how to get one."})
	}
	if token == "" {
		return m.fail(request, &apierr.Error{Code: "login_required", Description: "This tool needs an access token with the scope analytics.read, as Authorization: Bearer on the MCP request. auth_guide describes how to register and get one."})
	}
	b, err := m.Agents.Authenticate(ctx, token)
	if err != nil {
		return m.fail(request, err)
	}
	w, _, err := m.Agents.ReadWorkspace(ctx, b)
	if err != nil {
		return m.fail(request, err)
	}
	if m.Reports == nil {
		return m.fail(request, &apierr.Error{Code: "temporarily_unavailable", RetryAfter: 60, Description: "This server makes no reports. Another one of the service does."})
	}
	query, err := traffic.ParseQuery(url.Values{"window": {q.Period}}, m.Agents.Now())
	if err != nil {
		return m.fail(request, err)
	}
	query.Parts, query.Limit = traffic.PartOutcome|traffic.PartAgents|traffic.PartPages, traffic.MaxLimit
	r, err := m.Reports.Report(ctx, w.ID, query)
	if err != nil {
		return m.fail(request, err)
	}
	return tools.Mine(q, r, w.Slug, m.Agents.BaseURL+"/workspaces/"+url.PathEscape(w.Slug))
}

// fail returns the error result. Internal causes are logged.
func (m *TrafficTool) fail(request string, err error) tools.Answer {
	e := apierr.Of(err)
	if e.Status >= http.StatusInternalServerError {
		m.Log.Error("a call failed", "request_id", request, "tool", tools.GetMyAgents, "err", e)
	}
	f := tools.Failure{Code: e.Code, Description: e.Description, RetryAfter: e.RetryAfter}
	switch e.Code {
	case "login_required", "insufficient_scope", "invalid_token", "unauthorized":
		f.AuthGuide = m.Guide
	}
	return tools.Fail(f)
}
