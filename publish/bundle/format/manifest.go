package format

import (
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
)

// SchemaVersion is the version of the layout. Version 1 has no explanations.
const SchemaVersion = 2

// idDigits is the length of a bundle's id: the first digits of its manifest's hash.
const idDigits = 20

// The files of a bundle.
const (
	ManifestName     = "manifest.json"
	ScoresName       = "scores.json"
	ExplanationsName = "explanations.json"
	TrialsName       = "trials.parquet"
)

// FileNames returns the files that a manifest of a version lists, sorted.
func FileNames(schemaVersion int) []string {
	names := append(trialset.FileNames(), ScoresName, TrialsName)
	if schemaVersion > 1 {
		names = append(names, ExplanationsName)
	}
	slices.Sort(names)
	return names
}

// A Manifest describes a bundle and the run that it was made from.
type Manifest struct {
	// ID is the name of the folder; it follows from the rest.
	ID string `json:"-"`

	SchemaVersion int    `json:"schemaVersion"`
	Generator     string `json:"generator"`
	Eval          Eval   `json:"eval"`
	// Catalog is the version of the catalogue of the board, Extractor that of the
	// rules that read the transcripts; several are joined by commas.
	Catalog   string `json:"catalog"`
	Extractor string `json:"extractor"`
	// CategoryVersion is the version of the category alone, in runs with an own catalogue:
	// a change of another category does not change it.
	CategoryVersion string `json:"categoryVersion,omitempty"`
	// AsOf is the time of the last answer; null if there is no answer.
	AsOf      *time.Time `json:"asOf"`
	Synthetic bool       `json:"synthetic"`
	Counts    Counts     `json:"counts"`
	Money
	Agents []Agent  `json:"agents"`
	Notes  []string `json:"notes"`
	// Files lists the other files, sorted by path.
	Files []File `json:"files"`
}

// An Eval is the definition that was run.
type Eval struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	// SHA256 is the hash of the eval as canonical JSON, without its source.
	SHA256    string   `json:"sha256"`
	Repeats   int      `json:"repeats"`
	Templates []string `json:"templates"`
	Prompts   []Prompt `json:"prompts"`
	// Weights are those of the agents in the rates; absent for equal ones.
	Weights map[string]float64 `json:"weights,omitempty"`
}

// A Prompt is one prompt of the eval.
type Prompt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Family is the prompt's family where the eval names one.
	Family string `json:"family,omitempty"`
}

// Counts counts trials. Planned = Valid + Excluded + Missing (unfinished).
type Counts struct {
	Planned  int `json:"planned"`
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	Missing  int `json:"missing"`
	// ExcludedBy counts by the reason that ended a trial; MissingBy by the reason of
	// its last failed attempt, or NotAsked.
	ExcludedBy map[string]int `json:"excludedBy"`
	MissingBy  map[string]int `json:"missingBy"`
}

// NotAsked is the reason of a missing trial without an attempt.
const NotAsked = "not_asked"

// Money is the cost of trials, failed attempts included, in US dollars.
type Money struct {
	// SpentUSD is the known cost. AtMostUSD adds the worst case of attempts with an
	// unknown cost.
	SpentUSD  float64 `json:"spentUsd"`
	AtMostUSD float64 `json:"atMostUsd"`
}

// An Agent is one agent of the run.
type Agent struct {
	Name     string `json:"name"`
	Planned  int    `json:"planned"`
	Valid    int    `json:"valid"`
	Excluded int    `json:"excluded"`
	Money
	// Manifests are its versions in the order of the run: more than one where it changed
	// between parts of a run.
	Manifests []AgentManifest `json:"manifests"`
}

// An AgentManifest identifies an agent for a reproduction. It is a journal.Manifest,
// which documents the fields, with its id.
type AgentManifest struct {
	ID         string            `json:"id"`
	Kind       string            `json:"kind"`
	Model      string            `json:"model,omitempty"`
	Endpoint   string            `json:"endpoint,omitempty"`
	Version    string            `json:"version,omitempty"`
	Binary     string            `json:"binarySha256,omitempty"`
	Args       []string          `json:"args,omitempty"`
	Env        []string          `json:"env,omitempty"`
	Web        string            `json:"web,omitempty"`
	Network    string            `json:"network,omitempty"`
	Sandbox    string            `json:"sandbox,omitempty"`
	Purity     string            `json:"purity,omitempty"`
	Auth       string            `json:"auth,omitempty"`
	Parameters map[string]string `json:"parameters,omitempty"`
	Templates  map[string]string `json:"templates,omitempty"` // digests
	Prices     string            `json:"prices,omitempty"`
}

// A File is one file of the bundle.
type File = content.File

// ID returns the id of the bundle that has a manifest.
func ID(manifest []byte) string { return content.Digest(manifest)[:idDigits] }

// Scores is scores.json: the board of all agents, and of each alone.
type Scores struct {
	Board  analytics.Board `json:"board"`
	Agents []AgentScores   `json:"agents"`
	// Details is absent where no trial has one, Funnel where no agent works in a folder.
	Details analytics.Details `json:"details,omitzero"`
	Funnel  *analytics.Funnel `json:"funnel,omitempty"`
}

// AgentScores are the scores of one agent.
type AgentScores struct {
	Agent string `json:"agent"`
	Money
	Board analytics.Board `json:"board"`
}
