// Command bench measures the server as it is shipped: it starts the built program,
// sends requests over loopback from this process, and measures a baseline in the same
// round: the work that no request can avoid. Clients and server share the machine's
// cores. The scripts in .ci build the program, call bench and keep nothing.
//
// Usage:
//
//	bench collect -program FILE [-rounds N] [-for D]    events taken in, beside the bare commit
//	bench tokens  -program FILE [-rounds N] [-for D]    token exchange and bearer check
//	bench ingest  -program FILE [-events N]             events taken in beside reports, memory
//	bench pages   -program FILE [-events N]             pages of a workspace
//	bench chaos   -program FILE [-events N]             what survives kills, stops and damage
//
// -engines names the stores, sqlite and postgres unless it says otherwise; PostgreSQL
// syncs to disk, as SQLite does, and is left out where it is not installed.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// options are the flags of all measurements.
type options struct {
	program string
	rounds  int
	span    time.Duration // of one measurement
	events  int
	engines []string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	measures := map[string]func(*bench) error{"collect": measureCollect, "tokens": measureTokens, "ingest": measureIngest, "pages": measurePages, "chaos": runChaos}
	if len(args) == 0 || measures[args[0]] == nil {
		return errors.New("usage: bench collect|tokens|ingest|pages|chaos -program FILE [flags]")
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.program, "program", "", "the built firstpick")
	flags.IntVar(&o.rounds, "rounds", 3, "interleaved rounds; medians are printed")
	flags.DurationVar(&o.span, "for", 3*time.Second, "how long one measurement takes")
	flags.IntVar(&o.events, "events", 1_000_000, "events sent before pages or reports are measured")
	engines := flags.String("engines", "sqlite,postgres", "stores to measure on")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o.engines = strings.Split(*engines, ",")
	for _, engine := range o.engines {
		if !slices.Contains(statetest.Engines(), engine) {
			return fmt.Errorf("-engines: unknown store %q (sqlite, postgres)", engine)
		}
		b, err := newBench(o, engine)
		if errors.Is(err, statetest.ErrNoPostgres) {
			fmt.Printf("%s: not installed here\n", engine)
			continue
		}
		if err != nil {
			return err
		}
		fmt.Println(engine)
		if err := errors.Join(measures[args[0]](b), b.close()); err != nil {
			return fmt.Errorf("%s: %w", engine, err)
		}
	}
	return nil
}
