package evalclient

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// A StartRequest asks for a run of an eval.
type StartRequest struct {
	// BudgetUSD limits the cost of the run; it must be positive.
	BudgetUSD float64 `json:"budgetUsd"`
	// Version is that of the eval; 0 is the latest.
	Version int `json:"version,omitempty"`
	// IdempotencyKey makes it one run, however often it is asked for. It must be set.
	IdempotencyKey string `json:"-"`
}

// Start queues a run of an eval.
func (c *Client) Start(ctx context.Context, evalID string, r StartRequest) (*Run, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return ask[Run](ctx, c, call{
		method: http.MethodPost, path: "/api/v1/evals/" + url.PathEscape(evalID) + "/runs", contentType: jsonType, body: body,
		header: map[string]string{"Idempotency-Key": r.IdempotencyKey}, again: r.IdempotencyKey != "",
	})
}

// Runs lists runs, the latest first: those of one eval, where evalID is not empty, and
// in one status, where that is not empty.
func (c *Client) Runs(ctx context.Context, evalID, status string) iter.Seq2[*Run, error] {
	query := url.Values{"limit": {pageSize}}
	for name, value := range map[string]string{"eval": evalID, "status": status} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return list[Run](ctx, c, "/api/v1/runs", "runs", query)
}

func runPath(id string) string { return "/api/v1/runs/" + url.PathEscape(id) }

// Run returns a run with its scores, where there are any.
func (c *Client) Run(ctx context.Context, id string) (*Report, error) {
	return get[Report](ctx, c, runPath(id), nil)
}

// Cancel asks a run to end. Requests in flight may end after this call.
func (c *Client) Cancel(ctx context.Context, id string) (*Run, error) {
	return ask[Run](ctx, c, call{method: http.MethodDelete, path: runPath(id), again: true})
}

// Compare returns the changes from one run, the base, to another of the same category.
func (c *Client) Compare(ctx context.Context, base, id string) (*Comparison, error) {
	return get[Comparison](ctx, c, runPath(id)+"/compare", url.Values{"with": {base}})
}

// Explain returns why answers of a run did not pick a tool, which is named by slug, name,
// domain or package.
func (c *Client) Explain(ctx context.Context, id, tool string) (*Explanation, error) {
	return get[Explanation](ctx, c, runPath(id)+"/explain", url.Values{"tool": {tool}})
}

func (f Filter) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"agent": f.Agent, "outcome": f.Outcome, "picked": f.Picked, "prompt": f.Prompt} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// Trials lists trials of a run in the order of its plan, page by page.
func (c *Client) Trials(ctx context.Context, runID string, f Filter, page int) iter.Seq2[*Entry, error] {
	query := f.query()
	query.Set("fields", "summary")
	query.Set("limit", strconv.Itoa(max(1, page)))
	return list[Entry](ctx, c, runPath(runID)+"/traces", "traces", query)
}

// Trial returns one complete trial: prompt, transcript and evidence.
func (c *Client) Trial(ctx context.Context, runID, trialID string) (json.RawMessage, error) {
	doc, err := get[json.RawMessage](ctx, c, runPath(runID)+"/traces/"+url.PathEscape(trialID), nil)
	if err != nil {
		return nil, err
	}
	return *doc, nil
}

// The formats of a download.
const (
	NDJSON  = "ndjson"
	Parquet = "parquet"
)

// Download returns the trials of a run as a file. The caller closes it; an error while
// it is read means that it is not whole.
func (c *Client) Download(ctx context.Context, runID, format string, f Filter) (io.ReadCloser, error) {
	query := f.query()
	query.Set("format", format)
	res, err := c.open(ctx, call{method: http.MethodGet, path: runPath(runID) + "/traces", query: query, again: true,
		header: map[string]string{"Accept": "*/*"}})
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}
