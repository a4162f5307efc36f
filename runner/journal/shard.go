package journal

import "fmt"

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
