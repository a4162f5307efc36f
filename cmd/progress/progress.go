package progress

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

const (
	defaultWidth = 80
	// lineEvery is how often a plain line is printed.
	lineEvery = 2 * time.Second
)

// A Config says where and how to show a run.
type Config struct {
	W       io.Writer
	TTY     bool
	Run     journal.Run
	Now     func() time.Time
	NoColor bool
}

// New returns a sink that shows a run: live on a terminal, as lines elsewhere.
func New(cfg Config) runner.Sink {
	if cfg.TTY {
		return newLive(cfg)
	}
	return &plain{cfg: cfg, tally: newTally(cfg.Run)}
}

// plain prints a line now and then, and one at the end.
type plain struct {
	cfg   Config
	tally *tally
	last  time.Time
}

// Event implements runner.Sink.
func (p *plain) Event(_ context.Context, e runner.Event) error {
	p.tally.note(e)
	now := p.cfg.Now()
	if e.Kind == "start" {
		p.last = now
	}
	if e.Kind != "end" && now.Sub(p.last) < lineEvery {
		return nil
	}
	p.last = now
	_, err := fmt.Fprintf(p.cfg.W, "%d/%d done   %s\n", p.tally.finished(), p.tally.run.Planned, pace(p.tally, now))
	return err
}

// Close implements runner.Sink.
func (p *plain) Close() error { return nil }
