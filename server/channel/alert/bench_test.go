package alert

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A clock is set by tests.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// A bench is a service on a store of its own, with a workspace "w" whose owner
// has a verified address.
type bench struct {
	*Service
	t       *testing.T
	address string
	clock   *clock
	log     bytes.Buffer
	// traffic is what the reports tell.
	traffic *change.Traffic
	events  int
}

func newBench(t *testing.T, engine string) *bench {
	t.Helper()
	b := &bench{t: t, address: statetest.Address(t, engine), clock: &clock{at: now}, traffic: &change.Traffic{}}
	b.Service = b.open()
	b.write(func(tx *state.Tx) error {
		if err := tx.AddAccount(t.Context(), &state.Account{ID: "acc", Email: "dana@example.com", VerifiedAt: now, CreatedAt: now}); err != nil {
			return err
		}
		_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "w", Slug: "calm-otter-1", OwnerID: "acc", ClaimedAt: now, CreatedAt: now})
		return err
	})
	return b
}

// open returns another server on the store.
func (b *bench) open() *Service {
	return New(Config{
		DB: statetest.Open(b.t, b.address), Secrets: secret.Source{Rand: rand.Reader}, Log: slog.New(slog.NewTextHandler(&b.log, nil)), Now: b.clock.now,
		BaseURL: "https://firstpick.example", Kick: func() {}, Jitter: func() float64 { return 0.5 },
		HTTP: safehttp.NewClient(safehttp.Limits{Timeout: CallTimeout}),
		Mail: func(ctx context.Context, tx *state.Tx, now time.Time, m mail.Message) error {
			content, err := json.Marshal(m)
			if err != nil {
				return err
			}
			return tx.AddMail(ctx, rand.Text(), content, now)
		},
		Traffic: func(context.Context, string, time.Time) (*change.Traffic, error) {
			return lastDay(b.clock.now(), *b.traffic), nil
		},
	})
}

func (b *bench) write(fn func(tx *state.Tx) error) {
	b.t.Helper()
	if err := b.DB.Write(b.t.Context(), fn); err != nil {
		b.t.Fatal(err)
	}
}

// receive takes a live event in.
func (b *bench) receive() {
	b.t.Helper()
	b.events++
	b.write(func(tx *state.Tx) error {
		_, err := tx.AddEvents(b.t.Context(), []state.CollectedEvent{{WorkspaceID: "w", ID: strconv.Itoa(b.events), ReceivedAt: b.clock.now(), Body: []byte("{}")}})
		return err
	})
}

// settle makes the workspace one that has been sending for a while.
func (b *bench) settle() {
	for range 5 {
		b.receive()
		b.look()
		b.clock.add(day)
	}
	b.receive()
}

// look looks now, as if it were due.
func (b *bench) look() {
	b.t.Helper()
	b.clock.add(lookEvery)
	if err := b.Look(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) send() {
	b.t.Helper()
	if err := b.Send(b.t.Context()); err != nil {
		b.t.Fatal(err)
	}
}

// find makes the next look find a new agent.
func (b *bench) find(name string) {
	b.traffic = &change.Traffic{Agents: []change.Agent{agent(name, b.clock.now(), 3, 0)}}
	b.look()
}

// mails returns the mails that were put into the outbox since the last call.
func (b *bench) mails() (out []mail.Message) {
	b.t.Helper()
	for more := true; more; {
		b.write(func(tx *state.Tx) error {
			q, err := tx.ClaimMail(b.t.Context(), b.clock.now(), time.Minute)
			if err != nil || q == nil {
				more = false
				return err
			}
			var m mail.Message
			if err := json.Unmarshal(q.Content, &m); err != nil {
				return err
			}
			out = append(out, m)
			return tx.DropMail(b.t.Context(), q.ID)
		})
	}
	return out
}

// A hook is a request as a receiver got it.
type hook struct {
	http.Header
	body []byte
}

// A receiver is a server of webhooks.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	got   []hook
	reply func(w http.ResponseWriter, r *http.Request)
}

// receiver starts a server that the bench's clients trust and reach.
func (b *bench) receiver(reply func(w http.ResponseWriter, r *http.Request)) *receiver {
	rc := &receiver{reply: reply}
	rc.Server = httptest.NewTLSServer(rc)
	b.t.Cleanup(rc.Close)
	b.reach(b.Service, rc)
	return rc
}

// reach lets a service call the test's receivers, which all have one certificate.
func (b *bench) reach(s *Service, rc *receiver) {
	s.HTTP = safehttp.NewClient(safehttp.Limits{Timeout: CallTimeout, Private: true})
	s.HTTP.Transport.(*http.Transport).TLSClientConfig = rc.Client().Transport.(*http.Transport).TLSClientConfig
	s.Private = true
}

func (rc *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the sender is gone
	}
	rc.mu.Lock()
	rc.got = append(rc.got, hook{r.Header.Clone(), body})
	reply := rc.reply
	rc.mu.Unlock()
	if reply != nil {
		reply(w, r)
	}
}

func (rc *receiver) hooks() []hook {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	return rc.got
}

func (rc *receiver) answer(reply func(w http.ResponseWriter, r *http.Request)) {
	rc.mu.Lock()
	defer rc.mu.Unlock()
	rc.reply = reply
}

// verify checks a request as the Standard Webhooks specification tells receivers
// to: any signature of version 1 will do, and the time must be near.
func verify(secret string, h hook, at time.Time) error {
	id, stamp := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	if off := at.Sub(time.Unix(seconds, 0)); off > 5*time.Minute || off < -5*time.Minute {
		return fmt.Errorf("the request is %v old", off)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, h.body)
	for _, signature := range strings.Split(h.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(signature, ",")
		sum, err := base64.StdEncoding.DecodeString(text)
		if version == "v1" && err == nil && subtle.ConstantTimeCompare(sum, mac.Sum(nil)) == 1 {
			return nil
		}
	}
	return errors.New("no signature fits")
}

// hookTo adds a webhook to a receiver.
func (b *bench) hookTo(rc *receiver) (id, secret string) {
	b.t.Helper()
	c, secret, err := b.AddWebhook(b.t.Context(), "w", "acc", rc.URL+"/hook?token=hush", FormatStandard)
	if err != nil {
		b.t.Fatal(err)
	}
	return c.ID, secret
}

func (b *bench) deliveries() []Delivery {
	b.t.Helper()
	list, err := b.Deliveries(b.t.Context(), "w", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

// webhooks returns the deliveries to webhooks.
func (b *bench) webhooks() (out []Delivery) {
	b.t.Helper()
	for _, d := range b.deliveries() {
		if d.ChannelID != EmailID {
			out = append(out, d)
		}
	}
	return out
}

func (b *bench) channelOf(id string) Channel {
	b.t.Helper()
	list, err := b.Channels(b.t.Context(), "w")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, c := range list {
		if c.ID == id {
			return c
		}
	}
	b.t.Fatalf("no channel %s in %+v", id, list)
	return Channel{}
}

func onBoth(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f(t, newBench(t, engine))
		})
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	e := apierr.Of(err)
	return e.Code + "/" + e.Reason
}
