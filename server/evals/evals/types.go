package evals

import (
	"encoding/json"
	"net/netip"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/resource"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// The scopes of a key.
const (
	ScopeRead = "read" // evals, runs, traces
	ScopeRun  = "run"  // changing evals and provider keys, starting and cancelling runs
)

// An Actor is who does something in a workspace: a key's holder or a member.
type Actor struct {
	Workspace *state.Workspace
	By        string   // account or key; empty for an operator
	Scopes    []string // of a key; nil for a member or operator
	// Role is the member's; empty for a key, and for an operator, who may do everything.
	Role      identity.Role
	IP        netip.Addr
	UserAgent string
}

// A Checker reads evals for a server, which knows them as text only. It may be
// called by many goroutines.
type Checker interface {
	// Check parses an eval, or returns its issues.
	Check(source []byte) (Checked, []Issue)
	// Overlay returns a checker for a catalogue with a workspace's own entries, and that
	// catalogue; or the issues of the entries. Without entries both are the server's.
	Overlay(own []byte) (Checker, *catalog.Catalog, []Issue)
}

// A PushChecker is a Checker that also reads evals of runs that were made elsewhere.
type PushChecker interface {
	// CheckPushed is Check without the rules on what may run here: it allows programs, their
	// arguments and private addresses. A worker checks a run of the eval by all rules.
	CheckPushed(source []byte) (Checked, []Issue)
}

// Checked is an eval that may be run.
type Checked struct {
	Name   string
	Digest string // of its meaning
	Summary
	Warnings []string
	// Detectable is the smallest difference between two pick rates that a run shows with a
	// probability of 80 %; nil where none does.
	Detectable *float64
	Took       time.Duration // of a run, expected
}

// The resources of the API.
type (
	Summary       = resource.Summary
	AgentSummary  = resource.AgentSummary
	Eval          = resource.Eval
	Run           = resource.Run
	Issue         = resource.Issue
	Catalog       = resource.Catalog
	ProviderKey   = resource.ProviderKey
	Comparison    = resource.Comparison
	Explanation   = resource.Explanation
	Side          = resource.Side
	ToolChange    = resource.ToolChange
	AgentChange   = resource.AgentChange
	Unshared      = resource.Unshared
	Note          = resource.Note
	Schedule      = resource.Schedule
	Upload        = resource.Upload
	UploadRequest = resource.UploadRequest
)

// A Report is a run with its scores.
type Report struct {
	Run
	// Scores is null until there are results: boards in the shape of the public
	// leaderboard, of all agents and of each.
	Scores *format.Scores `json:"scores"`
	// Manifest lists prompts, counts, costs, agents, and the files with their hashes.
	// It is null until there are results.
	Manifest *format.Manifest `json:"manifest"`
}

// An Event is something that happened in a run. Body is a JSON object with type.
type Event struct {
	Seq  int64
	At   time.Time
	Body json.RawMessage
}

// A Key is an eval key without its secret.
type Key struct {
	ID         string     `json:"id"`
	Label      string     `json:"label"`
	Shown      string     `json:"shown"` // its beginning and last four characters
	Scopes     []string   `json:"scopes"`
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt"` // to a minute or so
	RevokedAt  *time.Time `json:"revokedAt"`
}
