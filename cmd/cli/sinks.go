package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

// newSinks returns the displays of a run: NDJSON for programs, a live view on a
// terminal, plain lines elsewhere.
func newSinks(env *Env, asJSON bool, run journal.Run) []runner.Sink {
	if asJSON {
		return []runner.Sink{&ndjson{enc: json.NewEncoder(env.Stdout)}}
	}
	return []runner.Sink{progress.New(progress.Config{
		W: env.Stderr, TTY: env.StderrIsTTY, CI: env.Getenv("CI") != "", Run: run, Now: env.Now, NoColor: env.Getenv("NO_COLOR") != "", Hide: env.Terminal.Hide, Show: env.Terminal.Show,
	})}
}

// ndjson prints every event as one line of JSON.
type ndjson struct{ enc *json.Encoder }

func (n *ndjson) Event(_ context.Context, e runner.Event) error { return n.enc.Encode(e) }

func (n *ndjson) Close() error { return nil }

// quiet drops every event.
type quiet struct{}

func (quiet) Event(context.Context, runner.Event) error { return nil }

func (quiet) Close() error { return nil }

var _ io.Closer = quiet{}
