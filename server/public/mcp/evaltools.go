package mcp

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/tools"
)

// EvalTools answers the tools of a workspace's evals for the holder of an eval key. It calls the
// services of the eval API, whose rules and limits apply.
type EvalTools struct {
	Evals *evals.Service
	// Admit authenticates a key for a call that reads, or starts a run, and counts it; see
	// evalapi.Handler.
	Admit func(ctx context.Context, token string, ip netip.Addr, userAgent string, starts bool) (*evals.Actor, error)
	// BaseURL is the public address without trailing slash, Guide that of the page about
	// getting a key.
	BaseURL, Guide string
	Log            *slog.Logger
	Now            func() time.Time
}

// The beginnings of credentials: of an eval key, and of those that are mistaken for one.
const (
	evalKeyPrefix     = "fpe_"
	accessTokenPrefix = "at_"
)

func isCollectorKey(token string) bool {
	kind, _, found := strings.Cut(token, "_live_")
	return found && (kind == "sk" || kind == "pk" || kind == "log")
}

// bearer returns the credential of a header Authorization; empty if absent.
func bearer(authorization string) string {
	scheme, token, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// opens reports whether the caller has a live eval key, and so sees the tools. It counts
// for no limit of the key: nothing of the workspace is shown.
func (o *EvalTools) opens(ctx context.Context, c caller) bool {
	token := bearer(c.authorization)
	if o == nil || !strings.HasPrefix(token, evalKeyPrefix) {
		return false
	}
	_, err := o.Evals.Authenticate(ctx, token, c.ip, c.userAgent)
	return err == nil
}

// answer answers a call.
func (o *EvalTools) answer(ctx context.Context, c caller) tools.Answer {
	a, err := o.reply(ctx, c)
	if err != nil {
		return o.fail(c, err)
	}
	return a
}

// reply answers a call, or fails.
func (o *EvalTools) reply(ctx context.Context, c caller) (tools.Answer, error) {
	actor, err := o.actor(ctx, c)
	if err != nil {
		return tools.Answer{}, err
	}
	w := tools.Workspace{Slug: actor.Workspace.Slug, URL: o.BaseURL + "/workspaces/" + url.PathEscape(actor.Workspace.Slug), Via: c.via, Now: o.Now()}
	switch c.tool {
	case tools.ListEvals:
		return o.evals(ctx, *actor, w, c.arguments)
	case tools.ListEvalRuns:
		return o.runs(ctx, *actor, w, c.arguments)
	case tools.StartEvalRun:
		return o.start(ctx, *actor, w, c.arguments)
	}
	q, wrong := tools.ReadRun(c.tool, c.arguments)
	if wrong != nil {
		return *wrong, nil
	}
	switch c.tool {
	case tools.GetEvalScores:
		return o.scores(ctx, *actor, w, q)
	case tools.CompareEvalRuns:
		return o.compare(ctx, *actor, w, q)
	case tools.ExplainLoss:
		return o.explain(ctx, *actor, w, q)
	}
	r, err := o.Evals.Run(ctx, *actor, q.RunID)
	if err != nil {
		return tools.Answer{}, err
	}
	return w.Run(r), nil
}

// actor authenticates a call. A credential of another kind is named: clients often have one
// for each.
func (o *EvalTools) actor(ctx context.Context, c caller) (*evals.Actor, error) {
	token := bearer(c.authorization)
	const need = "This tool needs an eval key (fpe_...) as Authorization: Bearer on the MCP request. An owner or editor of the workspace creates one in its settings; auth_guide describes how."
	what := ""
	switch {
	case token == "":
		return nil, &apierr.Error{Status: http.StatusUnauthorized, Code: "unauthorized", Description: need}
	case isCollectorKey(token):
		what = "This is a collector key, which only sends events. "
	case strings.HasPrefix(token, accessTokenPrefix):
		what = "This is an access token, which reads agent traffic. "
	case !strings.HasPrefix(token, evalKeyPrefix):
		what = "This is not an eval key. "
	}
	if what != "" {
		return nil, &apierr.Error{Status: http.StatusUnauthorized, Code: "invalid_token", Description: what + need}
	}
	return o.Admit(ctx, token, c.ip, c.userAgent, c.tool == tools.StartEvalRun)
}

func (o *EvalTools) evals(ctx context.Context, actor evals.Actor, w tools.Workspace, arguments []byte) (a tools.Answer, err error) {
	q, wrong := tools.ReadEvals(arguments)
	if wrong != nil {
		return *wrong, nil
	}
	list, next, err := o.Evals.Evals(ctx, actor, q.Cursor, q.Limit)
	if err != nil {
		return a, err
	}
	var last []*evals.Run
	for _, e := range list {
		runs, _, err := o.Evals.Runs(ctx, actor, evals.RunQuery{EvalID: e.ID, Limit: 1})
		if err != nil && apierr.Of(err).Code != "eval_not_found" { // erased a moment ago
			return a, err
		}
		last = append(last, runs...)
	}
	return w.Evals(list, last, next), nil
}

func (o *EvalTools) runs(ctx context.Context, actor evals.Actor, w tools.Workspace, arguments []byte) (a tools.Answer, err error) {
	q, wrong := tools.ReadRuns(arguments)
	if wrong != nil {
		return *wrong, nil
	}
	list, next, err := o.Evals.Runs(ctx, actor, evals.RunQuery{EvalID: q.EvalID, Status: q.Status, Cursor: q.Cursor, Limit: q.Limit})
	if err != nil {
		return a, err
	}
	return w.Runs(q.EvalID, list, next), nil
}

func (o *EvalTools) start(ctx context.Context, actor evals.Actor, w tools.Workspace, arguments []byte) (a tools.Answer, err error) {
	q, wrong := tools.ReadStart(arguments)
	if wrong != nil {
		return *wrong, nil
	}
	r, replayed, err := o.Evals.Start(ctx, actor, evals.StartRequest{EvalID: q.EvalID, Version: q.Version, BudgetUSD: q.BudgetUSD, IdempotencyKey: q.IdempotencyKey})
	if err != nil {
		return a, err
	}
	return w.Started(r, replayed), nil
}

func (o *EvalTools) scores(ctx context.Context, actor evals.Actor, w tools.Workspace, q tools.RunQuery) (a tools.Answer, err error) {
	r, err := o.Evals.Run(ctx, actor, q.RunID)
	if err != nil {
		return a, err
	}
	b, release, err := o.Evals.Results(ctx, actor, q.RunID) // which fails for a run without
	if err != nil {
		return a, err
	}
	defer release()
	scores, err := b.ReadScores(o.BaseURL)
	if err != nil {
		return a, err
	}
	return w.Scores(q, r, scores), nil
}

func (o *EvalTools) compare(ctx context.Context, actor evals.Actor, w tools.Workspace, q tools.RunQuery) (a tools.Answer, err error) {
	if q.BaseRunID == "" {
		if q.BaseRunID, err = o.before(ctx, actor, q.RunID); err != nil {
			return a, err
		}
	}
	c, err := o.Evals.Compare(ctx, actor, q.RunID, q.BaseRunID)
	if err != nil {
		return a, err
	}
	return w.Comparison(q, c), nil
}

func (o *EvalTools) explain(ctx context.Context, actor evals.Actor, w tools.Workspace, q tools.RunQuery) (a tools.Answer, err error) {
	err = o.Evals.Heavy(actor.Workspace.ID, func() error {
		e, err := o.Evals.Explain(ctx, actor, q.RunID, q.Tool)
		if err == nil {
			a = w.Explanation(q, e)
		}
		return err
	})
	return a, err
}

// maxBefore is the number of pages of 200 runs in which before searches.
const maxBefore = 5

// before returns the newest run with results of the same eval that was started before a run.
func (o *EvalTools) before(ctx context.Context, actor evals.Actor, id string) (string, error) {
	r, err := o.Evals.Run(ctx, actor, id)
	if err != nil {
		return "", err
	}
	query, after := evals.RunQuery{EvalID: r.EvalID, Limit: 200}, false
	for range maxBefore {
		list, next, err := o.Evals.Runs(ctx, actor, query)
		if err != nil {
			return "", err
		}
		for _, other := range list { // the newest first
			if after && other.HasResults {
				return other.ID, nil
			}
			after = after || other.ID == id
		}
		if query.Cursor = next; next == "" {
			return "", &apierr.Error{Status: http.StatusConflict, Code: "no_results", Description: "No earlier run of this eval has results. Give baseRunId, or start another run."}
		}
	}
	return "", &apierr.Error{Status: http.StatusConflict, Code: "no_results", Description: "None of the newest 1000 runs of this eval is before this one and has results. Give baseRunId."}
}

// fail returns the error result: code and description of the eval API, and what to do over
// MCP. Internal causes are logged.
func (o *EvalTools) fail(c caller, err error) tools.Answer {
	e := apierr.Of(err)
	if e.Status >= http.StatusInternalServerError {
		o.Log.Error("a call failed", "request_id", c.request, "tool", c.tool, "err", e)
	}
	f := tools.Failure{Code: e.Code, Description: e.Description, Reason: e.Reason, Scope: e.Scope, Suggestions: e.Suggestions, RetryAfter: e.RetryAfter}
	switch e.Code {
	case "unauthorized", "invalid_token", "insufficient_scope", "plan_required":
		f.AuthGuide = o.Guide
	case "rate_limited":
		f.Description = "Too many calls with this key or from this address. Wait as many seconds as retry_after says, then continue."
		f.RetryAfter = cmp.Or(f.RetryAfter, 1)
	case "eval_not_found":
		f.Description = "This workspace has no such eval, or the eval has no such version. Call listEvals for the ids."
	case "run_not_found":
		f.Description = "This workspace has no such run. Call listEvals or listEvalRuns for the ids."
	case "no_results":
		f.Description += " Over MCP, getEvalRun reports the state of a run."
	}
	return tools.Fail(f)
}
