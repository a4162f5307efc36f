package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/runctl"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

func newRunsCtlCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ctl RUN [pause|resume|concurrency N|max-cost USD]",
		Short: "Show and control an active run",
		Long: `Show the state of an active run from another terminal, and control it:

  pause            stop new requests; those in flight finish
  resume           continue
  concurrency N    limit parallel requests to N; requests above the limit finish
  max-cost USD     set the budget; it cannot be set below what is spent or reserved

RUN may be the prefix of an id, or "last" for the newest run.`,
		Args: usage(cobra.RangeArgs(1, 3)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			st, err := a.steer(cmd.Context(), args[0], args[1:])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env, st)
			}
			return printStatus(env, st)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// steer executes a command and returns the state of the run.
func (a *app) steer(ctx context.Context, run string, order []string) (st runner.Status, err error) {
	if verbs := []string{"pause", "resume", "concurrency", "max-cost"}; len(order) > 0 && !slices.Contains(verbs, order[0]) {
		return st, usageErr(nearest.Hint(order[0], verbs), "%q: want pause, resume, concurrency N or max-cost USD", order[0])
	}
	id, err := a.findRun(run)
	if err != nil {
		return st, err
	}
	c, err := runctl.Dial(filepath.Join(a.runsRoot(), id))
	if err == nil {
		st, err = obey(ctx, c, order)
	}
	if errors.Is(err, runctl.ErrNotRunning) {
		return st, usageErr("firstpick runs shows whether it has all its trials; firstpick run --resume "+id+" continues it", "run %s is not active", id)
	}
	return st, err
}

func obey(ctx context.Context, c *runctl.Client, order []string) (st runner.Status, err error) {
	verb, value := "", ""
	if len(order) > 0 {
		verb = order[0]
	}
	if len(order) > 1 {
		value = order[1]
	}
	wantsValue := verb == "concurrency" || verb == "max-cost"
	switch {
	case wantsValue && value == "":
		return st, usageErr("", "%s needs a number", verb)
	case !wantsValue && value != "":
		return st, usageErr("", "%s takes no value", verb)
	}
	switch verb {
	case "":
		return c.Status(ctx)
	case "pause":
		return c.Pause(ctx)
	case "resume":
		return c.Resume(ctx)
	case "concurrency":
		n, err := strconv.Atoi(value)
		if err != nil {
			return st, usageErr("", "concurrency must be an integer (got %q)", value)
		}
		return c.SetConcurrency(ctx, n)
	case "max-cost":
		usd, err := strconv.ParseFloat(value, 64)
		if err != nil || !(usd > 0) {
			return st, usageErr("", "max-cost must be a positive amount of US dollars (got %q)", value)
		}
		return c.SetMaxCost(ctx, usd)
	default:
		return st, fmt.Errorf("unknown command %q", verb) // steer checks it
	}
}

// findRun returns the id of a run by the id, the start of one, or "last" for the newest run.
func (a *app) findRun(start string) (string, error) {
	if _, err := journal.ReadRun(a.runsRoot(), start); err == nil || !errors.Is(err, os.ErrNotExist) {
		return start, err
	}
	runs, unreadable, err := journal.List(a.runsRoot())
	if err != nil {
		return "", err
	}
	var found []string
	for _, r := range runs {
		if start == "last" {
			found = []string{r.ID} // the list is in order of time
		} else if strings.HasPrefix(r.ID, start) {
			found = append(found, r.ID)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usageErr("", "%s is the prefix of %d runs: %s", start, len(found), strings.Join(found, ", "))
	default:
		for _, run := range unreadable {
			if strings.HasPrefix(run.ID, start) {
				return "", run
			}
		}
		return "", usageErr("firstpick runs lists them", "no run %s in %s", start, a.cfg.Data)
	}
}

func printStatus(env *Env, st runner.Status) error {
	w := env.Stdout
	state := "running"
	if st.Paused {
		state = "paused"
	}
	_, err := fmt.Fprintf(w, "%s: %d of %d done (%d excluded), %d in flight of at most %d\n", state, st.Valid+st.Excluded, st.Planned, st.Excluded, st.InFlight, st.Concurrency)
	money := fmt.Sprintf("spent %.4f USD", st.SpentUSD)
	if !st.SpentKnown {
		money += " plus an unknown amount"
	}
	if st.ReservedUSD > 0 {
		money += fmt.Sprintf(", up to %.4f more is reserved", st.ReservedUSD)
	}
	if st.CapUSD > 0 {
		money += fmt.Sprintf(", of at most %.2f", st.CapUSD)
	}
	_, _ = fmt.Fprintln(w, money)
	t := table{header: []string{"lane", "phase", "in flight", "limit", "waiting", "refused", "failed", "trouble"}}
	for _, l := range st.Lanes {
		phase := l.Phase
		if !l.Until.IsZero() {
			phase += " until " + stamp(l.Until)
		}
		t.add(l.Name, phase, strconv.Itoa(l.InFlight), fmt.Sprintf("%d of %d", l.Limit, l.Max), strconv.Itoa(l.Waiting), strconv.Itoa(l.Limited), strconv.Itoa(l.Failed), l.Reason)
	}
	return errors.Join(err, t.print(env, format{}))
}
