package cli

import (
	"context"
	"encoding/json"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/cmd/progress"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

// defaultData is the data folder that commands use without --data.
const defaultData = ".firstpick"

// showing returns how this process shows a run: live on a terminal, as lines elsewhere,
// and not at all where the output is for programs. A process in the background must not
// change the terminal.
func (env *Env) showing(run journal.Run, quiet bool) progress.Config {
	cfg := progress.Config{
		W: env.Stderr, TTY: env.StderrIsTTY && env.Terminal.Foreground(), CI: env.Getenv("CI") != "", Quiet: quiet,
		Run: run, Now: env.Now, Interrupt: env.Interrupt, Show: env.Terminal.Show, Width: env.Terminal.Width,
	}
	if env.Environ != nil {
		cfg.Environ = env.Environ()
	}
	if cfg.TTY && env.StdinIsTTY {
		cfg.In, cfg.Hide = env.Stdin, env.Terminal.Save
	} else {
		cfg.Hide = env.Terminal.Hide
	}
	return cfg
}

// newView returns the display of a run that control controls.
func (a *app) newView(ctx context.Context, cat *catalog.Catalog, run journal.Run, control progress.Controller, quiet bool) *progress.View {
	cfg := a.env.showing(run, quiet)
	cfg.Control, cfg.Resume = control, "firstpick run --resume "+run.ID
	cfg.Category, _ = cat.Category(run.Eval.Category)
	return progress.New(ctx, cfg)
}

// earlier adds the answers of earlier starts of a run to its display.
func (a *app) earlier(view *progress.View, run string) error {
	seen := map[string]bool{}
	_, err := journal.Scan(a.runsRoot(), run, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult && !seen[r.Trial.ID] { // the first result counts
			seen[r.Trial.ID] = true
			var cost *float64
			if r.Answer != nil {
				cost = r.Answer.CostUSD
			}
			view.Earlier(r.Trial, r.Result, cost)
		}
		return nil
	})
	return err
}

// dataFlag is the flag that a command needs to find the data folder; empty if absent.
func (a *app) dataFlag() string {
	if a.cfg.Data == defaultData {
		return ""
	}
	return " --data " + a.cfg.Data
}

// next prints the commands that follow a complete run; report has those of others.
func (a *app) next(view *progress.View, sum runner.Summary, run journal.Run) error {
	data := a.dataFlag()
	switch {
	case sum.Missing > 0 || !analytics.Complete(sum.Valid, sum.Planned):
		return nil
	case run.Shard != nil:
		return view.Next("firstpick merge RUN RUN..." + data)
	}
	commands := []string{"firstpick rank" + data}
	if leader := view.Leader(); leader != "" {
		commands = append(commands, "firstpick trial --picked "+leader+data)
	}
	if !run.Synthetic {
		commands = append(commands, "firstpick publish"+data)
	}
	return view.Next(commands...)
}

// ndjson prints every event as one line of JSON.
type ndjson struct{ enc *json.Encoder }

func (n *ndjson) Event(_ context.Context, e runner.Event) error { return n.enc.Encode(e) }

func (n *ndjson) Close() error { return nil }
