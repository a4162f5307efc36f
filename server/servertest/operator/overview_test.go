package operator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// TestOverview follows a run of a workspace through the queue, and finds nothing of its
// content.
func TestOverview(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine), Server: func(c *server.Config) {
				c.FreeDisk = func() (int64, error) { return 3 << 29, nil }
			}})
			ops := newOperator(t, s)
			sees := func(what string, want ...string) {
				t.Helper()
				_, body := ops.Get("/operator")
				for _, text := range want {
					if !strings.Contains(body, text) {
						t.Errorf("%s: no %q in %s", what, text, body)
					}
				}
				for _, secret := range []string{"sk-of-", "web-weekly", "stores notes", "refused the key", "acme@example.com"} {
					if strings.Contains(body, secret) {
						t.Errorf("%s: the page shows %q", what, secret)
					}
				}
			}
			sees("an empty server", "No run is queued or running.", "No run failed.", "answers 503", "1.5 GiB free", engine)
			_, run := s.Ready(t, s.Workspace(t, "acme", "paid"))
			s.Clock.Add(3 * time.Minute)
			sees("queued", run.ID, "acme", "queued", "3 min", "No run has a worker.", "longest wait 3 min")
			row := s.Begin(t)
			sees("running", run.ID, "running", "worker, for 1 h", "1 run has a worker.")
			s.Clock.Add(61 * time.Minute)
			sees("abandoned", "abandoned", "expired 1 min ago, of worker", "no worker takes them")
			if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
				return finish(t.Context(), tx, row, s.Clock.Now())
			}); err != nil {
				t.Fatal(err)
			}
			sees("failed", "No run is queued or running.", run.ID, "0 s ago", "Members of the workspace see the reason")
			s.Clock.Add(8 * 24 * time.Hour)
			ops = newOperator(t, s)
			sees("failed long ago", `Failed runs</a></dt><dd class="value"><b>0</b>`, "8 days ago")
		})
	}
}

func finish(ctx context.Context, tx *state.Tx, r *state.EvalRun, now time.Time) error {
	return tx.FinishRun(ctx, r.Lease(), now, state.RunOutcome{Status: state.RunFailed, Failure: "The provider refused the key sk-of-acme."})
}
