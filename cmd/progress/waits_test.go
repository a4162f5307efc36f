package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner"
)

func TestARunThatWaitsSaysForWhat(t *testing.T) {
	nobody := runner.LaneStatus{
		Name: "openai-chat llama3.2", Agents: []string{"claude"}, Phase: runner.PhaseConnecting, Until: at(7), Waiting: 15,
		Reason: "no connection yet, given up after 20s: network: connection refused",
	}
	held := runner.LaneStatus{
		Name: "simulated", Agents: []string{"rehearsal"}, Phase: runner.PhaseWaiting, WaitingFor: "openai gamma-3", Waiting: 15,
		Reason: "waits for openai gamma-3: under a budget all keep together",
	}
	st := status()
	st.Lanes = []runner.LaneStatus{nobody, held}
	for _, width := range []int{40, 80, 200} {
		got := draw(fed(st), width, 40)
		for _, want := range []string{"connecting", "no connection yet", "waits for openai gamma-3"} {
			if width == 40 && want == "no connection yet" { // clipped
				continue
			}
			if !strings.Contains(got, want) {
				t.Errorf("%d columns: no %q in\n%s", width, want, got)
			}
		}
	}
	var buf bytes.Buffer
	s := New(t.Context(), Config{W: &buf, Run: demoRun(), Now: func() time.Time { return start }})
	for range 3 {
		if err := s.Event(t.Context(), runner.Event{Kind: runner.EventStatus, Status: st}); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		`lane name="openai-chat llama3.2" phase=connecting reason="no connection yet`,
		`lane name="simulated" phase=waiting waiting_for="openai gamma-3" reason="waits for openai gamma-3`,
	} {
		if n := strings.Count(buf.String(), want); n != 1 {
			t.Errorf("%q comes %d times in\n%s", want, n, buf.String())
		}
	}
}
