package billing

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// start is the second at which the tests' stories begin.
var start = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const key = "whsec_of_the_tests"

// A bench is a handler on a store, and a billing system that sends to it.
type bench struct {
	t   testing.TB
	db  *state.DB
	srv http.Handler
	log *buffer
	now time.Time
}

func onBoth(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) { f(t, newBench(t, statetest.Open(t, statetest.Address(t, engine)))) })
	}
}

func newBench(t testing.TB, db *state.DB) *bench {
	b := &bench{t: t, db: db, log: &buffer{}, now: start}
	h := &Handler{
		Keys: []string{"whsec_of_yesterday", key}, DB: db, Secrets: secret.Source{Rand: rand.Reader},
		Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Now: func() time.Time { return b.now },
	}
	r := chi.NewRouter()
	h.Mount(r)
	b.srv = r
	return b
}

// A buffer may be written by many.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *bench) addWorkspace(id, slug string) {
	b.t.Helper()
	if err := b.db.Write(b.t.Context(), func(tx *state.Tx) error {
		_, err := tx.AddWorkspace(b.t.Context(), &state.Workspace{ID: id, Slug: slug, Plan: "free", CreatedAt: start, ClaimExpires: start.Add(time.Hour)})
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) plan(id string) string {
	b.t.Helper()
	w, err := b.db.Read().Workspace(b.t.Context(), id)
	if err != nil {
		b.t.Fatal(err)
	}
	return w.Plan
}

// audited returns the lines that billing wrote about a workspace, oldest first.
func (b *bench) audited(workspace string) []map[string]string {
	b.t.Helper()
	list, err := b.db.Read().AuditLog(b.t.Context(), state.AuditFilter{Event: "billing.subscription", Limit: 1000})
	if err != nil {
		b.t.Fatal(err)
	}
	var out []map[string]string
	for _, e := range list {
		if e.WorkspaceID == workspace {
			out = append(out, e.Detail)
		}
	}
	return out
}

// sign makes the header that a body is sent with.
func sign(body []byte, at time.Time, key string) string {
	stamp := fmt.Sprint(at.Unix())
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil)) + ",v0=" + strings.Repeat("0", 64)
}

// send signs and posts a body, and returns the answer.
func (b *bench) send(body []byte) *httptest.ResponseRecorder {
	return b.post(body, sign(body, b.now, key))
}

func (b *bench) post(body []byte, signature string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	if signature != "" {
		r.Header.Set("Stripe-Signature", signature)
	}
	w := httptest.NewRecorder()
	b.srv.ServeHTTP(w, r)
	return w
}

// deliver sends events that must be received, a second apart.
func (b *bench) deliver(events ...[]byte) {
	b.t.Helper()
	for _, e := range events {
		b.now = b.now.Add(time.Second)
		if w := b.send(e); w.Code != http.StatusOK || w.Body.String() != `{"received":true}`+"\n" {
			b.t.Fatalf("%d %s for %.200s", w.Code, w.Body, e)
		}
	}
}

// sample reads an object as a billing system writes it.
func sample(t testing.TB, name string) map[string]any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// eventOf makes an event about an object, at so many seconds after start.
func eventOf(t testing.TB, id, kind string, second int, object map[string]any) []byte {
	t.Helper()
	e := sample(t, "event")
	e["id"], e["type"], e["created"] = id, kind, start.Unix()+int64(second)
	e["data"] = map[string]any{"object": object}
	data, err := json.MarshalIndent(e, "", "  ") // as Stripe sends it
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// told is an event of a subscription: what comes after customer.subscription.,
// when, and its status and workspace then.
func told(t testing.TB, sub, kind string, second int, status, workspace string) []byte {
	t.Helper()
	s := sample(t, "subscription")
	s["id"], s["status"], s["metadata"] = sub, status, map[string]any{}
	if workspace != "" {
		s["metadata"] = map[string]any{"workspace": workspace, "seats": "3"}
	}
	return eventOf(t, fmt.Sprintf("evt_%s_%s_%d_%s_%d", sub, kind, second, status, len(workspace)), "customer.subscription."+kind, second, s)
}

// bought is the event of a checkout's end.
func bought(t testing.TB, sub any, second int, reference any, metadata map[string]any) []byte {
	t.Helper()
	c := sample(t, "checkout")
	c["subscription"], c["client_reference_id"], c["metadata"] = sub, reference, metadata
	return eventOf(t, "evt_checkout_"+strings.Trim(fmt.Sprint(sub), "<>\x00"), checkoutCompleted, second, c)
}
