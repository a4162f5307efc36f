package evals

import (
	"encoding/json"
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/store/state"
)

// The scopes of a key.
const (
	ScopeRead = "read" // evals, runs, traces
	ScopeRun  = "run"  // changing evals and provider keys, starting and cancelling runs
)

// An Actor is who does something in a workspace: a key's holder or its owner.
type Actor struct {
	Workspace *state.Workspace
	By        string   // account or key; empty for an operator
	Scopes    []string // nil for an owner or operator, who may do everything
	IP        netip.Addr
	UserAgent string
}

// A Checker reads evals for a server, which knows them as text only. It may be
// called by many goroutines.
type Checker interface {
	// Check says what an eval means, or what is wrong with it.
	Check(source []byte) (Checked, []Issue)
}

// An Issue is one thing that is wrong with an eval.
type Issue struct {
	Line    int    `json:"line,omitempty"` // from 1; 0 for the whole
	Message string `json:"message"`
}

// Checked is an eval that may be run.
type Checked struct {
	Name   string
	Digest string // of what it means
	Summary
	Warnings []string
}

// A Summary is what lists say of an eval.
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
	// ExpectedUSD and WorstUSD are what a run costs; null where that is not known.
	ExpectedUSD *float64 `json:"expectedUsd"`
	WorstUSD    *float64 `json:"worstUsd"`
}

// An AgentSummary is one agent of an eval.
type AgentSummary struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Model string `json:"model,omitempty"`
}

// An Eval is a workspace's eval as it is told.
type Eval struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version int    `json:"version"` // 1, 2, 3
	Digest  string `json:"digest"`
	Summary
	// MissingKeys are those of ProviderKeys that the workspace has not set.
	MissingKeys []string  `json:"missingKeys"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"` // when this version came
	URL         string    `json:"url"`
	// Source is the text as it was sent; left out of lists.
	Source string `json:"source,omitempty"`
	// Warnings are told when an eval is stored or checked.
	Warnings []string `json:"warnings,omitempty"`
}

// A Run is a run as it is told.
type Run struct {
	ID          string     `json:"id"`
	EvalID      string     `json:"evalId"`
	EvalName    string     `json:"evalName"`
	EvalVersion int        `json:"evalVersion"`
	Category    string     `json:"category"`
	Status      string     `json:"status"` // queued, running, done, failed, cancelled
	CreatedAt   time.Time  `json:"createdAt"`
	StartedAt   *time.Time `json:"startedAt"`
	EndedAt     *time.Time `json:"endedAt"`
	// CancelRequested says that somebody asked to cancel it.
	CancelRequested bool    `json:"cancelRequested"`
	Planned         int     `json:"planned"` // trials
	Valid           int     `json:"valid"`
	Excluded        int     `json:"excluded"`
	Coverage        float64 `json:"coverage"` // valid / planned
	BudgetUSD       float64 `json:"budgetUsd"`
	SpentUSD        float64 `json:"spentUsd"`
	// AtMostUSD is what was spent, and what trials in flight, or questions that did
	// not say what they cost, may have added.
	AtMostUSD float64 `json:"atMostUsd"`
	// Attempts counts how often a worker took it: more than one after one died.
	Attempts int `json:"attempts"`
	// Note says why the run failed or ended early; empty for neither.
	Note string `json:"note,omitempty"`
	// HasResults says that there are scores and traces.
	HasResults bool   `json:"hasResults"`
	URL        string `json:"url"`
	TracesURL  string `json:"tracesUrl,omitempty"` // where there are results
	EventsURL  string `json:"eventsUrl"`

	// Bundle is the id of the results.
	Bundle string `json:"-"`
}

// A Report is a run with its scores.
type Report struct {
	Run
	// Scores is null until there are results: boards in the shape of the public
	// leaderboard, of all agents and of each.
	Scores *format.Scores `json:"scores"`
	// Manifest is null until there are results: prompts, counts, money, what each
	// agent was, and the files with their hashes.
	Manifest *format.Manifest `json:"manifest"`
}

// An Event is something that happened in a run. Body is a JSON object with type.
type Event struct {
	Seq  int64
	At   time.Time
	Body json.RawMessage
}

// A Key lets a program in, as it is told.
type Key struct {
	ID         string     `json:"id"`
	Label      string     `json:"label"`
	Shown      string     `json:"shown"` // its beginning and last four characters
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"` // to a minute or so
	RevokedAt  *time.Time `json:"revokedAt"`
}

// A ProviderKey is a workspace's key of a model provider, as it is told: never
// the key itself.
type ProviderKey struct {
	Name      string    `json:"name"`
	Shown     string    `json:"shown"` // its last four characters
	Hosts     []string  `json:"hosts"` // that it may be sent to; none: it cannot be used
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
}
