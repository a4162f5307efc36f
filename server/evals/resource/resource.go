// Package resource defines the JSON of the eval API, for its server and for clients.
// Amounts are US dollars. openapi.yaml describes the same shapes.
package resource

import "time"

// A Summary describes an eval in lists.
type Summary struct {
	Category     string         `json:"category"`
	Description  string         `json:"description,omitempty"`
	Prompts      int            `json:"prompts"`
	Templates    []string       `json:"templates"`
	Repeats      int            `json:"repeats"`
	Trials       int            `json:"trials"`
	Synthetic    bool           `json:"synthetic"`
	Agents       []AgentSummary `json:"agents"`
	ProviderKeys []string       `json:"providerKeys"` // names of the keys that its agents need, sorted
	// KeyHosts are the hosts that each of these keys is sent to, sorted.
	KeyHosts map[string][]string `json:"keyHosts,omitempty"`
	// ExpectedUSD and WorstUSD are the cost of a run; null where that is unknown.
	ExpectedUSD *float64 `json:"expectedUsd"`
	WorstUSD    *float64 `json:"worstUsd"`
}

// An AgentSummary is one agent of an eval.
type AgentSummary struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`
}

// An Eval is an eval of a workspace.
type Eval struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"` // 1, 2, 3
	Digest  string `json:"digest"`
	// CatalogDigest is that of the own catalogue that the version was validated with;
	// empty without one.
	CatalogDigest string `json:"catalogDigest,omitempty"`
	Summary
	// MissingKeys are those of ProviderKeys that the workspace has not set.
	MissingKeys []string  `json:"missingKeys"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"` // of this version
	URL         string    `json:"url"`
	// Source is the text as it was sent; left out of lists.
	Source string `json:"source,omitempty"`
	// Warnings come when an eval is stored or checked.
	Warnings []string `json:"warnings,omitempty"`
}

// The statuses of a run.
const (
	Queued    = "queued"
	Running   = "running"
	Done      = "done"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// A Run is one run of an eval.
type Run struct {
	ID          string `json:"id"`
	EvalID      string `json:"evalId"`
	EvalName    string `json:"evalName"`
	EvalVersion int    `json:"evalVersion"`
	Category    string `json:"category"`
	// CatalogVersion is that of the workspace's own catalogue when the run was started; 0
	// without one.
	CatalogVersion int        `json:"catalogVersion,omitempty"`
	Status         string     `json:"status"` // queued, running, done, failed, cancelled
	CreatedAt      time.Time  `json:"createdAt"`
	StartedAt      *time.Time `json:"startedAt"`
	EndedAt        *time.Time `json:"endedAt"`
	// CancelRequested reports whether its cancellation was requested.
	CancelRequested bool    `json:"cancelRequested"`
	Planned         int     `json:"planned"` // trials
	Valid           int     `json:"valid"`
	Excluded        int     `json:"excluded"`
	Coverage        float64 `json:"coverage"` // valid / planned
	BudgetUSD       float64 `json:"budgetUsd"`
	SpentUSD        float64 `json:"spentUsd"`
	// AtMostUSD adds the worst case of trials in flight and of attempts of unknown cost.
	AtMostUSD float64 `json:"atMostUsd"`
	// Attempts counts the workers that took it: more than one after one died.
	Attempts int `json:"attempts"`
	// Note is why the run failed, ended early, or waits after a turn; empty if absent.
	Note string `json:"note,omitempty"`
	// HasResults reports whether there are scores and traces.
	HasResults bool   `json:"hasResults"`
	URL        string `json:"url"`
	TracesURL  string `json:"tracesUrl,omitempty"` // where there are results
	EventsURL  string `json:"eventsUrl"`

	// Origin is pushed for a run that was made elsewhere and pushed to this server, which
	// verified its journal and measured nothing; empty for a run of this server.
	Origin string `json:"origin,omitempty"`
	// PushedBy is the id of the eval key that pushed it.
	PushedBy string `json:"pushedBy,omitempty"`

	// Bundle is the id of the results.
	Bundle string `json:"-"`
}

// Ended reports whether the run has reached its final status.
func (r *Run) Ended() bool { return r.Status != Queued && r.Status != Running }

// An Issue is one error in an eval.
type Issue struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole
	Message string `json:"message"`
}

// A ProviderKey describes a workspace's key of a model provider, without the secret.
type ProviderKey struct {
	Name      string    `json:"name"`
	Shown     string    `json:"shown"` // its last four characters
	Hosts     []string  `json:"hosts"` // to which it may be sent; without hosts it cannot be used
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// Progress is the progress of a run, as its progress events carry it.
type Progress struct {
	Planned  int `json:"planned"` // trials
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	// InFlight counts the trials whose response is awaited.
	InFlight int     `json:"inFlight"`
	SpentUSD float64 `json:"spentUsd"`
	// AtMostUSD is SpentUSD and what the trials in flight may cost.
	AtMostUSD float64 `json:"atMostUsd"`
	Lanes     []Lane  `json:"lanes"`
}

// A Lane is the state of requests that share a provider, key and model.
type Lane struct {
	Name   string   `json:"name"`
	Agents []string `json:"agents"` // those that ask it
	Phase  string   `json:"phase"`
	Reason string   `json:"reason"`
}
