package collect_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A bench is a service on a store, with a clock that a test sets.
type bench struct {
	*collect.Service
	t   *testing.T
	db  *state.DB
	now time.Time
}

func onBoth(t *testing.T, f func(b *bench)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			f(newBench(t, statetest.Open(t, statetest.Address(t, engine))))
		})
	}
}

func newBench(t *testing.T, db *state.DB) *bench {
	b := &bench{t: t, db: db, now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	b.Service = collect.New(collect.Config{
		DB: b.db, Vault: statetest.Vault(t), Secrets: secret.Source{Rand: rand.Reader}, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return b.now }, Identify: func(*event.Input, *event.Record) {},
	})
	t.Cleanup(b.Close)
	return b
}

func (b *bench) workspace(id string, retention int) *collect.Key {
	b.t.Helper()
	return b.add(&state.Workspace{ID: id, Slug: id, OwnerID: "acc", CreatedAt: b.now, ClaimedAt: b.now}, retention)
}

func (b *bench) unclaimed(id string) *collect.Key {
	b.t.Helper()
	return b.add(&state.Workspace{ID: id, Slug: id, CreatedAt: b.now, ClaimExpires: b.now.Add(24 * time.Hour)}, state.DefaultRetention)
}

func (b *bench) add(w *state.Workspace, retention int) *collect.Key {
	b.t.Helper()
	if err := b.db.Write(b.t.Context(), func(tx *state.Tx) error {
		if _, err := tx.AddWorkspace(b.t.Context(), w); err != nil {
			return err
		}
		return tx.SetSettings(b.t.Context(), w.ID, state.Settings{RetentionDays: retention})
	}); err != nil {
		b.t.Fatal(err)
	}
	return &collect.Key{CollectorKey: state.CollectorKey{ID: "key_" + w.ID, WorkspaceID: w.ID, Kind: "secret"}, Workspace: *w, Left: 1 << 40}
}

func (b *bench) send(key *collect.Key, body string) *collect.Receipt {
	b.t.Helper()
	batch, err := event.Read(strings.NewReader(body), event.Options{MediaType: "application/json", Key: event.KindSecret, ReceivedAt: b.now})
	if err != nil || len(batch.Refusals) > 0 {
		b.t.Fatal(err, batch.Refusals)
	}
	r, err := b.Take(b.t.Context(), key, &batch, b.now)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// kept returns the stored bodies of a workspace by event id.
func (b *bench) kept(workspace string) map[string]string {
	b.t.Helper()
	out := map[string]string{}
	for seq := int64(0); ; {
		events, err := b.db.Read().EventsAfter(b.t.Context(), seq, 1000)
		if err != nil {
			b.t.Fatal(err)
		}
		if len(events) == 0 {
			return out
		}
		for _, e := range events {
			if e.WorkspaceID == workspace {
				out[e.ID] = string(e.Body)
			}
			seq = e.Seq
		}
	}
}

// TestRetention keeps events for as long as each workspace says, to the day, and
// nothing of a workspace that is gone.
func TestRetention(t *testing.T) {
	onBoth(t, func(b *bench) {
		short, long, gone := b.workspace("ws_short", 30), b.workspace("ws_long", 400), b.unclaimed("ws_gone")
		start := b.now
		for day := range 60 {
			b.now = start.AddDate(0, 0, day)
			for _, key := range []*collect.Key{short, long, gone} {
				b.send(key, fmt.Sprintf(`[{"type":"touch","id":"d%02d","url":"/"},{"type":"convert","id":"c%02d","userRef":"u","kind":"paid","orderId":"o%02d"}]`, day, day, day))
			}
		}
		if _, err := b.db.Sweep(t.Context(), b.now); err != nil { // nobody claimed it
			t.Fatal(err)
		}
		n, err := b.Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n != 2*29+2*60 {
			t.Errorf("%d events went", n)
		}
		kept := b.kept("ws_short")
		if len(kept) != 2*31 || kept["d28"] != "" || kept["d29"] == "" || kept["d59"] == "" {
			t.Errorf("of the short one %d are kept: %v", len(kept), kept["d28"])
		}
		if n := len(b.kept("ws_long")); n != 120 {
			t.Errorf("of the long one %d are kept", n)
		}
		if n := len(b.kept("ws_gone")); n != 0 {
			t.Errorf("of the one that is gone %d are kept", n)
		}
		if n, err := b.Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("a second time %d went: %v", n, err)
		}
		// The order is known for ever, the id is not.
		if r := b.send(short, `[{"type":"touch","id":"d00","url":"/"},{"type":"convert","userRef":"u","kind":"paid","orderId":"o00"}]`); r.Accepted != 1 || r.Duplicates != 1 {
			t.Errorf("sent again: %+v", r)
		}
	})
}

