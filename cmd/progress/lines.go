package progress

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/firstpick/firstpick/runner"
)

// lineView prints periodic status lines, changes of lanes and failures when it
// happens, and all of it at the end. Every line is a word and key=value pairs.
type lineView struct {
	cfg     Config
	every   time.Duration
	tally   *tally
	last    time.Time
	printed map[string]bool
}

// Event implements runner.Sink.
func (p *lineView) Event(_ context.Context, e runner.Event) error {
	now := p.cfg.Now()
	p.tally.note(e, now)
	var lines []string
	switch e.Kind {
	case runner.EventStart:
		p.last = now
	case runner.EventEnd:
		lines = p.final(now)
	default:
		lines = p.news()
		if now.Sub(p.last) >= p.every {
			p.last = now
			lines = append(lines, p.tally.line(now))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(p.cfg.W, strings.Join(lines, "\n"))
	return err
}

// Close implements runner.Sink.
func (p *lineView) Close() error { return nil }

// news returns the first failure of each reason, and once for each lane that nobody is
// reached, that it waits for another, and that it is not asked any more.
func (p *lineView) news() (lines []string) {
	add := func(line string) {
		if !p.printed[line] {
			p.printed[line] = true
			lines = append(lines, line)
		}
	}
	for _, f := range p.tally.failures.list {
		add(fmt.Sprintf("failure reason=%q first=%q", f.reason, f.first))
	}
	if st := p.tally.status; st != nil {
		for _, l := range st.Lanes {
			switch {
			case l.Phase == runner.PhaseClosed, l.Phase == runner.PhaseConnecting && l.Reason != "":
				add(fmt.Sprintf("lane name=%q phase=%s reason=%q", clean(l.Name), l.Phase, clean(l.Reason)))
			case l.WaitingFor != "":
				add(fmt.Sprintf("lane name=%q phase=%s waiting_for=%q reason=%q", clean(l.Name), l.Phase, clean(l.WaitingFor), clean(l.Reason)))
			}
		}
	}
	return lines
}

// line is the run in one line.
func (t *tally) line(now time.Time) string {
	s := fmt.Sprintf("progress done=%d planned=%d excluded=%d failed_attempts=%d rate=%.1f/s", t.finished(), t.run.Planned, t.excluded,
		t.attempts, t.rate(nil, now))
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
	if m.capped > 0 {
		s += fmt.Sprintf(" reserved_usd=%.4f cap_usd=%.2f", m.reserved, m.capped)
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

// final is the closing summary: the run, its lanes, agents and failures.
func (p *lineView) final(now time.Time) []string {
	t := p.tally
	last := t.line(now)
	if t.stopped != "" {
		last += fmt.Sprintf(" stopped=%q", t.stopped)
	}
	lines := []string{last}
	if t.status != nil {
		for _, l := range t.status.Lanes {
			line := fmt.Sprintf("lane name=%q phase=%q asked=%d limited=%d failed=%d left=%d", l.Name, l.Phase, l.Asked, l.Limited, l.Failed, l.Waiting+l.InFlight)
			if l.Reason != "" {
				line += fmt.Sprintf(" reason=%q", clean(l.Reason))
			}
			lines = append(lines, line)
		}
	}
	for _, a := range t.agents {
		line := fmt.Sprintf("agent name=%q valid=%d excluded=%d failed_attempts=%d", a.name, a.done, a.excluded, a.attempts)
		if label, share := a.lead(); label != "" {
			line += fmt.Sprintf(" lead=%q share=%.0f%%", label, 100*share)
		}
		lines = append(lines, line)
	}
	for _, f := range t.failures.top() {
		lines = append(lines, fmt.Sprintf("failure reason=%q count=%d first=%q", f.reason, f.count, f.first))
	}
	if t.failures.more > 0 {
		lines = append(lines, fmt.Sprintf("failure reason=\"others\" count=%d", t.failures.more))
	}
	return lines
}
