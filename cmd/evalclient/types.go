package evalclient

import (
	"encoding/json"
	"time"
)

// The shapes are those of openapi.yaml. Amounts are US dollars.

// A Summary is what lists say of an eval.
type Summary struct {
	Category     string              `json:"category"`
	Description  string              `json:"description,omitempty"`
	Prompts      int                 `json:"prompts"`
	Templates    []string            `json:"templates"`
	Repeats      int                 `json:"repeats"`
	Trials       int                 `json:"trials"`
	Synthetic    bool                `json:"synthetic"`
	Agents       []AgentSummary      `json:"agents"`
	ProviderKeys []string            `json:"providerKeys"`       // names of the keys that its agents need
	KeyHosts     map[string][]string `json:"keyHosts,omitempty"` // that each of them is sent to
	ExpectedUSD  *float64            `json:"expectedUsd"`        // null where it is not known
	WorstUSD     *float64            `json:"worstUsd"`
}

// An AgentSummary is one agent of an eval.
type AgentSummary struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`
}

// An Eval is an eval that the server has, or that it checked.
type Eval struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"`
	Digest  string `json:"digest"`
	Summary
	MissingKeys []string  `json:"missingKeys"` // of ProviderKeys
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	URL         string    `json:"url"`
	Source      string    `json:"source,omitempty"` // left out of lists
	Warnings    []string  `json:"warnings,omitempty"`
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
	Coverage        float64    `json:"coverage"`
	BudgetUSD       float64    `json:"budgetUsd"`
	SpentUSD        float64    `json:"spentUsd"`
	AtMostUSD       float64    `json:"atMostUsd"`
	Attempts        int        `json:"attempts"`
	Note            string     `json:"note,omitempty"`
	HasResults      bool       `json:"hasResults"`
	URL             string     `json:"url"`
	TracesURL       string     `json:"tracesUrl,omitempty"`
	EventsURL       string     `json:"eventsUrl"`
}

// Ended says that nothing more will happen to the run.
func (r *Run) Ended() bool { return r.Status != Queued && r.Status != Running }

// A Report is a run with its scores.
type Report struct {
	Run
	// Scores are the board of all agents and that of each, in the shape of the public
	// leaderboard; Manifest says what was measured and what it took. Both are null
	// until there are results.
	Scores   json.RawMessage `json:"scores"`
	Manifest json.RawMessage `json:"manifest"`
}

// An Entry is one trial without what was said and done in it.
type Entry struct {
	ID       string   `json:"id"`
	Agent    string   `json:"agent"`
	Prompt   string   `json:"prompt"`
	Template string   `json:"template"`
	Repeat   int      `json:"repeat"`
	Outcome  string   `json:"outcome"`
	Picked   string   `json:"picked"`
	Mismatch bool     `json:"mismatch"`
	CostUSD  *float64 `json:"costUsd"`
	WallMS   int64    `json:"wallMs"`
}

// A Filter selects trials. Empty fields select everything.
type Filter struct{ Agent, Outcome, Picked, Prompt string }

// A ProviderKey is a key of a model provider that the server has: never the key itself.
type ProviderKey struct {
	Name      string    `json:"name"`
	Shown     string    `json:"shown"` // its last four characters
	Hosts     []string  `json:"hosts"` // that it may be sent to
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}

// An Identity is the eval key that a client has, and what it opens.
type Identity struct {
	ID         string     `json:"id"`
	Label      string     `json:"label"`
	Shown      string     `json:"shown"` // its beginning and last four characters
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"`
	RevokedAt  *time.Time `json:"revokedAt"`
	Workspace  struct {
		Slug string `json:"slug"`
		Plan string `json:"plan"`
	} `json:"workspace"`
	Limits Limits `json:"limits"`
}

// Limits are what the workspace may have.
type Limits struct {
	BudgetUSD    float64 `json:"budgetUsd"` // of a run
	QueuedRuns   int     `json:"queuedRuns"`
	Evals        int     `json:"evals"`
	Versions     int     `json:"versions"` // of an eval
	ProviderKeys int     `json:"providerKeys"`
}
