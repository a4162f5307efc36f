package app

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// An alertBench is a server's parts without its routes and tickers: events go in
// at one end, mail and webhooks come out at the other.
type alertBench struct {
	t         *testing.T
	now       time.Time
	svc       *registrations.Service
	collect   *collect.Service
	loader    *trafficdb.Loader
	alerts    *alert.Service
	workspace state.Workspace
	mails     *smtpSink
	hooks     *hookSink
	secret    string
}

func newAlertBench(t *testing.T) *alertBench {
	t.Helper()
	b := &alertBench{t: t, now: time.Date(2026, 11, 9, 10, 0, 0, 0, time.UTC), mails: newSMTPSink(t), hooks: newHookSink(t)}
	log, now := slog.New(slog.DiscardHandler), func() time.Time { return b.now }
	mailer, err := mail.Open("smtp://"+b.mails.at+"?tls=off", "firstpick <service@firstpick.example>", log, rand.Text)
	if err != nil {
		t.Fatal(err)
	}
	db := statetest.Open(t, statetest.Address(t, "sqlite"))
	b.svc, err = registrations.New(t.Context(), registrations.Config{
		DB: db, Vault: statetest.Vault(t), Mailer: mailer, Log: log, Now: now, BaseURL: "https://firstpick.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	a := &App{
		cfg:        Config{Settings: server.Settings{Log: log, Now: now, BaseURL: b.svc.BaseURL}, Data: t.TempDir(), CallPrivate: true},
		Services:   server.Services{Agents: b.svc},
		background: newBackground(t.Context()),
	}
	t.Cleanup(a.Close)
	if err := a.addCollector(); err != nil {
		t.Fatal(err)
	}
	b.collect = a.Collect
	events, err := trafficdb.Open(t.Context(), filepath.Join(a.cfg.Data, TrafficFile))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = events.Close() })
	b.loader = &trafficdb.Loader{DB: events, Log: log, Source: reporter.StoredEvents(db)}
	b.alerts = a.newAlerts(reporter.New(reporter.Config{DB: events, Now: now}))
	b.alerts.HTTP.Transport.(*http.Transport).TLSClientConfig = b.hooks.Client().Transport.(*http.Transport).TLSClientConfig

	b.workspace = state.Workspace{ID: "ws_1", Slug: "calm-otter-1", OwnerID: "acc_1", Plan: "free", CreatedAt: b.now, ClaimedAt: b.now}
	if err := db.Write(t.Context(), func(tx *state.Tx) error {
		if err := tx.AddAccount(t.Context(), &state.Account{ID: "acc_1", Email: "dana@example.com", VerifiedAt: b.now, CreatedAt: b.now}); err != nil {
			return err
		}
		_, err := tx.AddWorkspace(t.Context(), &b.workspace)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, b.secret, err = b.alerts.AddWebhook(t.Context(), b.workspace.ID, b.workspace.OwnerID, b.hooks.URL+"/hook", alert.FormatStandard); err != nil {
		t.Fatal(err)
	}
	return b
}

// visit takes a touch in, as a site sends it.
func (b *alertBench) visit(agent, path string, status int, more string) {
	b.t.Helper()
	body := fmt.Sprintf(`{%s"events":[{"type":"touch","url":"https://acme.dev%s","status":%d,"ts":%q,"signals":{"userAgent":"Mozilla/5.0 (compatible; %s/1.0)"}}]}`,
		more, path, status, b.now.Format(time.RFC3339), agent)
	batch, err := event.Read(strings.NewReader(body), event.Options{Key: event.KindSecret, ReceivedAt: b.now})
	if err != nil || len(batch.Inputs) != 1 {
		b.t.Fatalf("%+v, %v", batch, err)
	}
	key := &collect.Key{CollectorKey: state.CollectorKey{WorkspaceID: b.workspace.ID}, Workspace: b.workspace, Left: 1000}
	if _, err := b.collect.Take(b.t.Context(), key, &batch, b.now); err != nil {
		b.t.Fatal(err)
	}
}

// wait lets time pass, and then runs everything that is due.
func (b *alertBench) wait(d time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(d)
	for _, step := range []func() error{
		func() error { _, err := b.loader.Step(b.t.Context()); return err },
		func() error { return b.alerts.Look(b.t.Context()) },
		func() error { return b.alerts.Send(b.t.Context()) },
		func() error { return b.svc.Outbox.Flush(b.t.Context()) },
	} {
		if err := step(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// received returns the types of the webhooks since the last call, and verifies them.
func (b *alertBench) received() string {
	b.t.Helper()
	var out []string
	for _, h := range b.hooks.take() {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(b.secret, "whsec_"))
		if err != nil {
			b.t.Fatal(err)
		}
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write(append([]byte(h.Get("webhook-id")+"."+h.Get("webhook-timestamp")+"."), h.body...))
		if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); h.Get("webhook-signature") != want {
			b.t.Errorf("signature %s, want %s", h.Get("webhook-signature"), want)
		}
		var body struct{ Type, Workspace string }
		if err := json.Unmarshal(h.body, &body); err != nil || body.Workspace != b.workspace.Slug {
			b.t.Errorf("%s: %v", h.body, err)
		}
		out = append(out, body.Type)
	}
	return strings.Join(out, " ")
}

// Events come in; what they tell of comes out, by mail and webhook.
func TestFromEventsToAlerts(t *testing.T) {
	b := newAlertBench(t)
	for range 8 {
		b.visit("GPTBot", "/docs", 200, "")
		b.wait(5 * time.Minute)
		b.visit("ClaudeBot", "/docs/old/page", 404, "")
		b.wait(24*time.Hour - 5*time.Minute)
	}
	if got := b.received(); got != "first_agents" {
		t.Errorf("in the first week: %q", got)
	}
	if mails := b.mails.take(); len(mails) != 1 || !strings.Contains(mails[0].subject, "First day: 2 agents visited.") {
		t.Errorf("%+v", mails)
	}

	for i := range 12 {
		b.visit("Kimi-User", fmt.Sprintf("/docs/v2/page-%d", i), 404, "")
		b.visit("CCBot", fmt.Sprintf("/blog/2019/page-%d", i), 404, `"backfill":true,`)
	}
	b.wait(5 * time.Minute)
	mails := b.mails.take()
	if len(mails) != 1 || mails[0].to != "dana@example.com" || mails[0].unsubscribe != "<https://firstpick.example/workspaces/calm-otter-1/settings>" {
		t.Fatalf("%+v", mails)
	}
	for _, want := range []string{
		"New agent: Kimi-User (user fetch).", "Missing pages: agents requested 12 pages below acme.dev/docs/v2 that do not exist, 12 times in 24 hours.",
		"Agents: Kimi-User", "/docs/v2/page-1", "https://firstpick.example/workspaces/calm-otter-1\r\n",
	} {
		if !strings.Contains(mails[0].text, want) {
			t.Errorf("%q is missing in\n%s", want, mails[0].text)
		}
	}
	if strings.Contains(mails[0].text, "CCBot") || strings.Contains(mails[0].text, "/blog") {
		t.Errorf("a backfilled event is told:\n%s", mails[0].text)
	}
	if got := b.received(); got != "new_agent not_found_cluster" && got != "not_found_cluster new_agent" {
		t.Errorf("%q", got)
	}

	for range 63 { // for 26 hours nothing more comes, and somebody looks all the time
		b.wait(25 * time.Minute)
	}
	b.visit("GPTBot", "/docs", 200, `"backfill":true,`)
	b.wait(5 * time.Minute)
	if got := b.received(); got != "silence" {
		t.Errorf("%q", got)
	}
	b.visit("GPTBot", "/docs", 200, "")
	b.wait(5 * time.Minute)
	if got := b.received(); got != "silence_over" {
		t.Errorf("%q", got)
	}
	if mails := b.mails.take(); len(mails) != 2 {
		t.Errorf("%+v", mails)
	}
}

// A sentMail is a mail as it arrived.
type sentMail struct{ to, subject, text, unsubscribe, contentType string }

// An smtpSink is an SMTP server that keeps what it gets.
type smtpSink struct {
	at  string
	mu  sync.Mutex
	got []sentMail
}

func newSMTPSink(t *testing.T) *smtpSink {
	t.Helper()
	s := &smtpSink{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &smtpSession{sink: s}, nil }))
	server.Domain = "mx.test"
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.at = ln.Addr().String()
	done := make(chan error, 1)
	go func() { done <- server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return s
}

func (s *smtpSink) take() []sentMail {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

type smtpSession struct {
	sink *smtpSink
	to   string
}

func (s *smtpSession) Reset()                                    {}
func (s *smtpSession) Logout() error                             { return nil }
func (s *smtpSession) Mail(string, *smtp.MailOptions) error      { return nil }
func (s *smtpSession) Rcpt(to string, _ *smtp.RcptOptions) error { s.to = to; return nil }

func (s *smtpSession) Data(r io.Reader) error {
	m, err := netmail.ReadMessage(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(m.Body)
	if err != nil {
		return err
	}
	s.sink.mu.Lock()
	defer s.sink.mu.Unlock()
	s.sink.got = append(s.sink.got, sentMail{s.to, m.Header.Get("Subject"), string(text), m.Header.Get("List-Unsubscribe"), m.Header.Get("Content-Type")})
	return nil
}

// A hookSink is a receiver of webhooks that keeps what it gets.
type hookSink struct {
	*httptest.Server
	mu  sync.Mutex
	got []sentHook
}

type sentHook struct {
	http.Header
	body []byte
}

func newHookSink(t *testing.T) *hookSink {
	t.Helper()
	s := &hookSink{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		_, _ = body.ReadFrom(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.got = append(s.got, sentHook{r.Header.Clone(), body.Bytes()})
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *hookSink) take() []sentHook {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}
