package progress

import (
	"context"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

const (
	defaultWidth, defaultHeight = 80, 24
	// lineEvery is the interval of status lines.
	lineEvery = 10 * time.Second
	// liveAfter is how long a run takes before it gets the screen: a shorter one would
	// only flash.
	liveAfter = 700 * time.Millisecond
)

// A Controller controls a run from the keyboard; *runner.Control is one.
type Controller interface {
	Status(ctx context.Context) (runner.Status, error)
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	SetConcurrency(ctx context.Context, n int) error
}

// A Config says where and how to show a run.
type Config struct {
	W io.Writer
	// In has the keys of a person; nil for no keys.
	In io.Reader
	// TTY says that W is a terminal that can be drawn on. CI, a machine that keeps a
	// log, overrules it. Quiet shows nothing until the summary.
	TTY, CI, Quiet bool
	Run            journal.Run
	// Category is what the run ranks; nil shows no leaders.
	Category *catalog.Category
	Now      func() time.Time
	// Environ are the variables that say which colours the terminal has.
	Environ []string
	// Hide stops the terminal's echo while a live view is drawn on it, Show lets it
	// echo again; nil does nothing.
	Hide, Show func()
	// Width returns the columns of the terminal, or 0; nil for unknown.
	Width func() int
	// Control is the run's; nil allows no pause.
	Control Controller
	// Interrupt ends the command like Ctrl-C.
	Interrupt func()
	// Resume is the command that continues an interrupted run.
	Resume string
}

func (c *Config) live() bool { return c.TTY && !c.CI && !c.Quiet }

// A View shows a run. Its methods may be called from any goroutine.
type View struct {
	cfg     Config
	ctx     context.Context
	options []tea.ProgramOption
	lines   *lineView // nil on a terminal

	mu      sync.Mutex // protects what follows
	tally   *tally
	screen  *screen // nil until the run has taken a while
	palette palette
	size    [2]int // of the terminal; zero if unknown
}

// New returns a view of a run: live on a terminal, as lines elsewhere. It gives the
// terminal back when the context ends.
func New(ctx context.Context, cfg Config) *View { return newView(ctx, cfg) }

func newView(ctx context.Context, cfg Config, options ...tea.ProgramOption) *View {
	v := &View{cfg: cfg, ctx: ctx, options: options, tally: newTally(cfg.Run, cfg.Category)}
	if !cfg.live() && !cfg.Quiet {
		v.lines = newLineView(&v.cfg)
	}
	return v
}

// Event implements runner.Sink.
func (v *View) Event(_ context.Context, e runner.Event) error {
	now := v.cfg.Now()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.note(e, now)
	if v.lines != nil {
		return v.lines.event(v.tally, e, now)
	}
	if e.Kind == runner.EventStatus {
		v.show(now)
	}
	return nil
}

// show takes the screen of a terminal, once and not for a short run. The caller holds
// the lock.
func (v *View) show(now time.Time) {
	if v.screen == nil && v.cfg.live() && now.Sub(v.tally.started) >= liveAfter && v.ctx.Err() == nil {
		v.screen = newScreen(v.ctx, v, v.options...)
	}
}

// Earlier counts an answer of an earlier start of the run.
func (v *View) Earlier(t plan.Trial, r *pick.Result, costUSD *float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tally.earlier(t, r, costUSD)
}

// Close implements runner.Sink: it gives the terminal back.
func (v *View) Close() error {
	v.mu.Lock()
	s := v.screen
	v.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.close()
}
