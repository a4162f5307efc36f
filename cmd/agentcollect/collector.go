package agentcollect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of the queue and of the waits.
const (
	queueSize    = 5000 // events
	batchSize    = 100
	batchTime    = 2 * time.Second // how long an event waits for others
	sendTimeout  = 3 * time.Second
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = time.Minute
	maxRetry     = time.Hour // of a Retry-After
	lastTries    = 3         // of a batch once Close was called
)

// A Config configures a Collector. URL and Key are required; without them the Collector
// does nothing.
type Config struct {
	// URL is the root of the service, such as https://firstpick.example.
	URL string
	// Key is a collector key. One of kind log is enough for touches; Identify and
	// Convert need one of kind secret.
	Key string

	// TrustedProxies is the number of the site's own proxies that add to
	// X-Forwarded-For; the client's address is the one that the first of them recorded.
	// 0 uses the address of the connection. Too high a number trusts values that the
	// client wrote.
	TrustedProxies int
	// IPHeader names a header with the client's address, used instead, such as
	// CF-Connecting-IP. Set it only if the proxy in front always sets it.
	IPHeader string

	// SendAll reports people's page views too.
	SendAll bool
	// Visitor returns the site's own id of the client, such as the session id; empty if
	// the client has no id. It links a visit from an assistant to a later sign-up.
	Visitor func(*http.Request) string
	// Source names this collector in reports; "go" by default.
	Source string

	// Client sends the events; nil uses a client of its own. Redirects are not
	// followed.
	Client *http.Client
	// Log receives a warning, once, when events are refused or the service becomes
	// unavailable, and a message when it recovers. nil logs nothing.
	Log *slog.Logger
}

// A Collector reports agent traffic. Its methods are safe for concurrent use.
type Collector struct {
	cfg    Config
	off    bool
	client *http.Client
	log    *slog.Logger
	now    func() time.Time
	queue  *queue

	ctx    context.Context // of requests to the service
	cancel context.CancelFunc
	done   chan struct{} // closed when run ends

	inFlight, sent, failed, retries atomic.Int64
	trouble                         string // the last message logged; owned by run
}

// New starts a Collector. Close ends it.
func New(cfg Config) *Collector {
	c := &Collector{
		cfg: cfg, off: cfg.Key == "" || cfg.URL == "", client: &http.Client{}, log: cfg.Log,
		now:   time.Now, //nolint:forbidigo // runs in programs that have no clock to hand in
		queue: newQueue(0), done: make(chan struct{}),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if cfg.Key != "" && cfg.URL == "" {
		c.log.Warn("agentcollect has a key and no URL: nothing is reported")
	}
	c.cfg.URL = strings.TrimRight(cfg.URL, "/")
	c.cfg.Source = cmp.Or(cfg.Source, "go")
	if cfg.Client != nil {
		own := *cfg.Client
		c.client = &own
	}
	c.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if c.off {
		c.cancel()
		close(c.done)
		return c
	}
	c.queue = newQueue(queueSize)
	go c.run()
	return c
}

// Close sends the queued events and stops. It returns an error if events are left
// because ctx ended or the service is unavailable. Later events are dropped.
func (c *Collector) Close(ctx context.Context) error {
	c.queue.close()
	select {
	case <-c.done:
	case <-ctx.Done():
		c.cancel()
		<-c.done
	}
	c.cancel()
	if left := c.Stats().Queued; left > 0 {
		return fmt.Errorf("agentcollect: %d events were not sent", left)
	}
	return nil
}

// Stats counts events since the start.
type Stats struct {
	Queued  int64 // wait now, or are being sent
	Sent    int64 // the service has them
	Dropped int64 // queue full, or reported after Close
	Failed  int64 // the service refused them
	Retries int64 // batches that were sent again
}

// Stats returns the counters of sent, queued and dropped events.
func (c *Collector) Stats() Stats {
	waiting, dropped, _ := c.queue.state()
	return Stats{
		Queued: int64(waiting) + c.inFlight.Load(), Sent: c.sent.Load(), Dropped: dropped,
		Failed: c.failed.Load(), Retries: c.retries.Load(),
	}
}
