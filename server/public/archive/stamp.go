package archive

import (
	"context"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

const (
	stampTTL     = time.Second      // how long a stamp is kept
	stampWait    = time.Second      // how long a read keeps requests that can use the last stamp
	stampTimeout = 10 * time.Second // of one read
	maxPause     = 30 * time.Second // after failures
)

// A stamps value reads the stamp of a source once for all requests. While the source fails, it
// answers with the last stamp, and reads again after a pause that doubles.
type stamps struct {
	read   func(context.Context) (string, error)
	now    func() time.Time
	flight singleflight.Group

	mu       sync.Mutex
	stamp    string
	known    bool // a stamp was read
	err      error
	began    time.Time     // when the current read began; zero between reads
	at       time.Time     // when the last read ended
	ttl      time.Duration // from at until the next
	failures int
}

// get returns the stamp.
func (s *stamps) get(ctx context.Context) (string, error) {
	s.mu.Lock()
	stamp, known, err := s.stamp, s.known, s.err
	now, wait := s.now(), stampWait
	age := now.Sub(s.at)
	fresh := age >= 0 && age < s.ttl
	if !s.began.IsZero() {
		wait -= now.Sub(s.began)
	}
	s.mu.Unlock()
	if !fresh {
		if known {
			limited, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			ctx = limited
		}
		select {
		case r := <-s.flight.DoChan("", func() (any, error) { return s.refresh(context.WithoutCancel(ctx)) }):
			if err = r.Err; err == nil {
				return r.Val.(string), nil //nolint:forcetypeassert // of refresh
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if known {
		return stamp, nil
	}
	return "", sourceDown(err)
}

func (s *stamps) refresh(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, stampTimeout)
	defer cancel()
	s.mu.Lock()
	s.began = s.now()
	s.mu.Unlock()
	stamp, err := s.read(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = time.Time{}
	if s.at, s.err = s.now(), err; err != nil {
		s.ttl = min(stampTTL<<min(s.failures, 8), maxPause)
		s.failures++
		return "", err
	}
	s.stamp, s.known, s.ttl, s.failures = stamp, true, stampTTL, 0
	return stamp, nil
}

// sourceDown is the error while the place of the snapshots does not answer.
func sourceDown(cause error) error {
	return &apierr.Error{
		Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: cause,
		Description: "The storage of the snapshots does not answer. Try again.",
	}
}
