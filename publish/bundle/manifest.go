package bundle

import (
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// SchemaVersion is the version of the layout.
const SchemaVersion = 1

// The files of a bundle.
const (
	manifestName = "manifest.json"
	scoresName   = "scores.json"
	namesName    = "names.json"
	indexName    = "traces.idx"
	tracesName   = "traces.zst"
	trialsName   = "trials.parquet"
)

// A Manifest says what a bundle holds and what it was made from.
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
	// AsOf is when the last answer came; null where there is none.
	AsOf      *time.Time `json:"asOf"`
	Synthetic bool       `json:"synthetic"`
	Counts    Counts     `json:"counts"`
	Money
	Agents []Agent  `json:"agents"`
	Notes  []string `json:"notes"`
	// Files lists the other files, sorted by path.
	Files []File `json:"files"`
}

// An Eval is what was asked.
type Eval struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	// SHA256 is that of the eval as canonical JSON, without where it came from.
	SHA256    string   `json:"sha256"`
	Repeats   int      `json:"repeats"`
	Templates []string `json:"templates"`
	Prompts   []Prompt `json:"prompts"`
}

// A Prompt is one question.
type Prompt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Counts counts trials. Planned is the sum of Valid, Excluded (given up) and Missing
// (without an end).
type Counts struct {
	Planned  int `json:"planned"`
	Valid    int `json:"valid"`
	Excluded int `json:"excluded"`
	Missing  int `json:"missing"`
	// ExcludedBy counts by the reason that ended a trial; MissingBy by the reason of
	// its last failed attempt, or notAsked.
	ExcludedBy map[string]int `json:"excludedBy"`
	MissingBy  map[string]int `json:"missingBy"`
}

// notAsked is the reason of a missing trial that no attempt failed at.
const notAsked = "not_asked"

// Money is what trials cost, failed attempts included, in US dollars.
type Money struct {
	// SpentUSD is what is known. AtMostUSD is that and the worst case of what may have
	// been charged besides.
	SpentUSD  float64 `json:"spentUsd"`
	AtMostUSD float64 `json:"atMostUsd"`
}

// An Agent is who was asked.
type Agent struct {
	Name     string `json:"name"`
	Planned  int    `json:"planned"`
	Valid    int    `json:"valid"`
	Excluded int    `json:"excluded"`
	Money
	// Manifests say what it was, in the order of the run: more than one where it
	// changed between parts of a run.
	Manifests []AgentManifest `json:"manifests"`
}

// An AgentManifest is what must be known of an agent to ask the same again: a
// journal.Manifest, which tells what the fields mean, with its id.
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

func tellManifest(m journal.Manifest) AgentManifest {
	return AgentManifest{
		ID: m.ID(), Kind: m.Kind, Model: m.Model, Endpoint: m.Endpoint, Version: m.Version, Binary: m.Binary, Args: m.Args, Env: m.Env,
		Web: m.Web, Network: m.Network, Sandbox: m.Sandbox, Purity: m.Purity, Auth: m.Auth, Parameters: m.Parameters, Templates: m.Templates, Prices: m.Prices,
	}
}

// A File is one file of the bundle.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// Scores is scores.json.
type Scores struct {
	Board  analytics.Board `json:"board"`
	Agents []AgentScores   `json:"agents"`
}

// AgentScores are those of one agent alone.
type AgentScores struct {
	Agent string `json:"agent"`
	Money
	Board analytics.Board `json:"board"`
}

// names is names.json.
type names struct {
	Outcomes  []string `json:"outcomes"`
	Agents    []string `json:"agents"`
	Prompts   []string `json:"prompts"`
	Templates []string `json:"templates"`
	// Picked begins with the empty name, of trials that picked nothing.
	Picked []string `json:"picked"`
}

// excluded is the outcome of a trial that was given up, beside those of pick.Kinds.
const excluded = "excluded"

func outcomes() []string {
	var out []string
	for _, k := range pick.Kinds() {
		out = append(out, string(k))
	}
	return append(out, excluded)
}