// TestErasureIsTold checks what a reader of the events learns of an erasure: the
// numbers of what went, behind it and without a name, and places without content.
func TestErasureIsTold(t *testing.T) {
	onBoth(t, func(b *bench) {
		key, other := b.workspace("ws_a", 395), b.workspace("ws_b", 395)
		for _, k := range []*collect.Key{key, other} {
			b.send(k, `[{"type":"touch","id":"t","visitorToken":"v","url":"/secret-page"},{"type":"identify","id":"i","visitorToken":"v","userRef":"dana"},{"type":"touch","id":"x","url":"/"}]`)
		}
		n, err := b.Erase(t.Context(), "ws_a", collect.Subject{UserRef: "dana"})
		if n != 2 || err != nil {
			t.Fatal(n, err)
		}
		kept := b.kept("ws_a")
		var told struct {
			Type string
			Seqs []int64
		}
		for id, body := range kept {
			if strings.HasPrefix(id, "erasure:") {
				if err := json.Unmarshal([]byte(body), &told); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(kept) != 4 || kept["t"] != `{"type":"erased"}` || kept["i"] != kept["t"] || !strings.Contains(kept["x"], `"path":"/"`) ||
			told.Type != "erasure" || len(told.Seqs) != 2 {
			t.Errorf("kept %v, told %+v", kept, told)
		}
		if kept := b.kept("ws_b"); len(kept) != 3 || !strings.Contains(kept["t"], "secret-page") {
			t.Errorf("another workspace lost something: %v", kept)
		}
	})
}

// TestErasedBytesAreGone looks into SQLite's files for what was erased.
func TestErasedBytesAreGone(t *testing.T) {
	dir := t.TempDir()
	db, err := state.Open(t.Context(), "sqlite://"+filepath.Join(dir, "state.db"), statetest.Vault(t))
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, db)
	key := b.workspace("ws_a", 395)
	b.send(key, `{"type":"convert","id":"c","userRef":"person-7261","kind":"paid","orderId":"o"}`)
	holds := func() bool {
		t.Helper()
		found := false
		for _, name := range []string{"state.db", "state.db-wal"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(data), "person-7261")
		}
		return found
	}
	if !holds() {
		t.Fatal("it is not stored as it was sent; the test looks for the wrong text")
	}
	if _, err := b.Erase(t.Context(), "ws_a", collect.Subject{UserRef: "person-7261"}); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if holds() {
		t.Error("the files hold what was erased")
	}
}

// TestQuotaHoldsBetweenLooks sends with a key that is believed for some seconds
// more than its workspace may.
func TestQuotaHoldsBetweenLooks(t *testing.T) {
	b := newBench(t, statetest.Open(t, statetest.Address(t, "sqlite")))
	key := b.workspace("ws", 395)
	key.Left = 5
	if r := b.send(key, `[{"type":"touch","id":"1","url":"/"},{"type":"touch","id":"2","url":"/"},{"type":"touch","id":"1","url":"/"}]`); r.Accepted != 2 || r.Left != 3 {
		t.Errorf("%+v", r)
	}
	if r := b.send(key, `[{"type":"touch","id":"3","url":"/"},{"type":"touch","id":"4","url":"/"},{"type":"touch","id":"5","url":"/"}]`); r.Accepted != 3 || r.Left != 0 {
		t.Errorf("%+v", r)
	}
	batch, err := event.Read(strings.NewReader(`{"type":"touch","id":"6","url":"/"}`), event.Options{MediaType: "application/json", Key: event.KindSecret, ReceivedAt: b.now})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take(t.Context(), key, &batch, b.now); err == nil || apierr.Of(err).Status != 429 {
		t.Errorf("one event too many: %v", err)
	}
}

// TestLogsOfPeople lets page views of people in a log go, and keeps those of
// agents and of people whom an assistant sent.
func TestLogsOfPeople(t *testing.T) {
	b := newBench(t, statetest.Open(t, statetest.Address(t, "sqlite")))
	b.Identify = (&collect.Identifier{Who: &agentid.Verifier{Table: agentid.Load()}}).Identify
	key := b.workspace("ws", 395)
	const person = `"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"`
	log := `198.51.100.1 - - [21/Nov/2026:09:59:00 +0000] "GET /a HTTP/1.1" 200 5 "-" ` + person + `
198.51.100.1 - - [21/Nov/2026:09:59:01 +0000] "GET /b HTTP/1.1" 200 5 "https://chatgpt.com/" ` + person + `
198.51.100.1 - - [21/Nov/2026:09:59:02 +0000] "GET /c?utm_source=chatgpt.com HTTP/1.1" 200 5 "-" ` + person + `
198.51.100.1 - - [21/Nov/2026:09:59:03 +0000] "GET /d HTTP/1.1" 200 5 "-" "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
198.51.100.1 - - [21/Nov/2026:09:59:04 +0000] "GET /e HTTP/1.1" 200 5 "-" "-"
198.51.100.1 - - [21/Nov/2026:09:59:05 +0000] "GET /wp-login.php HTTP/1.1" 404 5 "-" "curl/8.5.0"
`
	batch, err := event.Read(strings.NewReader(log), event.Options{Format: event.FormatCombined, Key: event.KindLog, ReceivedAt: b.now})
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.Take(t.Context(), key, &batch, b.now)
	if err != nil || r.Accepted != 4 || r.People != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	var paths []string
	for _, body := range b.kept("ws") {
		var kept event.Record
		if err := json.Unmarshal([]byte(body), &kept); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, kept.Path)
	}
	slices.Sort(paths)
	if !slices.Equal(paths, []string{"/b", "/c", "/d", "/wp-login.php"}) {
		t.Errorf("kept are %v", paths)
	}
	// The same from a site's own code is kept: it chose to send it.
	if r := b.send(key, `{"type":"touch","url":"/a","visitorToken":"v"}`); r.Accepted != 1 {
		t.Errorf("%+v", r)
	}
}
