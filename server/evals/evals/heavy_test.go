package evals_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// TestHeavyAnswersAreCounted: a workspace has eight places, a server has 64, and all come
// back.
func TestHeavyAnswersAreCounted(t *testing.T) {
	s := &evals.Service{}
	refused := func(workspace string) bool {
		err := s.Heavy(workspace, func() error { return nil })
		return err != nil && apierr.Of(err).Code == "rate_limited" && apierr.Of(err).RetryAfter == 1
	}
	var take func(workspaces string) error
	take = func(workspaces string) error { // eight places of each
		if workspaces == "" {
			if !refused("z") {
				t.Error("the 65th in all")
			}
			return nil
		}
		one, left := workspaces[:1], 8
		var fill func() error
		fill = func() error {
			if left--; left < 0 {
				if !refused(one) {
					t.Error("the ninth of a workspace")
				}
				return take(workspaces[1:])
			}
			return s.Heavy(one, fill)
		}
		return fill()
	}
	for range 2 {
		if err := take("abcdefgh"); err != nil {
			t.Error(err)
		}
	}
}
