package evalwork

import (
	"cmp"
	"context"
	"errors"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/store/state"
)

// What a Worker takes where its fields are zero.
const (
	defaultRuns        = 2
	defaultConcurrency = 64
	defaultLease       = 30 * time.Second
	defaultPoll        = time.Second
	defaultDrain       = 10 * time.Minute
	defaultMaxTime     = 6 * time.Hour
	// connectTimeout bounds getting through to a provider.
	connectTimeout = 30 * time.Second
	// maxHeader bounds the headers of an answer: an eval may name anybody's server.
	maxHeader = 64 << 10
	// longestPoll is how long a worker waits at most whose store does not answer.
	longestPoll = 30 * time.Second
)

// A Worker runs queued runs, several at a time. Its fields are not changed while Run
// runs. Those that may be zero say so.
type Worker struct {
	DB *state.DB
	// Data is the folder of runs' journals, Bundles that of results. Workers on several
	// machines share both; see the package.
	Data, Bundles string
	Files         fs.FS // the embedded fixtures
	Catalog       *catalog.Catalog
	Prices        *prices.Table
	Policy        Policy
	// Name is no other worker's.
	Name string
	// Generator is the program, as bundles name it.
	Generator string
	// Runs is how many runs are under way at a time; 0 means 2.
	Runs int
	// Concurrency bounds the questions at a time of each run; 0 means 64. Answers that
	// wait to be stored are held in memory.
	Concurrency int
	// MemoryCapMB bounds what the programs of all runs are reckoned to take; 0: none.
	MemoryCapMB int
	// Extraction bounds how many answers of all runs are read at a time; nil is one as
	// wide as the machine.
	Extraction *runner.Extraction
	// Lease is how long a run stays with a worker that is not heard of; 0 means 30 s.
	Lease time.Duration
	// Poll is about how often an idle worker looks for runs; 0 means a second.
	Poll time.Duration
	// Drain is how long questions under way may take when the worker is stopped; 0
	// means 10 minutes.
	Drain time.Duration
	// MaxTime is how long workers work on a run at most, all together; then the run ends
	// with what it has. 0 means 6 h.
	MaxTime time.Duration
	// Transport carries questions to providers; nil reaches what Policy lets it.
	Transport http.RoundTripper
	// Programs returns what agents need that are programs, in a folder of this name,
	// and what cleans up. It may be nil where Policy has none.
	Programs func(ctx context.Context, name string, lookUp func(string) (string, bool)) (cliagent.Deps, func() error, error)
	// Counts are kept of what it does; nil for none.
	Counts *Counts
	Log    *slog.Logger
	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
}

// withDefaults returns the worker with its zero fields filled in.
func (w Worker) withDefaults() *Worker {
	w.Runs, w.Concurrency = cmp.Or(w.Runs, defaultRuns), cmp.Or(w.Concurrency, defaultConcurrency)
	w.Lease = cmp.Or(w.Lease, defaultLease)
	w.Extraction = cmp.Or(w.Extraction, runner.NewExtraction(runtime.GOMAXPROCS(0), 0))
	w.Poll = cmp.Or(w.Poll, defaultPoll)
	w.Drain = cmp.Or(w.Drain, defaultDrain)
	w.MaxTime = cmp.Or(w.MaxTime, defaultMaxTime)
	if w.Transport == nil {
		w.Transport = &http.Transport{
			// No proxy: it would reach addresses that were not checked.
			DialContext:         safehttp.Dialer(safehttp.Limits{Timeout: connectTimeout, Private: w.Policy.Private}).DialContext,
			TLSHandshakeTimeout: connectTimeout, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader,
			MaxIdleConnsPerHost: runner.MaxConcurrency, IdleConnTimeout: 90 * time.Second,
		}
	}
	return &w
}

// Run takes runs and works on them until ctx ends. Then it asks nothing further, lets
// what is under way end for as long as Drain, and gives its runs back.
func (w *Worker) Run(ctx context.Context) error {
	if w.Name == "" || w.Data == "" || w.Bundles == "" {
		return errors.New("a worker wants a name, a data folder and a folder of bundles")
	}
	w = w.withDefaults()
	if t, ok := w.Transport.(*http.Transport); ok {
		defer t.CloseIdleConnections()
	}
	free := make(chan struct{}, w.Runs)
	var running sync.WaitGroup
	defer running.Wait()
	held := &slots{worker: w}
	running.Go(func() { held.share(ctx) })
	idle, failed := 0, 0 // looks in a row
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		row, err := w.claim(ctx)
		if row != nil {
			idle, failed = 0, 0
			running.Go(func() {
				defer func() { <-free }()
				held.use(ctx, row)
			})
			continue
		}
		<-free
		idle++
		if failed++; err == nil {
			failed = 0
		} else if ctx.Err() == nil && failed&(failed-1) == 0 { // the 1st, 2nd, 4th, 8th
			w.Log.Error("the queue of runs cannot be read; trying again", "times", failed, "err", err)
		}
		if w.Sleep(ctx, w.pause(idle, failed)) != nil {
			return nil
		}
	}
}

// claim takes the next run; nil for none. Once begun it is not interrupted, lest a
// run be taken that nobody works on.
func (w *Worker) claim(ctx context.Context) (row *state.EvalRun, err error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ctx = context.WithoutCancel(ctx)
	err = w.DB.Write(ctx, func(tx *state.Tx) (err error) {
		row, err = tx.ClaimRun(ctx, w.Name, w.Now(), w.Lease)
		return err
	})
	if err != nil {
		return nil, err
	}
	return row, nil
}

// pause is about Poll, and different for each worker and look, so that many do not
// come at once; it grows while the store does not answer.
func (w *Worker) pause(look, failed int) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w.Name + "/" + strconv.Itoa(look)))
	d := w.Poll << min(failed, 10)
	d = min(d, max(longestPoll, w.Poll))
	return d*3/4 + time.Duration(float64(d)/2*float64(h.Sum32())/(1<<32))
}

// BundlesRoot is the folder of the results of a workspace's runs.
func BundlesRoot(bundles, workspace string) string { return filepath.Join(bundles, workspace) }

func (w *Worker) runsRoot(workspace string) string { return RunsRoot(w.Data, workspace) }

// RunsRoot is the folder of the journals of a workspace's runs.
func RunsRoot(data, workspace string) string { return filepath.Join(data, "evals", workspace, "runs") }
