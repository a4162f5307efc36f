package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// schemaVersion is the newest layout that is read.
const schemaVersion = 1

// The files of a bundle.
const (
	manifestName = "manifest.json"
	scoresName   = "scores.json"
	namesName    = "names.json"
	indexName    = "traces.idx"
	tracesName   = "traces.zst"
	trialsName   = "trials.parquet"
)

// fileNames returns the files that a manifest lists, as it sorts them.
func fileNames() []string {
	return []string{namesName, scoresName, indexName, tracesName, trialsName}
}

var (
	// ErrNotFound says that there is no such bundle, or no such trial in it.
	ErrNotFound = errors.New("not found")
	// ErrCursor says that a cursor is none of this bundle and filter.
	ErrCursor = errors.New("the cursor is not of this list; begin again without one")
	// ErrClosed says that the bundle was closed.
	ErrClosed = errors.New("bundle: closed")
)

// A DamageError says what is not as it was written.
type DamageError struct {
	// Path is the bundle's id and the file.
	Path   string
	Reason string
}

// Error implements error.
func (e *DamageError) Error() string {
	return "run bundle is damaged: " + e.Path + ": " + e.Reason + "; restore it from a copy, or have it made again"
}

// A Manifest says what a bundle holds; publish/bundle tells what the fields mean.
type Manifest struct {
	SchemaVersion int        `json:"schemaVersion"`
	Generator     string     `json:"generator"`
	Eval          Eval       `json:"eval"`
	Catalog       string     `json:"catalog"`
	Extractor     string     `json:"extractor"`
	AsOf          *time.Time `json:"asOf"`
	Synthetic     bool       `json:"synthetic"`
	Counts        Counts     `json:"counts"`
	Money
	Agents []Agent  `json:"agents"`
	Notes  []string `json:"notes"`
	Files  []File   `json:"files"`
}

// An Eval is what was asked.
type Eval struct {
	Name      string   `json:"name"`
	Category  string   `json:"category"`
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

// Counts counts trials.
type Counts struct {
	Planned    int            `json:"planned"`
	Valid      int            `json:"valid"`
	Excluded   int            `json:"excluded"`
	Missing    int            `json:"missing"`
	ExcludedBy map[string]int `json:"excludedBy"`
	MissingBy  map[string]int `json:"missingBy"`
}

// Money is what trials cost, in US dollars: what is known, and that with the worst
// case of what is not.
type Money struct {
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
	Manifests []AgentManifest `json:"manifests"`
}

// An AgentManifest is what an agent was: the same id, the same agent.
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
	Templates  map[string]string `json:"templates,omitempty"`
	Prices     string            `json:"prices,omitempty"`
}

// A File is one file of the bundle.
type File struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

func parseManifest(id string, data []byte) (Manifest, error) {
	damaged := func(reason string) error { return &DamageError{id + "/" + manifestName, reason} }
	var m Manifest
	if got := digest(data)[:idDigits]; got != id {
		return m, damaged("its hash is " + got)
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return m, damaged(err.Error())
	}
	if m.SchemaVersion > schemaVersion {
		return m, fmt.Errorf("run bundle %s has layout %d and this firstpick reads up to %d; update firstpick", id, m.SchemaVersion, schemaVersion)
	}
	want := fileNames()
	if len(m.Files) != len(want) {
		return m, damaged(fmt.Sprintf("lists %d files, not %d", len(m.Files), len(want)))
	}
	for i, f := range m.Files {
		if f.Path != want[i] || f.Bytes < 0 {
			return m, damaged(fmt.Sprintf("lists %q of %d bytes, where %s belongs", f.Path, f.Bytes, want[i]))
		}
	}
	return m, nil
}
