// Package journal stores a run: an append-only file of records, one JSON object per
// line, prefixed with its CRC-32C. Append returns when the records are on disk; calls
// during an fsync share the next one, so that many workers need few of them (group
// commit, without timers).
//
// A last line without its newline is torn: an append that was never acknowledged.
// Opening removes it and scanning skips it. A complete line with a wrong checksum is
// damaged, the last one too: the error names file and byte, since an acknowledged
// record is lost.
//
// A run is a folder: run.json is the plan, journal-NNNNNN.ndjson are the records. A
// lock on the folder excludes a second writer.
package journal

import (
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A Run is the plan of a run. It is written before the first record, and once more where a
// stopping rule ends the run.
type Run struct {
	ID        string    `json:"id"`
	Eval      eval.Eval `json:"eval"`
	Planned   int       `json:"planned"`
	CreatedAt time.Time `json:"created_at"`
	// Synthetic marks a run with simulated agents, Imported one with imported answers.
	Synthetic bool `json:"synthetic"`
	Imported  bool `json:"imported"`
	// PlanKnown says of an imported run that Planned is the number of planned trials; it
	// is else the number of imported ones.
	PlanKnown bool `json:"plan_known,omitempty"`
	// Content is the digest of the answers of an imported run.
	Content string `json:"content,omitempty"`
	// Catalog and Extractor are the versions at the start.
	Catalog   string   `json:"catalog"`
	Extractor string   `json:"extractor"`
	Notes     []string `json:"notes,omitempty"`
	// Shard is nil for a run of the whole plan.
	Shard *Shard `json:"shard,omitempty"`
	// Budgeted says that the run began with a budget for all its agents together. The amount is the user's, and
	// is not stored.
	Budgeted bool `json:"budgeted,omitempty"`
	// Until is nil for a run that asks all of its plan.
	Until *Until `json:"until,omitempty"`
	// Registered is the entry of the public log that was appended before the first
	// request; nil for a run that is not registered.
	Registered *Registered `json:"registered,omitempty"`
	// Before is the spending of an earlier, lost journal of the same run; nil if no
	// journal was lost.
	Before *Money `json:"before,omitempty"`
}

// Registered is the place of a run's registration in a log.
type Registered struct {
	Index int64     `json:"index"`
	At    time.Time `json:"at"`
	// Log is the name of the log, which has its public key.
	Log string `json:"log,omitempty"`
}

// Money is the known spending and its upper bound, in US dollars.
type Money struct {
	SpentUSD  float64 `json:"spent_usd"`
	AtMostUSD float64 `json:"at_most_usd"`
}

// A Kind is the type of a record.
type Kind string

// The kinds of record.
const (
	KindAttempt    Kind = "attempt"    // an attempt failed; the trial may be tried again
	KindResult     Kind = "result"     // the trial has its answer
	KindExcluded   Kind = "excluded"   // the last attempt failed
	KindExtraction Kind = "extraction" // the pick was derived again from the stored answer
	KindManifest   Kind = "manifest"   // an agent's properties from here on
	KindAsked      Kind = "asked"      // an attempt that may cost money is about to start
	KindAnswer     Kind = "answer"     // the trial's answer, which is still to be read; a result repeats it
	KindJudgement  Kind = "judgement"  // a step of a judge's request about the trial's answer
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
	// CostUSD is the cost of a failed attempt, if known.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// AtMostUSD is the attempt's worst case if the cost is unknown.
	AtMostUSD *float64 `json:"at_most_usd,omitempty"`
	// Raw is the location of the raw answer; see Put.
	Raw      *RawRef   `json:"raw,omitempty"`
	Manifest *Manifest `json:"manifest,omitempty"`
	// Judgement is set for a judgement: Answer is then the judge's, Result what it reads.
	Judgement *Judgement `json:"judgement,omitempty"`
}

// A Judgement identifies a request to a judge: a model that reads an answer which the
// rules left unresolved.
type Judgement struct {
	// Step is the record's kind in the run of requests: asked, attempt, result, excluded.
	Step Kind `json:"step"`
	// Request is the digest of trial, judge and Binding; a request has one result.
	Request string `json:"request"`
	Judge   string `json:"judge"`
	// Vendor made the model. Two judgements of different vendors decide.
	Vendor string `json:"vendor"`
	// Binding is the digest of what the judge reads: transcript, options, version of the
	// prompt. A judgement of another binding does not apply.
	Binding string `json:"binding"`
	// Prompt is the location of the prompt of a result.
	Prompt *RawRef `json:"prompt,omitempty"`
}

// An Answer is an agent's answer with its usage.
type Answer struct {
	Transcript transcript.Transcript `json:"transcript"`
	// Model is the model that the provider reported.
	Model string `json:"model,omitempty"`
	// InTokens and OutTokens are all tokens read and written; Usage has them apart.
	InTokens  int           `json:"in_tokens,omitempty"`
	OutTokens int           `json:"out_tokens,omitempty"`
	Usage     *prices.Usage `json:"usage,omitempty"`
	// CostUSD is null if the price is unknown.
	CostUSD *float64 `json:"cost_usd,omitempty"`
	// WallMS is how long the answer took, in milliseconds.
	WallMS int64 `json:"wall_ms,omitempty"`
	// Notes describe omissions from the transcript and their reasons.
	Notes []string `json:"notes,omitempty"`
	// Build is the result of the eval's command in the work folder after the agent; nil if
	// none ran. It changes no outcome.
	Build *Build `json:"build,omitempty"`
	// Manifest is the id of the agent's manifest at the attempt.
	Manifest string `json:"manifest,omitempty"`
}

// A Build is the result of the command that an eval runs after the agent.
type Build struct {
	// Exit is the exit status; -1 if it was ended.
	Exit int `json:"exit"`
	// Ended is why it was ended: wall, memory, disk or processes. It is empty if it exited.
	Ended string `json:"ended,omitempty"`
	// WallMS is its duration in milliseconds.
	WallMS int64 `json:"wall_ms"`
	// Output is the end of its output, without secrets.
	Output string `json:"output,omitempty"`
}

// Passed reports whether it exited with status 0.
func (b Build) Passed() bool { return b.Exit == 0 && b.Ended == "" }

// An Offset is a place between two records. The zero Offset is the start.
type Offset struct {
	Segment int
	Byte    int64
}
