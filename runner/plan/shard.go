package plan

import (
	"crypto/sha256"
	"encoding/hex"
)

// Shard returns part i of n of a plan, i counting from 1: every n-th trial, so that the
// sizes of the parts of a block differ by at most one trial.
func Shard(trials []Trial, i, n int) []Trial {
	out := make([]Trial, 0, len(trials)/n+1)
	for k := i - 1; k < len(trials); k += n {
		out = append(out, trials[k])
	}
	return out
}

// Digest returns the identity of a whole plan, 32 hexadecimal digits: which trials,
// and in which order.
func Digest(trials []Trial) string {
	h := sha256.New()
	for _, t := range trials {
		h.Write([]byte(t.ID + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
