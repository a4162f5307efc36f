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
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/store/state"
)

// Defaults of a Worker's zero fields.
const (
	defaultRuns        = 2
	defaultConcurrency = 64
	defaultLease       = 30 * time.Second
	defaultPoll        = time.Second
	defaultDrain       = 10 * time.Minute
	defaultMaxTime     = 6 * time.Hour
	defaultMaxAge      = 72 * time.Hour
	defaultMaxBytes    = 4 << 30
	defaultTurn        = 10 * time.Minute
	// connectTimeout limits getting through to a provider.
	connectTimeout = 30 * time.Second
	// maxHeader limits the headers of an answer: an eval may name anybody's server.
	maxHeader = 64 << 10
	// longestPoll limits the wait of a worker whose store does not respond.
	longestPoll = 30 * time.Second
)

// A Worker executes queued runs, several at a time. Its fields must not change while
// Run runs. A zero field has a default only if its comment says so.
type Worker struct {
	DB *state.DB
	// Data is the folder of runs' journals, Bundles that of results. Workers on several
	// machines share both; see the package.
	Data, Bundles string
	// Shared gets a copy of each bundle, if Bundles is not shared with the servers; may be nil.
	Shared  storage.Store
	Files   fs.FS // the embedded fixtures
	Catalog *catalog.Catalog
	Prices  *prices.Table
	Policy  Policy
	// Name is unique among workers.
	Name string
	// Generator is the program's name and version in bundles.
	Generator string
	// Runs is the number of concurrent runs; 0 means 2.
	Runs int
	// Concurrency limits the attempts in flight of each run; 0 means 64. Answers are in
	// memory until they are stored.
	Concurrency int
	// MemoryCapMB limits the estimated memory of the programs of all runs; 0:
	// unlimited.
	MemoryCapMB int
	// Extraction limits how many answers of all runs are read at a time; nil is one as
	// wide as the machine.
	Extraction *runner.Extraction
	// Lease is how long a run stays with a worker that does not renew it; 0 means 30 s.
	Lease time.Duration
	// Poll is about how often an idle worker looks for runs; 0 means a second.
	Poll time.Duration
	// Drain is how long attempts in flight may take when the worker stops; 0 means 10
	// minutes.
	Drain time.Duration
	// MaxTime limits the total work on a run, over all workers; then the run ends with
	// its results so far. 0 means 6 h.
	MaxTime time.Duration
	// Plans ends the runs of a workspace whose plan is no longer paid. What a server stored
	// goes before it.
	Plans bool
	// MaxAge limits the time from a run's start to its end, waits between turns included;
	// then it ends with its results so far. 0 means 72 h.
	MaxAge time.Duration
	// MaxBytes limits what a run stores in Data: its journal, with responses and work
	// records. Then it ends with its results so far; trials in flight may exceed it. 0 means
	// 4 GiB.
	MaxBytes int64
	// Turn is how long a run keeps its slot while runs of other workspaces wait; 0 means 10
	// minutes.
	Turn time.Duration
	// Transport sends requests to providers; nil uses one that enforces Policy.
	Transport http.RoundTripper
	// Programs returns the dependencies of agents that are programs, in a folder of
	// this name, and a cleanup function. It may be nil if Policy allows no programs.
	Programs func(ctx context.Context, name string, lookUp func(string) (string, bool)) (cliagent.Deps, func() error, error)
	// Counts are the worker's counters; may be nil.
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
	w.MaxTime, w.MaxAge = cmp.Or(w.MaxTime, defaultMaxTime), cmp.Or(w.MaxAge, defaultMaxAge)
	w.MaxBytes, w.Turn = cmp.Or(w.MaxBytes, defaultMaxBytes), cmp.Or(w.Turn, defaultTurn)
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

// Run takes runs and works on them until ctx ends. Then it starts no attempts, waits up
// to Drain for those in flight, and gives its runs back.
func (w *Worker) Run(ctx context.Context) error {
	if w.Name == "" || w.Data == "" || w.Bundles == "" {
		return errors.New("a worker needs a name, a data folder and a bundle folder")
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
			w.Log.Error("reading the queue of runs failed; retrying", "failures", failed, "err", err)
		}
		if w.Sleep(ctx, w.pause(idle, failed)) != nil {
			return nil
		}
	}
}

// claim takes the next run, or nil. It ignores a cancelled ctx once begun, so that no
// run is taken without a worker.
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

// pause returns about Poll, jittered per worker and poll so that workers do not poll in
// step; it grows while the store does not respond.
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
