// Package publish freezes results into snapshots: immutable directories, named by the
// hash of their manifest, with all data needed to recompute every number. Build makes a
// snapshot, Verify checks it, Promote makes it current and Place.Load reads it. The same
// trials and catalogue give the same bytes, so publishing is idempotent. A snapshot
// contains only a pure function of the results: no run ids, times of the machine or
// paths.
package publish

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// SchemaVersion is the version of the layout that this package writes, and the newest that
// it reads. Layout 2 adds the trials, the texts of the prompts and the conditions of the
// agents, layout 3 the quotes of examples; older ones are still read.
const SchemaVersion = 3

// Statistics is the version of the formulas by which this package computes boards:
// 2 weighs agents and prompt families, and has clustered rank ranges; 3 gives leads over
// tools without a pick by both tests; 4 has the most common answers as examples, quoted by
// the words that decided.
const Statistics = 4

// The names of the files with a fixed place.
const (
	manifestName   = "manifest.json"
	signatureName  = "manifest.sig"
	catalogName    = "catalog.json"
	categoriesName = "categories.json"
	refsName       = "refs.json"
	labelsName     = "labels.json" // where there are any
	trialsName     = "trials.parquet"
)

// ErrNotFound reports a missing snapshot, or a missing current one.
var ErrNotFound = errors.New("snapshot not found")

// A DamageError names the file of a snapshot that differs from the manifest or from the
// recomputation.
type DamageError struct {
	// Path is the file, relative to the snapshot.
	Path   string
	Reason string
	// Difference is the first figure that does not follow from the trials; nil for other
	// damage.
	Difference *Difference
}

// Error implements error.
func (e *DamageError) Error() string { return "snapshot is damaged: " + e.Path + ": " + e.Reason }

// A Manifest lists the content and the sources of a snapshot.
type Manifest struct {
	SchemaVersion int `json:"schemaVersion"`
	// Statistics is the version of the formulas behind the boards; absent means 1.
	Statistics int `json:"statistics,omitempty"`
	// Generator is the program that made it, with its version.
	Generator string `json:"generator"`
	// Catalog is the version of the catalogue that the boards use, Extractor
	// that of the rules that read the transcripts; several are joined by commas.
	Catalog   string `json:"catalog"`
	Extractor string `json:"extractor"`
	// AsOf is when the last trial finished.
	AsOf      *time.Time `json:"asOf"`
	Synthetic bool       `json:"synthetic"`
	// Evidence is how much of each trial is published. Embargo means that the texts of the
	// prompts are not.
	Evidence trialset.Level `json:"evidence,omitempty"`
	Embargo  bool           `json:"embargo,omitempty"`
	Counts   Counts         `json:"counts"`
	Evals    []Eval         `json:"evals"`
	Notes    []string       `json:"notes"`
	// Observed are the field studies beside the evals, sorted by name.
	Observed []FieldStudy `json:"observed,omitempty"`
	// Files lists every other file but the signature, sorted by path.
	Files []File `json:"files"`
}

// Counts are the totals of a snapshot. Tools counts standings: a tool that competes in
// two categories counts twice.
type Counts struct {
	Categories int `json:"categories"`
	Tools      int `json:"tools"`
	Planned    int `json:"planned"`
	Trials     int `json:"trials"`
}

// An Eval is one eval whose latest run is in the snapshot.
type Eval struct {
	Name     string `json:"name"`
	Category string `json:"category"`
	// SHA256 is the hash of the eval as canonical JSON, without its source.
	SHA256    string   `json:"sha256"`
	Prompts   []Prompt `json:"prompts"`
	Templates []string `json:"templates"`
	Agents    []Agent  `json:"agents"`
	// Planned and Valid count trials; Valid / Planned is the coverage.
	Planned   int  `json:"planned"`
	Valid     int  `json:"valid"`
	Synthetic bool `json:"synthetic"`
	// Imported marks imported answers: Planned counts the imported ones, unless PlanKnown
	// is set. Incomplete marks a run that was published before it was complete.
	Imported   bool `json:"imported,omitempty"`
	PlanKnown  bool `json:"planKnown,omitempty"`
	Incomplete bool `json:"incomplete,omitempty"`
	// Stopped marks a run that its stopping rule ended.
	Stopped bool `json:"stopped,omitempty"`
	// Weights and Frame are those of the eval file; see eval.Eval.
	Weights map[string]float64 `json:"weights,omitempty"`
	Frame   string             `json:"frame,omitempty"`
	// Extracted is how many outcomes people can check: extracted from answers of real
	// agents. Without enough labels, the board warns.
	Extracted int `json:"extracted,omitempty"`
	// Runs are all runs of the eval that the publisher has, oldest first: also those that
	// are not published, so that nobody can choose the best of many.
	Runs []EvalRun `json:"runs,omitempty"`
}

