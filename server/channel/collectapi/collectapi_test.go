package collectapi

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/quota"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A collector is a handler on a store, with one workspace and a key of each kind.
type collector struct {
	t      *testing.T
	router chi.Router
	now    time.Time
	keys   map[string]string // by kind
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, router: chi.NewRouter(), now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC), keys: map[string]string{}}
	db, random, log := statetest.Open(t, statetest.Address(t, "sqlite")), secret.Source{Rand: rand.Reader}, slog.New(slog.DiscardHandler)
	err := db.Write(t.Context(), func(tx *state.Tx) error {
		w := &state.Workspace{ID: "ws_1", Slug: "calm-otter-1", OwnerID: "acc_1", Plan: state.PlanFree, CreatedAt: c.now, ClaimedAt: c.now}
		if _, err := tx.AddWorkspace(t.Context(), w); err != nil {
			return err
		}
		for kind, prefix := range map[string]string{"secret": "sk_live_", "publishable": "pk_live_"} {
			c.keys[kind] = random.Key(prefix)
			if err := tx.AddCollectorKey(t.Context(), &state.CollectorKey{
				ID: "key_" + kind, Hash: secret.Hash(c.keys[kind]), WorkspaceID: w.ID, Kind: kind, Origins: []string{"https://acme.example"}, CreatedAt: c.now,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := collect.New(collect.Config{
		DB: db, Vault: statetest.Vault(t), Secrets: random, Log: log, Now: func() time.Time { return c.now }, Identify: func(*event.Input, *event.Record) {},
	})
	t.Cleanup(s.Close)
	New(s, quota.Limiter{Rules: quota.DefaultRules()}, apierr.Writer{}, log).Mount(c.router)
	return c
}

// A meter counts what is read of a body.
type meter struct {
	io.Reader
	read int
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.read += n
	return n, err
}

// A sending is a request to the collector.
type sending struct {
	from, key, encoding, body string
}

// post sends, and returns the status, the error's description, and how many bytes of
// the body were read.
func (c *collector) post(s sending) (int, string, int) {
	c.t.Helper()
	body := &meter{Reader: strings.NewReader(s.body)}
	r := httptest.NewRequest(http.MethodPost, "/api/collect", body)
	r.ContentLength = int64(len(s.body))
	r.Header.Set("Origin", "https://acme.example")
	if s.key != "" {
		r.Header.Set("Authorization", "Bearer "+s.key)
	}
	if s.encoding != "" {
		r.Header.Set("Content-Encoding", s.encoding)
	}
	out := httptest.NewRecorder()
	c.router.ServeHTTP(&reqctx.Writer{ResponseWriter: out, Client: netip.MustParseAddr(s.from)}, r)
	var answer struct {
		Description string `json:"error_description"`
	}
	if err := json.Unmarshal(out.Body.Bytes(), &answer); err != nil {
		c.t.Fatalf("%v: %s", err, out.Body)
	}
	return out.Code, answer.Description, body.read
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const touch = `{"type":"touch","url":"https://acme.example/"}`

// beacon is a body of n bytes at least that holds its own key.
func beacon(key string, n int) string {
	return `{"key":"` + key + `","events":[` + touch + `]` + strings.Repeat(" ", n) + `}`
}

// TestBodiesWithoutAKeyInTheHeadAreBeacons: what a browser's sendBeacon can send is
// taken; nothing larger and nothing compressed is, before its key is known.
func TestBodiesWithoutAKeyInTheHeadAreBeacons(t *testing.T) {
	c := newCollector(t)
	page, large := c.keys["publishable"], strings.Repeat(" ", event.MaxBeacon)
	for name, test := range map[string]struct {
		sending
		status int
		text   string
	}{
		"a beacon":                              {sending{body: beacon(page, 0)}, 202, ""},
		"the largest beacon":                    {sending{body: beacon(page, event.MaxBeacon-len(beacon(page, 0)))}, 202, ""},
		"a byte more":                           {sending{body: beacon(page, event.MaxBeacon-len(beacon(page, 0))+1)}, 413, "above the limit of 65536 bytes: split it, or send its key in the Authorization header"},
		"compressed":                            {sending{encoding: "gzip", body: gzipped(t, beacon(page, 0))}, 415, "send the key of a compressed body in the Authorization header"},
		"with a secret key":                     {sending{body: beacon(c.keys["secret"], 0)}, 403, "Only publishable keys"},
		"a large body with its key in the head": {sending{key: c.keys["secret"], body: `{"events":[` + touch + `]` + large + `}`}, 202, ""},
		"the same, compressed":                  {sending{key: c.keys["secret"], encoding: "gzip", body: gzipped(t, `{"events":[`+touch+`]`+large+`}`)}, 202, ""},
		"a page that names its key in the head": {sending{key: page, body: `{"events":[` + touch + `]` + large + `}`}, 202, ""},
	} {
		test.from = "198.51.100.1"
		status, text, _ := c.post(test.sending)
		if status != test.status || !strings.Contains(text, test.text) {
			t.Errorf("%s: %d %q, want %d %q", name, status, text, test.status, test.text)
		}
		c.now = c.now.Add(time.Second)
	}
}

// TestFailuresAreLimited: an address that fails too often is refused before a byte of
// its body is read. The requests with a secret key pass on.
func TestFailuresAreLimited(t *testing.T) {
	const perMinute = 60
	for name, test := range map[string]struct {
		sending
		status int
	}{
		"wrong keys":                       {sending{key: "sk_live_wrong", body: `{}`}, 401},
		"wrong keys in bodies":             {sending{body: beacon("pk_live_wrong", 0)}, 401},
		"bodies that are not JSON":         {sending{body: `{"events":`}, 400},
		"bodies too large":                 {sending{body: strings.Repeat(" ", event.MaxBeacon+1)}, 413},
		"compressed bodies":                {sending{encoding: "gzip", body: gzipped(t, "[]")}, 415},
		"not JSON, with the key of a page": {sending{key: "publishable", body: `[`}, 400},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector(t)
			test.from = "198.51.100.1"
			if key := c.keys[test.key]; key != "" {
				test.key = key
			}
			for i := range perMinute {
				if i%15 == 14 {
					c.now = c.now.Add(time.Second) // else the limit on requests of pages is met first
				}
				if status, text, _ := c.post(test.sending); status != test.status {
					t.Fatalf("request %d: %d %q, want %d", i+1, status, text, test.status)
				}
			}
			refused := 0
			for range 10 {
				status, text, read := c.post(test.sending)
				if status == http.StatusTooManyRequests {
					refused++
					if read > 0 || !strings.HasPrefix(text, "Too many requests that failed, from this address.") {
						t.Errorf("refused after %d bytes: %q", read, text)
					}
				}
			}
			if refused < 6 { // four came back in four seconds
				t.Errorf("%d of 10 more requests are refused", refused)
			}
			if status, text, _ := c.post(sending{from: "198.51.100.1", key: c.keys["secret"], body: touch}); status != http.StatusAccepted {
				t.Errorf("the site's own server, from the same address: %d %q", status, text)
			}
			if status, text, _ := c.post(sending{from: "198.51.100.2", body: beacon(c.keys["publishable"], 0)}); status != http.StatusAccepted {
				t.Errorf("a page, from another address: %d %q", status, text)
			}
		})
	}
}
