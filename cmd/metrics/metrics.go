// Package metrics exports metrics of a server or worker to Prometheus: runs in the
// queue, requests, events, and the process itself. Requests are counted as they are
// answered; all else is read at each scrape.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

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
func Handler(s Sources, log *slog.Logger) (http.Handler, error) {
	r := prometheus.NewRegistry()
	all := []prometheus.Collector{
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector(), &collector{s, log},
	}
	if s.Requests != nil {
		all = append(all, s.Requests)
	}
	for _, c := range all {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(r, promhttp.HandlerOpts{
		ErrorLog: logger{log}, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: maxScrapes, Timeout: scrapeTimeout,
	}))
	return mux, nil
}

// logger lets promhttp write to our log.
type logger struct{ *slog.Logger }

func (l logger) Println(v ...any) {
	for _, part := range v {
		if err, ok := part.(error); ok {
			l.Warn("metrics are incomplete", "err", err)
			return
		}
	}
}

// A collector looks the figures up at each scrape.
type collector struct {
	Sources
	log *slog.Logger
}

// Describe sends nothing: which routes and statuses there are is not known before.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	if c.Queue != nil {
		c.queue(out)
	}
	if c.Events != nil {
		emit(out, prometheus.GaugeValue, "firstpick_collect_waiting_events", "Collected events that wait to be stored.", float64(c.Events()))
	}
	if c.Lists != nil {
		for list, at := range c.Lists() {
			emit(out, prometheus.GaugeValue, "firstpick_agent_list_timestamp_seconds", "When a list of agents' addresses was last fetched, in Unix time.", float64(at.Unix()), "list", list)
		}
	}
	if c.Worker != nil {
		c.worker(out)
	}
}

func (c *collector) queue(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	q, err := c.Queue(ctx)
	up := 1.0
	if err != nil {
		up = 0
		if !errors.Is(err, context.DeadlineExceeded) {
			c.log.Warn("the queue of runs could not be counted", "err", err)
		}
	}
	emit(out, prometheus.GaugeValue, "firstpick_state_up", "1 when the state store answered this scrape.", up)
	if err != nil {
		return // a queue that was not counted is not empty
	}
	const runs, help = "firstpick_eval_runs", "Eval runs of workspaces that have not ended; abandoned ones lost their worker and wait for another."
	emit(out, prometheus.GaugeValue, runs, help, float64(q.Queued), "state", "queued")
	emit(out, prometheus.GaugeValue, runs, help, float64(q.Running), "state", "running")
	emit(out, prometheus.GaugeValue, runs, help, float64(q.Abandoned), "state", "abandoned")
	emit(out, prometheus.GaugeValue, "firstpick_eval_queue_lag_seconds", "How long the eval run that waits longest for a worker has waited; 0 when none waits.", q.OldestWait.Seconds())
}

func (c *collector) worker(out chan<- prometheus.Metric) {
	w := c.Worker()
	emit(out, prometheus.CounterValue, "firstpick_eval_worker_runs_taken_total", "Eval runs that this worker took from the queue.", float64(w.Taken))
	for status, n := range w.Ended {
		emit(out, prometheus.CounterValue, "firstpick_eval_worker_runs_ended_total", "Eval runs that this worker ended, by status; given_back and lost ones go on elsewhere.", float64(n), "status", status)
	}
	emit(out, prometheus.CounterValue, "firstpick_eval_worker_trials_total", "Trials of eval runs that this worker brought to an end.", float64(w.Trials))
	emit(out, prometheus.CounterValue, "firstpick_eval_worker_spent_usd_total", "What providers charged for this worker's questions, in US dollars.", w.SpentUSD)
}

// emit sends a metric. Labels are names and values in turn.
func emit(out chan<- prometheus.Metric, kind prometheus.ValueType, name, help string, value float64, labels ...string) {
	var names, values []string
	for i := 0; i+1 < len(labels); i += 2 {
		names, values = append(names, labels[i]), append(values, labels[i+1])
	}
	out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
}
