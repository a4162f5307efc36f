// Package metrics exports metrics of a server or worker to Prometheus: runs in the
// queue, requests, events, and the process itself. Requests are counted as they are
// answered; all else is read at each scrape.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/firstpick/firstpick/server/store/state"
)

// Sources are where the figures come from; nil leaves their metrics out. All may be
// called by many goroutines.
type Sources struct {
	// Queue counts the runs of workspaces that have not ended.
	Queue    func(ctx context.Context) (state.QueueStats, error)
	Requests *Requests // that the server answered
	// Events is how many collected events wait to be stored.
	Events func() int64
	// Lists returns when each list of agents' addresses was last fetched.
	Lists func() map[string]time.Time
	// Worker holds the counters of a worker.
	Worker func() Worker
}

// A Worker holds the counters of a worker since its start.
type Worker struct {
	Taken    uint64            // runs, each time one was taken
	Ended    map[string]uint64 // runs, by status, given_back, or lost
	Trials   uint64            // that came to an end
	SpentUSD float64           // what answers cost, as far as providers said
}

const (
	// queueTimeout bounds a query of the store, so that a scrape reports a store that hangs.
	queueTimeout  = 2 * time.Second
	scrapeTimeout = 5 * time.Second
	maxScrapes    = 4 // at a time
)

// Handler serves GET /metrics, and nothing else.
func Handler(s Sources, log *slog.Logger) http.Handler {
	c := &collector{s, log}
	free := make(chan struct{}, maxScrapes)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case free <- struct{}{}:
			defer func() { <-free }()
		default:
			http.Error(w, "too many scrapes at a time; try again later", http.StatusServiceUnavailable)
			return
		}
		var x exposition
		c.write(r.Context(), &x)
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(x.Bytes())
	}), scrapeTimeout, "the scrape took too long"))
	return mux
}

// A collector looks the figures up at each scrape.
type collector struct {
	Sources
	log *slog.Logger
}

func (c *collector) write(ctx context.Context, x *exposition) {
	writeGo(x)
	writeProcess(x)
	if c.Queue != nil {
		c.queue(ctx, x)
	}
	if c.Requests != nil {
		c.Requests.write(x)
	}
	if c.Events != nil {
		x.add(gauge, "firstpick_collect_waiting_events", "Collected events that wait to be stored.", float64(c.Events()))
	}
	if c.Lists != nil {
		lists := c.Lists()
		for _, list := range slices.Sorted(maps.Keys(lists)) {
			x.add(gauge, "firstpick_agent_list_timestamp_seconds", "When a list of agents' addresses was last fetched, in Unix time.", float64(lists[list].Unix()), "list", list)
		}
	}
	if c.Worker != nil {
		c.worker(x)
	}
}

func (c *collector) queue(ctx context.Context, x *exposition) {
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	q, err := c.Queue(ctx)
	up := 1.0
	if err != nil {
		up = 0
		if !errors.Is(err, context.DeadlineExceeded) {
			c.log.Warn("the queue of runs could not be counted", "err", err)
		}
	}
	x.add(gauge, "firstpick_state_up", "1 when the state store answered this scrape.", up)
	if err != nil {
		return // a queue that was not counted is not empty
	}
	const runs, help = "firstpick_eval_runs", "Eval runs of workspaces that have not ended; abandoned ones lost their worker and wait for another."
	x.add(gauge, runs, help, float64(q.Queued), "state", "queued")
	x.add(gauge, runs, help, float64(q.Running), "state", "running")
	x.add(gauge, runs, help, float64(q.Abandoned), "state", "abandoned")
	x.add(gauge, "firstpick_eval_queue_lag_seconds", "How long the eval run that waits longest for a worker has waited; 0 when none waits.", q.OldestWait.Seconds())
}

func (c *collector) worker(x *exposition) {
	w := c.Worker()
	x.add(counter, "firstpick_eval_worker_runs_taken_total", "Eval runs that this worker took from the queue.", float64(w.Taken))
	for _, status := range slices.Sorted(maps.Keys(w.Ended)) {
		x.add(counter, "firstpick_eval_worker_runs_ended_total", "Eval runs that this worker ended, by status; given_back and lost ones go on elsewhere.", float64(w.Ended[status]), "status", status)
	}
	x.add(counter, "firstpick_eval_worker_trials_total", "Trials of eval runs that this worker brought to an end.", float64(w.Trials))
	x.add(counter, "firstpick_eval_worker_spent_usd_total", "What providers charged for this worker's requests, in US dollars.", w.SpentUSD)
}
