package runner

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"time"
)

const maxBackoff = time.Minute

// backoff is exponential with full jitter: a draw from [0, base·2^(attempt-1)],
// at most a minute. The draw is a hash of trial and attempt, so that waits
// differ between trials and a run can be repeated exactly.
func backoff(base time.Duration, trial string, attempt int) time.Duration {
	if base <= 0 {
		base = defaultBackoff
	}
	top := base
	for i := 1; i < attempt && top < maxBackoff; i++ {
		top *= 2
	}
	sum := sha256.Sum256([]byte(trial + "/" + strconv.Itoa(attempt)))
	u := float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
	return time.Duration(u * float64(min(top, maxBackoff)))
}
