package evals

import (
	"strconv"
	"sync"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/sse"
)

// Limits of concurrent responses with whole traces or explanations, in all and per
// workspace. Each holds some megabytes until its client has read it.
const (
	maxReads    = 64
	maxOwnReads = 8
)

// A heavyLimiter limits responses that hold much memory.
type heavyLimiter struct {
	once    sync.Once
	limiter *sse.Limiter
}

// Heavy runs an answer to a workspace, which reads and sends much of its results, within
// the limits that API, MCP and pages share.
func (s *Service) Heavy(workspace string, answer func() error) error {
	s.heavy.once.Do(func() { s.heavy.limiter = sse.NewLimiter(maxReads, maxOwnReads) })
	leave, err := s.heavy.limiter.Enter(workspace)
	if err != nil {
		e := apierr.RateLimited(1)
		e.Description = "Too many concurrent responses with whole traces or explanations: the limit is " + strconv.Itoa(maxOwnReads) + " per workspace. Wait until one is read."
		return e
	}
	defer leave()
	return answer()
}
