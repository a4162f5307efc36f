package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

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
		{Phase: "done", Planned: 60, Valid: 59, Excluded: 1, SpentUSD: 3, AtMostUSD: 3, BudgetUSD: 5, Since: at(0), Lanes: lanes, Ended: true},
	}
}

func TestARunElsewhereIsShownInLines(t *testing.T) {
	var buf bytes.Buffer
	now := at(0)
	v := New(t.Context(), Config{W: &buf, Run: remoteRun(), Now: func() time.Time { return now }})
	for _, s := range remoteStates() {
		for range 6 {
			if err := v.Show(s); err != nil {
				t.Fatal(err)
			}
			now = now.Add(time.Second)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := v.Summarize(measured().leaders.board); err != nil {
		t.Fatal(err)
	}
	golden(t, "remote", buf.String())
}

func TestARunElsewhereIsDrawn(t *testing.T) {
	for _, size := range [][2]int{{100, 24}, {40, 8}, {10, 3}} {
		ta := newTally(remoteRun(), nil)
		ta.state(&remoteStates()[2], at(5))
		f := sized(size[0], size[1])
		f.ui, f.remote = ui{keys: true}, true
		got := ansi.Strip(render(ta, f)) + "\n"
		if n := strings.Count(got, "\n"); n > max(size[1], minHeight) {
			t.Errorf("%d lines in %d:\n%q", n, size[1], got)
		}
		if size[0] == 100 {
			golden(t, "remote_live", got)
		}
	}
}
