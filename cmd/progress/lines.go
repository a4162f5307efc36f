package progress

import (
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner"
)

// lineView prints a status line now and then, and failures and changes of lanes when they
// happen. Every line is a word and key=value pairs.
type lineView struct {
	cfg     *Config
	last    time.Time
	phase   string // of a run on a server
	printed map[string]bool
}

func newLineView(cfg *Config) *lineView { return &lineView{cfg: cfg, printed: map[string]bool{}} }

// event prints what follows from an event that the tally holds.
func (p *lineView) event(t *tally, e runner.Event, now time.Time) error {
	var lines []string
	switch e.Kind {
	case runner.EventStart:
		p.last = now
	case runner.EventEnd:
		last := t.line(now)
		if t.stopped != "" {
			last += fmt.Sprintf(" stopped=%q", t.stopped)
		}
		lines = append(p.news(t), last)
	default:
		lines = p.news(t)
		if now.Sub(p.last) >= lineEvery {
			p.last = now
			lines = append(lines, t.line(now))
		}
	}
	return p.print(lines)
}

// state prints the state of a run on a server.
func (p *lineView) state(t *tally, now time.Time) error {
	lines := p.news(t)
	if t.phase != p.phase || now.Sub(p.last) >= lineEvery {
		p.phase, p.last = t.phase, now
		lines = append(lines, t.line(now))
	}
	return p.print(lines)
}

func (p *lineView) print(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(p.cfg.W, strings.Join(lines, "\n"))
	return err
}

// news returns the first failure of each kind, and once for each lane and reason that it
// is not reached, waits, or is closed.
func (p *lineView) news(t *tally) (lines []string) {
	add := func(key, line string) {
		if !p.printed[key] {
			p.printed[key] = true
			lines = append(lines, line)
		}
	}
	for _, f := range t.failures.list {
		add("failure "+f.kind(), fmt.Sprintf("failure reason=%q first=%q", f.reason, f.first))
	}
	if st := t.status; st != nil {
		for _, l := range st.Lanes {
			line := fmt.Sprintf("lane name=%q phase=%s", clean(l.Name), clean(l.Phase))
			switch {
			case l.WaitingFor != "":
				line += fmt.Sprintf(" waiting_for=%q", clean(l.WaitingFor))
			case l.Phase == runner.PhaseClosed, l.Reason != "" && (l.Phase == runner.PhaseConnecting || l.Phase == runner.PhaseWaiting):
			default:
				continue
			}
			add(line, line+fmt.Sprintf(" reason=%q", clean(l.Reason)))
		}
	}
	return lines
}

// capText is a cap as a number: in cents, and of small ones more digits.
func capText(usd float64) string { return strings.TrimPrefix(USD(usd), "$") }

// line is the run in one line.
func (t *tally) line(now time.Time) string {
	s := "progress"
	if t.phase != "" {
		s += " status=" + clean(t.phase)
	}
	s += fmt.Sprintf(" done=%d planned=%d excluded=%d", t.finished(), t.run.Planned, t.excluded)
	if !t.remote {
		s += fmt.Sprintf(" failed_attempts=%d rate=%.1f/s", t.attempts, t.rate(nil, now))
	}
	if e := t.eta(now); e.known {
		s += " eta=" + short(e.left)
	}
	m := t.purse()
	s += fmt.Sprintf(" spent_usd=%.4f", m.spent)
	if !m.known {
		s += " spent_known=false"
	}
	st := t.status
	if st == nil {
		return s
	}
	if t.remote && m.reserved > 0 {
		s += fmt.Sprintf(" at_most_usd=%.4f", m.spent+m.reserved)
	}
	if t.remote {
		return s + fmt.Sprintf(" cap_usd=%s in_flight=%d", capText(m.capped), st.InFlight)
	}
	if m.capped > 0 {
		s += fmt.Sprintf(" reserved_usd=%.4f cap_usd=%s", m.reserved, capText(m.capped))
	}
	s += fmt.Sprintf(" in_flight=%d concurrency=%d", st.InFlight, st.Concurrency)
	if st.MemoryMB > 0 {
		s += fmt.Sprintf(" memory_mb=%d memory_cap_mb=%d", st.MemoryMB, st.MemoryCapMB)
	}
	phases := map[string]int{}
	for _, l := range st.Lanes {
		phases[l.Phase]++
	}
	s += fmt.Sprintf(" lanes=%d lanes_waiting=%d lanes_closed=%d", len(st.Lanes), phases[runner.PhaseWaiting], phases[runner.PhaseClosed])
	if st.Paused {
		s += " paused=true"
	}
	return s
}
