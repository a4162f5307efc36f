package reporter_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// The variables of a child process: where it works, and at which point it stops.
const (
	killData  = "FIRSTPICK_TEST_ERASURE_DATA"
	killStore = "FIRSTPICK_TEST_ERASURE_STORE"
	killAt    = "FIRSTPICK_TEST_ERASURE_AT"
)

// A stopper reports that the process has come to a point, and stops there for ever.
type stopper struct{ at string }

func (s stopper) point(name string) {
	if name == s.at {
		fmt.Println("reached " + name)
		select {}
	}
}

func (s stopper) Names(context.Context) ([]string, error) { s.point("bucket"); return nil, nil }

func (s stopper) Remove(context.Context, string) error { return nil }

func (s stopper) EraseWorkspaces(context.Context, func(string) bool) error {
	s.point("model")
	return nil
}

// TestErasureChild is the process that is killed; it does nothing in a run of the tests.
func TestErasureChild(t *testing.T) {
	if os.Getenv(killData) == "" {
		t.Skip("for TestKilledErasure")
	}
	h := &household{t: t, now: time.Date(2026, 11, 9, 11, 0, 0, 0, time.UTC), address: os.Getenv(killStore), data: os.Getenv(killData)}
	h.db = statetest.Open(t, h.address)
	h.open()
	s, asked := stopper{os.Getenv(killAt)}, 0
	h.svc.Folders.Bucket, h.svc.Models = s, append(h.svc.Models, erasure.Model(s))
	h.svc.Secrets = secret.Source{Rand: rand.Reader}
	h.svc.Now = func() time.Time {
		asked++
		s.point(fmt.Sprint("clock ", asked))
		return h.now
	}
	if _, err := h.svc.Work(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.point("end")
}

// TestKilledErasure kills the process of an erasure with SIGKILL at each step; another one
// completes it, and nothing is left.
func TestKilledErasure(t *testing.T) {
	for _, at := range []string{"clock 1", "clock 2", "bucket", "model", "clock 3", "end"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t, "sqlite")
			h.fill()
			if err := h.svc.Request(t.Context(), state.EraseAccount, "acc_dana"); err != nil {
				t.Fatal(err)
			}
			if err := h.model.Close(); err != nil { // the child has it now
				t.Fatal(err)
			}
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestErasureChild$")
			child.Env = append(os.Environ(), killData+"="+h.data, killStore+"="+h.address, killAt+"="+at)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			reached := false
			lines := bufio.NewScanner(out)
			for !reached && lines.Scan() {
				reached = lines.Text() == "reached "+at
			}
			if err := child.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // killed
			if !reached {
				t.Fatalf("the process ended before %s", at)
			}
			h.now = h.now.Add(time.Hour)
			h.open()
			h.work(0)
			if after := h.found(personal); len(after) > 0 {
				t.Errorf("after:\n%s", strings.Join(after, "\n"))
			}
			h.stays()
			if _, err := os.Stat(filepath.Join(h.data, "traffic.duckdb.erasing")); err == nil {
				t.Error("the read model is not compact")
			}
		})
	}
}
