package tools

import (
	"math"
	"net/url"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/evals/resource"
)

// A Workspace makes the answers about a workspace's evals.
type Workspace struct {
	Slug string
	URL  string // address of its pages, without trailing slash
	Via  string // tags addresses; empty tags none
	Now  time.Time
}

func (w Workspace) page(path string) string { return Tag(w.URL+path, w.Via) }

// most are the entries of an inner list of an answer.
const most = 20

// first returns at most n entries of a list, and never null.
func first[T any](list []T, n int) []T { return append([]T{}, list[:min(n, len(list))]...) }

type ownRun struct {
	ID              string     `json:"id"`
	EvalID          string     `json:"evalId"`
	EvalName        string     `json:"evalName"`
	EvalVersion     int        `json:"evalVersion"`
	Category        string     `json:"category"`
	Status          string     `json:"status"`
	CreatedAt       time.Time  `json:"createdAt"`
	StartedAt       *time.Time `json:"startedAt"`
	EndedAt         *time.Time `json:"endedAt"`
	CancelRequested bool       `json:"cancelRequested"`
	Planned         int        `json:"planned"`
	Valid           int        `json:"valid"`
	Excluded        int        `json:"excluded"`
	Progress        float64    `json:"progress"`
	Coverage        float64    `json:"coverage"`
	BudgetUSD       float64    `json:"budgetUsd"`
	SpentUSD        float64    `json:"spentUsd"`
	AtMostUSD       float64    `json:"atMostUsd"`
	Note            string     `json:"note,omitempty"`
	HasResults      bool       `json:"hasResults"`
	ETA             *int       `json:"etaSeconds"`
	NextPoll        *int       `json:"nextPollSeconds"`
	URL             string     `json:"url"`
	Replayed        *bool      `json:"replayed,omitempty"` // of startEvalRun
}

func (w Workspace) run(r *resource.Run) *ownRun {
	out := &ownRun{
		ID: r.ID, EvalID: r.EvalID, EvalName: r.EvalName, EvalVersion: r.EvalVersion, Category: r.Category, Status: r.Status,
		CreatedAt: r.CreatedAt, StartedAt: r.StartedAt, EndedAt: r.EndedAt, CancelRequested: r.CancelRequested,
		Planned: r.Planned, Valid: r.Valid, Excluded: r.Excluded, Coverage: r.Coverage, BudgetUSD: r.BudgetUSD, SpentUSD: r.SpentUSD, AtMostUSD: r.AtMostUSD,
		Note: r.Note, HasResults: r.HasResults, URL: w.page("/runs/" + url.PathEscape(r.ID)),
	}
	if r.Planned > 0 {
		out.Progress = min(1, float64(r.Valid+r.Excluded)/float64(r.Planned))
	}
	out.ETA = w.eta(r)
	out.NextPoll = nextPoll(r, out.ETA)
	return out
}

// eta estimates the seconds to the end of a running run from its speed so far; nil where
// that is unknown.
func (w Workspace) eta(r *resource.Run) *int {
	done := r.Valid + r.Excluded
	if r.Status != resource.Running || r.StartedAt == nil || done == 0 || done > r.Planned {
		return nil
	}
	took := max(0, w.Now.Sub(*r.StartedAt).Seconds())
	left := int(math.Ceil(took / float64(done) * float64(r.Planned-done)))
	return &left
}

// The bounds of nextPollSeconds: a short run is not missed, and a long one not polled for
// nothing.
const (
	soonest = 5
	latest  = 60
)

// nextPoll returns the seconds until a run should be read again; nil for one that ended.
func nextPoll(r *resource.Run, eta *int) *int {
	wait := soonest
	switch {
	case r.Ended():
		return nil
	case r.Status == resource.Queued:
		wait = 2 * soonest
	case eta != nil:
		wait = min(latest, max(soonest, *eta/2))
	}
	return &wait
}

// Run is the answer of getEvalRun.
func (w Workspace) Run(r *resource.Run) Answer { return Reply(w.run(r)) }

// Started is the answer of startEvalRun; replayed says that the run had been started before.
func (w Workspace) Started(r *resource.Run, replayed bool) Answer {
	out := w.run(r)
	out.Replayed = &replayed
	return Reply(out)
}

// Runs is the answer of listEvalRuns; next is the cursor of the next page, empty on the last.
func (w Workspace) Runs(evalID string, runs []*resource.Run, next string) Answer {
	out := struct {
		Workspace string    `json:"workspace"`
		Runs      []*ownRun `json:"runs"`
		Next      *string   `json:"nextCursor"`
		URL       string    `json:"url"`
	}{w.Slug, []*ownRun{}, cursorOf(next), w.page("/evals/" + url.PathEscape(evalID))}
	for _, r := range runs {
		out.Runs = append(out.Runs, w.run(r))
	}
	return Reply(out)
}

func cursorOf(next string) *string {
	if next == "" {
		return nil
	}
	return &next
}

type ownEval struct {
	ID          string                  `json:"id"`
	Name        string                  `json:"name"`
	Version     int                     `json:"version"`
	Category    string                  `json:"category"`
	Description string                  `json:"description,omitempty"`
	Prompts     int                     `json:"prompts"`
	Repeats     int                     `json:"repeats"`
	Trials      int                     `json:"trials"`
	Agents      []resource.AgentSummary `json:"agents"`
	NAgents     int                     `json:"nAgents"`
	Synthetic   bool                    `json:"synthetic"`
	ExpectedUSD *float64                `json:"expectedUsd"`
	WorstUSD    *float64                `json:"worstUsd"`
	MissingKeys []string                `json:"missingKeys"`
	UpdatedAt   time.Time               `json:"updatedAt"`
	LastRun     *ownRun                 `json:"lastRun"`
	URL         string                  `json:"url"`
}

// Evals is the answer of listEvals. Of the runs, those of an eval are its last; next is the
// cursor of the next page, empty on the last.
func (w Workspace) Evals(evals []*resource.Eval, runs []*resource.Run, next string) Answer {
	out := struct {
		Workspace string    `json:"workspace"`
		Evals     []ownEval `json:"evals"`
		Next      *string   `json:"nextCursor"`
		URL       string    `json:"url"`
	}{w.Slug, []ownEval{}, cursorOf(next), w.page("/evals")}
	for _, e := range evals {
		row := ownEval{
			ID: e.ID, Name: e.Name, Version: e.Version, Category: e.Category, Description: e.Description, Prompts: e.Prompts, Repeats: e.Repeats, Trials: e.Trials,
			Agents: first(e.Agents, most), NAgents: len(e.Agents), Synthetic: e.Synthetic, ExpectedUSD: e.ExpectedUSD, WorstUSD: e.WorstUSD,
			MissingKeys: first(e.MissingKeys, most), UpdatedAt: e.UpdatedAt, URL: w.page("/evals/" + url.PathEscape(e.ID)),
		}
		if i := slices.IndexFunc(runs, func(r *resource.Run) bool { return r.EvalID == e.ID }); i >= 0 {
			row.LastRun = w.run(runs[i])
		}
		out.Evals = append(out.Evals, row)
	}
	return Reply(out)
}
