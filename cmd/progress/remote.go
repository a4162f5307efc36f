package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/firstpick/firstpick/runner"
)

// A Remote is the state of a run on a server, with fewer fields than a local run.
type Remote struct {
	// Phase is the status of the run, such as queued or running.
	Phase                              string
	Planned, Valid, Excluded, InFlight int
	// SpentUSD is the known cost, AtMostUSD adds the possible rest.
	SpentUSD, AtMostUSD, BudgetUSD float64
	// Since is when it began; the zero time where it has not.
	Since time.Time
	Lanes []RemoteLane
}

// A RemoteLane is a lane of such a run.
type RemoteLane struct{ Name, Phase, Reason string }

func (r *Remote) finished() int { return r.Valid + r.Excluded }

// left is how long the rest will take at the rate so far.
func (r *Remote) left(now time.Time) (time.Duration, bool) {
	took := now.Sub(r.Since).Seconds()
	if r.Since.IsZero() || took <= 0 || r.finished() == 0 || r.finished() >= r.Planned {
		return 0, false
	}
	return seconds(took / float64(r.finished()) * float64(r.Planned-r.finished())), true
}

// A RemoteView shows a run elsewhere. Its methods are for one goroutine.
type RemoteView interface {
	Show(Remote) error
	io.Closer
}

// NewRemote returns a view of a run in its current state: live on a terminal, as
// lines elsewhere. Of the configuration's run, the name and category of its eval are
// shown.
func NewRemote(cfg Config, now Remote) RemoteView {
	if cfg.TTY && !cfg.CI {
		return newRemoteLive(cfg, now)
	}
	every := lineEvery
	if cfg.CI {
		every = lineEveryCI
	}
	return &remoteLines{cfg: cfg, every: every, printed: map[string]bool{}}
}

// remoteLines prints a line now and then, at once where the run's phase is new, and
// lanes that are not asked any more.
type remoteLines struct {
	cfg     Config
	every   time.Duration
	last    time.Time
	phase   string
	printed map[string]bool
}

// Show implements RemoteView.
func (p *remoteLines) Show(r Remote) error {
	now := p.cfg.Now()
	var lines []string
	for _, l := range r.Lanes {
		line := fmt.Sprintf("lane name=%q phase=closed reason=%q", clean(l.Name), clean(l.Reason))
		if l.Phase == runner.PhaseClosed && !p.printed[line] {
			p.printed[line] = true
			lines = append(lines, line)
		}
	}
	if r.Phase != p.phase || now.Sub(p.last) >= p.every {
		p.phase, p.last = r.Phase, now
		lines = append(lines, r.line(now))
	}
	if len(lines) == 0 {
		return nil
	}
	_, err := fmt.Fprintln(p.cfg.W, strings.Join(lines, "\n"))
	return err
}

// Close implements RemoteView.
func (p *remoteLines) Close() error { return nil }

// line is the run in one line, in the words of one's own run.
func (r *Remote) line(now time.Time) string {
	s := fmt.Sprintf("progress status=%s done=%d planned=%d excluded=%d in_flight=%d", clean(r.Phase), r.finished(), r.Planned, r.Excluded, r.InFlight)
	if d, known := r.left(now); known {
		s += " eta=" + short(d)
	}
	s += fmt.Sprintf(" spent_usd=%.4f", r.SpentUSD)
	if r.AtMostUSD > r.SpentUSD {
		s += fmt.Sprintf(" at_most_usd=%.4f", r.AtMostUSD)
	}
	return s + fmt.Sprintf(" cap_usd=%.2f", r.BudgetUSD)
}

type remoteLive struct {
	*screen
	styles styles

	mu     sync.Mutex
	remote Remote
}

func newRemoteLive(cfg Config, now Remote, opts ...tea.ProgramOption) *remoteLive {
	l := &remoteLive{styles: newStyles(cfg.NoColor), remote: now}
	l.screen = newScreen(cfg, func(width, height int) string {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.remote.render(cfg, frame{width: width, height: height, now: cfg.Now(), styles: l.styles})
	}, opts...)
	return l
}

// Show implements RemoteView.
func (l *remoteLive) Show(r Remote) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remote = r
	return nil
}

// render draws the whole run, and its lanes as far as there is room for them.
func (r *Remote) render(cfg Config, f frame) string {
	f.width, f.height = max(f.width, minWidth), max(f.height, minHeight)
	run := cfg.Run
	run.Planned = r.Planned
	state := []string{clean(r.Phase), fmt.Sprintf("%d under way", r.InFlight)}
	if r.Excluded > 0 {
		state = append(state, fmt.Sprintf("%d excluded", r.Excluded))
	}
	if d, known := r.left(f.now); known {
		state = append(state, "ETA "+short(d))
	}
	money := purse{spent: r.SpentUSD, reserved: max(0, r.AtMostUSD-r.SpentUSD), capped: r.BudgetUSD, known: true}
	lines := []string{
		f.title.Render(clip(title(&tally{run: run}), f.width)), f.progressBar(r.finished(), r.Planned),
		clip(strings.Join(state, "   "), f.width), f.moneyBar(money),
	}
	lanes := section{rows: "lanes"}
	for _, l := range r.Lanes {
		lanes.blocks = append(lanes.blocks, []string{f.remoteLane(l)})
	}
	lines = append(lines, lanes.fit(f.height-1-len(lines), f)...)
	return strings.Join(lines, "\n") + "\n"
}

func (f frame) remoteLane(l RemoteLane) string {
	style := lipgloss.NewStyle()
	switch l.Phase {
	case runner.PhaseClosed:
		style = f.bad
	case runner.PhaseWaiting:
		style = f.hold
	}
	line := "lane " + clean(l.Name) + "  " + clean(l.Phase)
	if l.Reason != "" {
		line += ": " + clean(l.Reason)
	}
	return style.Render(clip(line, f.width))
}
