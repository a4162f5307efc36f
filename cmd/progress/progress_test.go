package progress

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func demoRun() journal.Run {
	return journal.Run{ID: "r1", Planned: 40, Synthetic: true, Eval: eval.Eval{
		Name: "payments", Category: "payments",
		Agents: []eval.Agent{{Name: "rehearsal"}, {Name: "a-model-with-a-rather-long-name-2026-01-01"}},
	}}
}

func feed(t *testing.T, note func(runner.Event)) {
	t.Helper()
	cost := 0.0025
	note(runner.Event{Kind: "start", At: start, Planned: 40, Done: 4})
	for i := range 10 {
		note(runner.Event{
			Kind: "result", At: start, Trial: plan.Trial{Agent: "rehearsal", Repeat: i}, CostUSD: &cost,
			Result: &pick.Result{Kind: pick.Tool, Picked: []string{"stripe", "paddle"}[i%3%2]},
		})
	}
	note(runner.Event{Kind: "attempt", Trial: plan.Trial{Agent: "rehearsal"}, Reason: "rate_limited"})
	note(runner.Event{Kind: "excluded", Trial: plan.Trial{Agent: "rehearsal"}, Reason: "network"})
}

func TestFrames(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			ta := newTally(demoRun())
			feed(t, ta.note)
			got := render(ta, width, start.Add(5*time.Second), newStyles(true))
			golden(t, fmt.Sprintf("frame_%d", width), got)
			for line := range strings.Lines(got) {
				if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
					t.Errorf("line of %d columns: %q", n, line)
				}
			}
		})
	}
}

func TestPlainPrintsNowAndThenAndAtTheEnd(t *testing.T) {
	var buf bytes.Buffer
	now := start
	s := New(Config{W: &buf, Run: demoRun(), Now: func() time.Time { return now }})
	feed(t, func(e runner.Event) {
		if err := s.Event(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	})
	if buf.Len() != 0 {
		t.Fatalf("printed before two seconds passed: %q", buf.String())
	}
	now = now.Add(5 * time.Second)
	if err := s.Event(t.Context(), runner.Event{Kind: "end"}); err != nil {
		t.Fatal(err)
	}
	if want := "15/40 done   2.0/s   ETA 13s   spent $0.0250   1 failed attempts   1 excluded\n"; buf.String() != want {
		t.Errorf("got %q, want %q", buf.String(), want)
	}
}

func TestLiveEndsAndLeavesTheLastFrame(t *testing.T) {
	var buf bytes.Buffer
	s := newLive(Config{W: &buf, TTY: true, Run: demoRun(), Now: func() time.Time { return start }, NoColor: true}, tea.WithWindowSize(80, 24))
	feed(t, func(e runner.Event) {
		if err := s.Event(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(buf.String(), "15/40") {
		t.Errorf("no last frame in %q", buf.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\n got: %s\nwant: %s", path, got, want)
	}
}
