package journal

import (
	"fmt"

	"github.com/firstpick/firstpick/runner/plan"
)

// A Shard is the part of a plan that a run has. Alone it has no result: merge it with
// the others into one run.
type Shard struct {
	// Index counts from 1 to Of.
	Index int `json:"index"`
	Of    int `json:"of"`
	// Plan is the digest of the whole plan; see plan.Digest.
	Plan string `json:"plan"`
}

// String returns the shard as people write it, like 2/4; nothing for no shard.
func (s *Shard) String() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}

// Trials returns the trials of a run in the order of the plan. An imported run has no
// plan.
func (r *Run) Trials() []plan.Trial {
	trials := plan.New(&r.Eval)
	if r.Shard != nil {
		trials = plan.Shard(trials, r.Shard.Index, r.Shard.Of)
	}
	return trials
}
