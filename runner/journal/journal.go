// Package journal keeps a run's truth: an append-only file of records, one JSON
// object a line behind its CRC-32C. Append returns when the records are on
// disk; callers that come while an fsync is under way share the next one, so
// that many workers cost few of them (group commit, without timers).
//
// A last line without its newline is torn: an append that was never acknowledged.
// Opening takes it away and scanning passes over it. A line with its newline whose
// checksum differs is damaged, the last one too: that is an error that names file and
// byte, for then something acknowledged is gone.
//
// A run is a folder: run.json says what was planned, journal-NNNNNN.ndjson hold
// the records. A lock on the folder keeps a second writer out.
package journal

import (
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A Run is what a run set out to do. It is written once, before the first
// record.
type Run struct {
	ID        string    `json:"id"`
	Eval      eval.Eval `json:"eval"`
	Planned   int       `json:"planned"`
	CreatedAt time.Time `json:"created_at"`
	// Synthetic marks a run with simulated agents, Imported one whose answers
	// came from elsewhere.
	Synthetic bool `json:"synthetic"`
	Imported  bool `json:"imported"`
	// Content is the digest of the answers of an imported run.
	Content string `json:"content,omitempty"`
	// Catalog and Extractor are the versions at the start.
	Catalog   string   `json:"catalog"`
	Extractor string   `json:"extractor"`
	Notes     []string `json:"notes,omitempty"`
	// Shard is nil for a run of the whole plan.
	Shard *Shard `json:"shard,omitempty"`
	// Before is what an earlier journal of the same run had spent that is lost; nil
	// for none.
	Before *Money `json:"before,omitempty"`
}

// Money is what was spent as far as known, and what it may have been at most, in US
// dollars.
type Money struct {
	SpentUSD  float64 `json:"spent_usd"`
	AtMostUSD float64 `json:"at_most_usd"`
}

// A Kind says what a record is about.
type Kind string

// The kinds of record.
const (
	KindAttempt    Kind = "attempt"    // an attempt failed; the trial may be tried again
	KindResult     Kind = "result"     // the trial has its answer
	KindExcluded   Kind = "excluded"   // the last attempt failed
	KindExtraction Kind = "extraction" // the pick was derived again from the stored answer
	KindManifest   Kind = "manifest"   // what an agent is from here on
	KindAsked      Kind = "asked"      // a question that may cost money is about to be asked
	KindAnswer     Kind = "answer"     // the trial's answer, which is still to be read; a result repeats it
)

// A Record is one event of a run.
type Record struct {
	Kind  Kind       `json:"kind"`
	Trial plan.Trial `json:"trial"`
	// At is when it happened: for a result, when the answer was finished.
	At      time.Time    `json:"at"`
	Attempt int          `json:"attempt,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Answer  *Answer      `json:"answer,omitempty"`
	Result  *pick.Result `json:"result,omitempty"`
	// CostUSD is what a failed attempt cost, where that is known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// AtMostUSD is what the attempt may cost at worst, where nobody says what it cost.
	AtMostUSD *float64 `json:"at_most_usd,omitempty"`
	// Raw is where the answer lies as it came; see Put.
	Raw      *RawRef   `json:"raw,omitempty"`
	Manifest *Manifest `json:"manifest,omitempty"`
}

// An Answer is what came back, with what it took.
type Answer struct {
	Transcript transcript.Transcript `json:"transcript"`
	// Model is the model that the provider reported.
	Model string `json:"model,omitempty"`
	// InTokens and OutTokens are all tokens read and written; Usage has them apart.
	InTokens  int           `json:"in_tokens,omitempty"`
	OutTokens int           `json:"out_tokens,omitempty"`
	Usage     *prices.Usage `json:"usage,omitempty"`
	// CostUSD is null where the price is unknown.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// WallMS is how long the answer took, in milliseconds.
	WallMS int64 `json:"wall_ms,omitempty"`
	// Notes say what was left out of the transcript, and why.
	Notes []string `json:"notes,omitempty"`
	// Manifest is the id of the manifest under which it was asked.
	Manifest string `json:"manifest,omitempty"`
}

// An Offset is a place between two records. The zero Offset is the start.
type Offset struct {
	Segment int
	Byte    int64
}
