package progress

import (
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/plan"
)

func TestETA(t *testing.T) {
	lane := func(agent string, left int, phase string, until time.Time) runner.LaneStatus {
		return runner.LaneStatus{Name: "lane of " + agent, Agents: []string{agent}, Waiting: left, Phase: phase, Until: until}
	}
	never := time.Time{}
	tests := map[string]struct {
		status *runner.Status
		want   eta
	}{
		"without lanes the whole run's rate counts": {nil, eta{20 * time.Second, "", true}}, // 12 of 60 in 5 s
		"the slowest lane decides": {
			&runner.Status{Lanes: []runner.LaneStatus{lane("rehearsal", 10, runner.PhaseSteady, never), lane("claude", 4, runner.PhaseSteady, never)}},
			eta{20 * time.Second, "lane of claude", true},
		},
		"a wait comes on top": {
			&runner.Status{Lanes: []runner.LaneStatus{lane("rehearsal", 10, runner.PhaseWaiting, at(35))}},
			eta{35 * time.Second, "", true},
		},
		"a lane that answered nothing yet leaves it unknown": {
			&runner.Status{Lanes: []runner.LaneStatus{lane("rehearsal", 10, runner.PhaseSteady, never), lane("nobody", 1, runner.PhaseProbing, never)}},
			eta{},
		},
		"a closed lane is not waited for": {
			&runner.Status{Lanes: []runner.LaneStatus{lane("rehearsal", 10, runner.PhaseSteady, never), lane("nobody", 1, runner.PhaseClosed, never)}},
			eta{5 * time.Second, "", true},
		},
		"a paused run has none": {
			&runner.Status{Paused: true, Lanes: []runner.LaneStatus{lane("rehearsal", 10, runner.PhaseSteady, never)}},
			eta{},
		},
		"nothing is left": {&runner.Status{Lanes: []runner.LaneStatus{lane("rehearsal", 0, runner.PhaseSteady, never)}}, eta{0, "", true}},
	}
	for name, tt := range tests {
		if got := fed(tt.status).eta(at(5)); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}

func TestRatesAreThoseOfTheLastMinute(t *testing.T) {
	ta := newTally(demoRun(), nil)
	ta.note(runner.Event{Kind: runner.EventStart, At: start}, start)
	answer := runner.Event{Kind: runner.EventResult, Trial: plan.Trial{Agent: "rehearsal"}}
	for s := 1; s <= 240; s++ {
		ta.note(answer, at(float64(s)))
		if s > 120 {
			ta.note(answer, at(float64(s)))
		}
		ta.note(runner.Event{Kind: runner.EventStatus, Status: &runner.Status{}}, at(float64(s)))
		switch {
		case s == 120 && ta.rate(nil, at(120)) != 1, s == 240 && ta.rate(nil, at(240)) != 2:
			t.Errorf("rate after %d s is %g", s, ta.rate(nil, at(float64(s))))
		}
	}
	if len(ta.marks) > 62 {
		t.Errorf("%d marks are kept", len(ta.marks))
	}
	if got := ta.rate([]string{"claude"}, at(240)); got != 0 {
		t.Errorf("rate of an agent that answered nothing is %g", got)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 44600 * time.Millisecond: "45s", 200 * time.Second: "3m20s", 2 * time.Hour: "2h", 125 * time.Minute: "2h5m", 76 * time.Hour: "3d4h", seconds(1e300): "365d",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%v) = %s, want %s", d, got, want)
		}
	}
}

func TestPurse(t *testing.T) {
	tests := map[string]purse{
		"spent $0.00":                            {known: true},
		"spent $0.0025":                          {spent: 0.0025, known: true},
		"spent $12.30 of $50.00":                 {spent: 12.3, capped: 50, known: true},
		"spent $1.25 of $5.00, $0.4000 reserved": {spent: 1.25, reserved: 0.4, capped: 5, known: true},
		"spent $1.00 and an unknown amount":      {spent: 1},
	}
	for want, p := range tests {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
