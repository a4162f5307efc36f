package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/runner/journal"
)

func remoteRun() journal.Run {
	run := journal.Run{ID: "run_1"}
	run.Eval.Name, run.Eval.Category = "web", "webserver"
	return run
}

// remoteStates are those of a run that waits, works, loses a lane and ends.
func remoteStates() []Remote {
	lanes := []RemoteLane{{"openai gpt", "steady", ""}, {"anthropic opus", "waiting", "rate limit"}, {"evil \x1b[2Jlane", "closed", "auth: no\nkey"}}
	return []Remote{
		{Phase: "queued", Planned: 60, BudgetUSD: 5},
		{Phase: "running", Planned: 60, BudgetUSD: 5, Since: at(0)},
		{Phase: "running", Planned: 60, Valid: 9, Excluded: 1, InFlight: 4, SpentUSD: 0.5, AtMostUSD: 0.75, BudgetUSD: 5, Since: at(0), Lanes: lanes},
		{Phase: "running", Planned: 60, Valid: 29, Excluded: 1, InFlight: 4, SpentUSD: 1.5, AtMostUSD: 1.5, BudgetUSD: 5, Since: at(0), Lanes: lanes},
		{Phase: "done", Planned: 60, Valid: 59, Excluded: 1, SpentUSD: 3, AtMostUSD: 3, BudgetUSD: 5, Since: at(0), Lanes: lanes},
	}
}

func TestARunElsewhereIsToldInLines(t *testing.T) {
	for _, ci := range []bool{false, true} {
		var buf bytes.Buffer
		now := at(0)
		v := NewRemote(Config{W: &buf, CI: ci, Run: remoteRun(), Now: func() time.Time { return now }}, remoteStates()[0])
		for _, s := range remoteStates() {
			for range 3 {
				if err := v.Show(s); err != nil {
					t.Fatal(err)
				}
				now = now.Add(time.Second)
			}
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		name := "remote"
		if ci {
			name = "remote_ci"
		}
		golden(t, name, buf.String())
	}
}

func TestARunElsewhereIsDrawn(t *testing.T) {
	s := remoteStates()[2]
	for _, size := range [][2]int{{100, 24}, {40, 8}, {10, 3}} {
		got := s.render(Config{Run: remoteRun()}, frame{width: size[0], height: size[1], now: at(5), styles: newStyles(true)})
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if len(lines) > max(size[1], minHeight) || strings.Contains(got, "\x1b") {
			t.Errorf("%d lines in %d:\n%q", len(lines), size[1], got)
		}
		if size[0] == 100 {
			golden(t, "remote_live", got)
		}
	}
	var buf bytes.Buffer
	v := newRemoteLive(Config{W: &buf, TTY: true, Run: remoteRun(), Now: func() time.Time { return at(5) }, NoColor: true}, remoteStates()[0], tea.WithWindowSize(80, 24))
	for _, s := range remoteStates() {
		if err := v.Show(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(buf.String(), "60/60") {
		t.Errorf("no last frame in %q", buf.String())
	}
}
