// Package servertest starts whole servers for tests: real stores, a real
// listener, mail in a folder, a fake identity provider, and a clock that tests
// set.
package servertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"testing" //nolint:depguard // a package of tests
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/auth/trust/trusttest"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/evals/evals"
	ourmail "github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/servertest/contract"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// Start is the time that every test's clock begins with.
func Start() time.Time { return time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC) }

// A Clock is set by tests.
type Clock struct {
	mu     sync.Mutex
	at     time.Time
	moved  chan struct{} // closed when the time moves
	asleep int           // goroutines in Sleep
	dozed  chan struct{} // closed when there is one more
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Add moves the time.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// Sleep waits until the time was moved by d.
func (c *Clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	until := c.at.Add(d)
	c.asleep++
	if c.dozed != nil {
		close(c.dozed)
		c.dozed = nil
	}
	for c.at.Before(until) && ctx.Err() == nil {
		if c.moved == nil {
			c.moved = make(chan struct{})
		}
		moved := c.moved
		c.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		c.mu.Lock()
	}
	c.asleep--
	c.mu.Unlock()
	return ctx.Err()
}

// Doze waits until n goroutines are in Sleep.
func (c *Clock) Doze(n int) {
	for {
		c.mu.Lock()
		if c.asleep >= n {
			c.mu.Unlock()
			return
		}
		if c.dozed == nil {
			c.dozed = make(chan struct{})
		}
		dozed := c.dozed
		c.mu.Unlock()
		<-dozed
	}
}

// Options change what is started.
type Options struct {
	State  string // address of the store; empty makes a new SQLite
	Limits bool   // rate limits on
	Agents func(*registrations.Config)
	Server func(*server.Config)
	Evals  func(*evals.Service)
	// Data is the data folder, with the files of workspaces as a worker expects them; empty
	// makes folders of its own.
	Data string
	// IdP is the trusted identity provider; nil starts one.
	IdP *trusttest.IdP
	// Clock is shared by servers of one test; nil starts one.
	Clock *Clock
}

// A Service is a started server.
type Service struct {
	URL     string
	Agents  *registrations.Service
	Collect *collect.Service
	Evals   *evals.Service
	Bundles string // the folder of results: workspace id, bundle id
	Clock   *Clock
	IdP     *trusttest.IdP
	Mail    Mailbox
	// Log is all that the server logged; the access log is complete after Stop.
	Log *Log
	// Stop stops the server; it may be called again.
	Stop func()
}

// A Log gathers what is logged.
type Log struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

// String returns all of it.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// New starts a server; it stops with the test.
func New(t testing.TB, o Options) *Service {
	t.Helper()
	if o.State == "" {
		o.State = statetest.Address(t, "sqlite")
	}
	if o.Clock == nil {
		o.Clock = &Clock{at: Start()}
	}
	if o.IdP == nil {
		o.IdP = trusttest.New(t, o.Clock.Now)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a test's listener
	if err != nil {
		t.Fatal(err)
	}
	s := &Service{URL: "http://" + ln.Addr().String(), Clock: o.Clock, IdP: o.IdP, Log: &Log{}, Mail: Mailbox(t.TempDir())}
	log := slog.New(slog.NewTextHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	mailer, err := ourmail.Open("file://"+string(s.Mail), "firstpick <service@firstpick.example>", log, rand.Text)
	if err != nil {
		t.Fatal(err)
	}
	cfg := app.Config{
		Settings: server.Settings{
			Log: log, Now: o.Clock.Now, Sleep: o.Clock.Sleep, BaseURL: s.URL, IDPrefix: "t", LimitPerMinute: 1_000_000, LimitsOff: !o.Limits, AccessLog: true, LogWriter: s.Log,
			Around: contract.New(t).Wrap,
		},
		Registrations: registrations.Config{
			DB: statetest.Open(t, o.State), Vault: statetest.Vault(t), Mailer: mailer, Issuers: []trust.Issuer{o.IdP.Issuer()}, LimitsOff: !o.Limits,
		},
		Resolver: noNames{}, EvalChecker: evalChecker{}, Plans: true, Bundles: t.TempDir(), Erase: erasure.Folders{Journals: t.TempDir()},
		Adjust: o.adjust,
	}
	if o.Data != "" {
		cfg.Data, cfg.Bundles = o.Data, filepath.Join(o.Data, "bundles")
		cfg.Erase = erasure.Folders{Journals: filepath.Join(o.Data, "evals"), Bundles: cfg.Bundles, Work: filepath.Join(o.Data, "work"), Mails: string(s.Mail)}
	}
	if o.Agents != nil {
		o.Agents(&cfg.Registrations)
	}
	srv, err := app.Build(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	s.Agents, s.Collect, s.Evals, s.Bundles = srv.Agents, srv.Collect, srv.Evals, cfg.Bundles
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := srv.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	})
	s.Stop = func() { stop(); running.Wait(); srv.Close() }
	t.Cleanup(s.Stop)
	return s
}

func (o *Options) adjust(c *server.Config) {
	if o.Evals != nil {
		o.Evals(c.Evals)
	}
	if o.Server != nil {
		o.Server(c)
	}
}

// noNames is a resolver that knows no names.
type noNames struct{}

// LookupAddr implements rdns.Resolver.
func (noNames) LookupAddr(_ context.Context, addr string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
}

// LookupNetIP implements rdns.Resolver.
func (noNames) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// A Mailbox is the folder of a file mailer.
type Mailbox string

// A Mail is a mail that was sent.
type Mail struct{ To, Subject, Text string }

// All returns the mails to an address, oldest first.
func (m Mailbox) All(t testing.TB, to string) []Mail {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(m), "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	type dated struct {
		at time.Time
		Mail
	}
	var found []dated
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		msg, err := mail.ReadMessage(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		body := msg.Body
		if strings.EqualFold(msg.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
			body = quotedprintable.NewReader(body)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		if address, err := mail.ParseAddress(msg.Header.Get("To")); err == nil && (to == "" || address.Address == to) {
			found = append(found, dated{info.ModTime(), Mail{address.Address, msg.Header.Get("Subject"), string(text)}})
		}
	}
	sort.SliceStable(found, func(i, j int) bool { return found[i].at.Before(found[j].at) })
	var out []Mail
	for _, f := range found {
		out = append(out, f.Mail)
	}
	return out
}

var linkPattern = regexp.MustCompile(`https?://\S+\?token=\S+`)

// Link returns the link in the newest mail to an address whose subject holds
// some words. Mail is sent beside the answer, so it is waited for.
func (m Mailbox) Link(t testing.TB, to, subject string) string {
	t.Helper()
	for range 200 {
		all := m.All(t, to)
		for i := len(all) - 1; i >= 0; i-- {
			if link := linkPattern.FindString(all[i].Text); link != "" && strings.Contains(all[i].Subject, subject) {
				return link
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("no mail to %s about %q", to, subject)
	return ""
}
