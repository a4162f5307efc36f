package runctl_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/runctl"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// held answers when it is let go.
type held struct{ let chan struct{} }

func (h held) Ask(ctx context.Context, _ agent.Task) (agent.Reply, error) {
	select {
	case <-h.let:
		return agent.Reply{Result: &pick.Result{Kind: pick.DIY}}, nil
	case <-ctx.Done():
		return agent.Reply{}, ctx.Err()
	}
}

func (held) Worst(agent.Task) *float64 { return new(float64) }

func (held) Profile() agent.Profile { return agent.Profile{} }

func TestARunIsSteeredOverItsSocket(t *testing.T) {
	long := strings.Repeat("long", 30)
	for name, tt := range map[string]struct{ tmp, data string }{
		"in its folder":                   {"", "data"},
		"elsewhere, for a long folder":    {"", filepath.Join(long, "data")},
		"with a long folder for all else": {long, filepath.Join(long, "data")},
	} {
		for way, relative := range map[string]bool{"by its whole path": false, "by a path relative to where the run began": true} {
			t.Run(name+", "+way, func(t *testing.T) {
				work, err := os.MkdirTemp("", "ctl") //nolint:usetesting // shorter than t.TempDir()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(work) })
				whole, root := filepath.Join(work, tt.data), filepath.Join(work, tt.data)
				if err := os.MkdirAll(filepath.Join(work, tt.tmp), 0o755); err != nil {
					t.Fatal(err)
				}
				if tt.tmp != "" {
					t.Setenv("TMPDIR", filepath.Join(work, tt.tmp))
				}
				if relative {
					root = tt.data
				}
				t.Chdir(work)
				steer(t, root, whole)
			})
		}
	}
}

// steer runs a run below root and steers it from another working directory, where whole
// is the way to root.
func steer(t *testing.T, root, whole string) {
	e := &eval.Eval{Name: "e", Category: "c", Repeats: 20, Templates: []string{"none"}, Prompts: []eval.Prompt{{ID: "p", Text: "Which?"}}, Agents: []eval.Agent{{Name: "a", Kind: eval.KindSimulated}}}
	trials := plan.New(e)
	j, err := journal.Create(root, journal.Run{ID: "r1", Eval: *e, Planned: len(trials)})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	dir := filepath.Join(root, "r1")
	if c, err := runctl.Dial(dir); !errors.Is(err, runctl.ErrNotRunning) {
		t.Fatalf("before the run: %v, %v", c, err)
	}
	control := runner.NewControl()
	server, err := runctl.Listen(dir, control)
	if err != nil {
		t.Fatal(err)
	}
	agents := held{make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		r := &runner.Runner{
			Eval: e, Agents: map[string]agent.Agent{"a": agents}, Journal: j, Concurrency: 2, Control: control, Now: time.Now,
			Sleep: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
		}
		_, err := r.Run(t.Context(), trials, runner.Progress{})
		ended <- err
	}()
	t.Chdir(t.TempDir())
	dir = filepath.Join(whole, "r1")
	c, err := runctl.Dial(dir)
	if err != nil {
		t.Fatal(err)
	}
	socket, err := os.ReadFile(filepath.Join(dir, "control"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Dir(string(socket))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's folder: %v, %v", info.Mode(), err)
	}
	ctx := t.Context()
	if st, err := c.SetConcurrency(ctx, 5); err != nil || st.Concurrency != 5 || st.Planned != 20 {
		t.Errorf("%+v, %v", st, err)
	}
	if _, err := c.SetConcurrency(ctx, 0); err == nil || !strings.Contains(err.Error(), "want 1 to") {
		t.Errorf("concurrency 0: %v", err)
	}
	if st, err := c.Pause(ctx); err != nil || !st.Paused {
		t.Errorf("%+v, %v", st, err)
	}
	if st, err := c.Resume(ctx); err != nil || st.Paused {
		t.Errorf("%+v, %v", st, err)
	}
	if st, err := c.SetMaxCost(ctx, 3); err != nil || st.CapUSD != 3 {
		t.Errorf("%+v, %v", st, err)
	}
	close(agents.let)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(ctx); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("after the run: %v", err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(ctx); !errors.Is(err, runctl.ErrNotRunning) {
		t.Errorf("after the process: %v", err)
	}
	if _, err := os.Stat(string(socket)); err == nil {
		t.Error("the socket is left behind")
	}
}
