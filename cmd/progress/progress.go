package progress

import (
	"io"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

const (
	defaultWidth, defaultHeight = 80, 24
	// lineEvery is how often a plain line is printed, lineEveryCI where the lines
	// are kept as a log.
	lineEvery   = 2 * time.Second
	lineEveryCI = 10 * time.Second
)

// A Config says where and how to show a run.
type Config struct {
	W io.Writer
	// TTY says that a person watches a terminal that can be drawn on. CI, a
	// machine that keeps a log, overrules it.
	TTY, CI bool
	Run     journal.Run
	Now     func() time.Time
	NoColor bool
	// Hide stops the terminal's echo while a live view is drawn on it, Show lets it
	// echo again; nil does nothing.
	Hide, Show func()
}

// New returns a sink that shows a run: live on a terminal, as lines elsewhere.
func New(cfg Config) runner.Sink {
	if cfg.TTY && !cfg.CI {
		return newLive(cfg)
	}
	every := lineEvery
	if cfg.CI {
		every = lineEveryCI
	}
	return &lineView{cfg: cfg, every: every, tally: newTally(cfg.Run), printed: map[string]bool{}}
}