// An EvalRun is one run of an eval.
type EvalRun struct {
	// AsOf is when its last trial finished; null without a valid trial.
	AsOf    *time.Time `json:"asOf"`
	Planned int        `json:"planned"`
	Valid   int        `json:"valid"`
	// Published marks the run that the boards of the snapshot count.
	Published bool `json:"published"`
	// Registered is the entry of the log that was made before its first request; nil for
	// none.
	Registered *journal.Registered `json:"registered,omitempty"`
}

// A Prompt is known by its hash, so that a reader who has the eval can decide
// whether it is the same text.
type Prompt struct {
	ID     string `json:"id"`
	SHA256 string `json:"sha256"`
	// Family is the key of the statistical cluster, as eval.Pool has it. Older snapshots
	// have it for equal texts only.
	Family string    `json:"family,omitempty"`
	Tags   eval.Tags `json:"tags,omitzero"`
}

// An Agent identifies a requested agent and the models that answered.
type Agent struct {
	Name string `json:"name"`
	// Asked is the model that the eval names, or else the agent's name. Reported are
	// the models that the provider reported.
	Asked    string   `json:"asked"`
	Reported []string `json:"reported"`
	// Conditions are those of its answers: more than one where they changed in the run.
	Conditions []Condition `json:"conditions,omitempty"`
}

// A File is one file of the snapshot.
type File = content.File

// planned returns the planned trials of a category, whether any used a simulated agent,
// and the warnings that the trials themselves do not show.
func (m *Manifest) planned(category string) (trials int, synthetic bool, doubts []string) {
	for _, e := range m.Evals {
		if e.Category != category {
			continue
		}
		trials += e.Planned
		synthetic = synthetic || e.Synthetic
		if e.Imported && !e.PlanKnown {
			doubts = append(doubts, analytics.CoverageUnknown)
		}
		if e.Incomplete {
			doubts = append(doubts, analytics.Incomplete)
		}
		if e.Stopped {
			doubts = append(doubts, analytics.StoppedByRule)
		}
	}
	return trials, synthetic, doubts
}

// extracted returns how many outcomes of a category people can check.
func (m *Manifest) extracted(category string) (n int) {
	for _, e := range m.Evals {
		if e.Category == category {
			n += e.Extracted
		}
	}
	return n
}

// Pool returns the evals of a category, as far as a board depends on them: names, families
// and tags of prompts, weights of agents, frames.
func (m *Manifest) Pool(category string) (pool eval.Pool) {
	for _, e := range m.Evals {
		if e.Category != category {
			continue
		}
		def := eval.Eval{Name: e.Name, Category: e.Category, Weights: e.Weights, Frame: e.Frame}
		for _, p := range e.Prompts {
			def.Prompts = append(def.Prompts, eval.Prompt{ID: p.ID, Family: p.Family, Tags: p.Tags})
		}
		for _, a := range e.Agents {
			def.Agents = append(def.Agents, eval.Agent{Name: a.Name})
		}
		pool = append(pool, def)
	}
	return pool
}

// snapshotID names a snapshot by its manifest.
func snapshotID(manifest []byte) string { return content.Digest(manifest)[:20] }

// CheckID returns an error, ErrNotFound, for what cannot be the id of a snapshot.
func CheckID(id string) error {
	if len(id) != 20 || strings.Trim(id, "0123456789abcdef") != "" {
		return fmt.Errorf("%.40q is not the id of a snapshot, which has 20 digits of 0-9a-f: %w", id, ErrNotFound)
	}
	return nil
}
