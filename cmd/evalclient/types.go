package evalclient

import (
	"encoding/json"
	"time"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// The shapes are the server's. Amounts are US dollars.
type (
	Eval        = resource.Eval
	Run         = resource.Run
	Issue       = resource.Issue
	Catalog     = resource.Catalog
	ProviderKey = resource.ProviderKey
	Comparison  = resource.Comparison
	Explanation = resource.Explanation
	Lane        = resource.Lane
	Upload      = resource.Upload

	UploadRequest = resource.UploadRequest
	AnnouncedFile = resource.AnnouncedFile
	Entry         = trialset.Entry
)

// A Report is a run with its scores.
type Report struct {
	Run
	// Scores are the board of all agents and that of each, in the shape of the public
	// leaderboard; Manifest says what was measured and what it took. Both are null
	// until there are results.
	Scores   json.RawMessage `json:"scores"`
	Manifest json.RawMessage `json:"manifest"`
}

// A Filter selects trials. Empty fields select everything.
type Filter struct{ Agent, Outcome, Picked, Prompt string }

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
