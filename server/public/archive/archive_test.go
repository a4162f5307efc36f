package archive_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A bucket is an archive whose stamp and files may be slow to come.
type bucket struct {
	*archivetest.Source
	slow         atomic.Bool
	list         []archive.Snapshot // in place of that of the source
	stamps, gets atomic.Int64
}

func (b *bucket) Stamp(ctx context.Context) (string, error) {
	b.stamps.Add(1)
	if b.slow.Load() {
		time.Sleep(5 * time.Second) // of a synctest bubble
		return "", errors.New("timeout")
	}
	return b.Source.Stamp(ctx)
}

func (b *bucket) Files(ctx context.Context, id string) ([]trialset.File, error) {
	b.gets.Add(1)
	return b.Source.Files(ctx, id)
}

func (b *bucket) Open(ctx context.Context, name string) (archive.File, int64, error) {
	b.gets.Add(1)
	return b.Source.Open(ctx, name)
}

func (b *bucket) Snapshots(ctx context.Context) ([]archive.Snapshot, error) {
	if b.list != nil {
		return b.list, nil
	}
	return b.Source.Snapshots(ctx)
}

// served returns the status of a path of a bucket.
func served(t *testing.T) (*bucket, func(path string) int) {
	b, get := answered(t)
	return b, func(path string) int { return get(path).Code }
}

func answered(t *testing.T) (*bucket, func(path string) *httptest.ResponseRecorder) {
	b := &bucket{Source: archivetest.New(t, 5, "text")}
	h := archive.New(archive.Config{
		Source: b, Current: func() *snapshotview.Site { return &snapshotview.Site{ID: archivetest.Current} }, Sender: snapshotview.NewSender(""),
		Log: slog.New(slog.DiscardHandler), Now: time.Now, LimitsOff: true,
	})
	t.Cleanup(func() { _ = h.Close() })
	r := chi.NewRouter()
	h.Mount(r)
	return b, func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		return w
	}
}

// TestSlowStamp: files wait for no stamp, lists for one read of it, and failures are not
// repeated at once.
func TestSlowStamp(t *testing.T) {
	const list, file = "/api/public/snapshots", "/snapshots/" + archivetest.Current + "/boards/webserver.json"
	for name, known := range map[string]bool{"after a good stamp": true, "before any": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, get := served(t)
				want, atMost := http.StatusServiceUnavailable, 5*time.Second
				if known {
					want, atMost = get(list), time.Second
				}
				b.slow.Store(true)
				b.stamps.Store(0)
				time.Sleep(2 * time.Second)
				start, codes := time.Now(), make(chan int, 3)
				for range cap(codes) {
					go func() { codes <- get(list) }()
				}
				synctest.Wait()
				if code := get(file); code != 200 || time.Since(start) != 0 {
					t.Errorf("the file: %d after %s", code, time.Since(start))
				}
				for range cap(codes) {
					if code := <-codes; code != want || time.Since(start) > atMost {
						t.Errorf("the list: %d after %s, want %d", code, time.Since(start), want)
					}
				}
				time.Sleep(5*time.Second - time.Since(start))
				synctest.Wait()
				if code := get(list); code != want || b.stamps.Load() != 1 {
					t.Errorf("after the failure: %d, %d stamps", code, b.stamps.Load())
				}
				b.slow.Store(false)
				time.Sleep(31 * time.Second)
				if code := get(list); code != 200 {
					t.Errorf("after the outage: %d", code)
				}
			})
		})
	}
}

// TestReadsOfABucket: tiles are read once, and what is missing is not asked for again until
// it can be there.
func TestReadsOfABucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, get := served(t)
		const tile, missing, unknown = "/log/tile/0/000.p/1", "/log/tile/0/000.p/2", "/snapshots/" + archivetest.Unknown + "/manifest.json"
		for path, want := range map[string]int{tile: 200, missing: 404, unknown: 404, "/log/checkpoint": 200} {
			b.gets.Store(0)
			for range 3 {
				if code := get(path); code != want {
					t.Errorf("%s: %d", path, code)
				}
			}
			if n := b.gets.Load(); n != 1 {
				t.Errorf("%s: %d reads", path, n)
			}
		}
		get(missing)
		b.Write(t, "log/tile/0/000.p/2", "tiletile")
		b.Write(t, "log/checkpoint", "firstpick.example\n2\n")
		time.Sleep(time.Second)
		if get("/log/checkpoint"); get(missing) != 200 {
			t.Error("a tile of the new checkpoint is missing")
		}
	})
}

// TestChangesOfTies: of snapshots with the same trials the one published first is older.
func TestChangesOfTies(t *testing.T) {
	at := func(day int) *time.Time {
		d := time.Date(2026, 5, day, 12, 0, 0, 0, time.UTC)
		return &d
	}
	current := archive.Snapshot{ID: archivetest.Current, AsOf: at(6), PublishedAt: *at(8), Current: true}
	older := archive.Snapshot{ID: archivetest.Older, AsOf: at(6), PublishedAt: *at(7)}
	twin := older
	twin.PublishedAt = current.PublishedAt
	for name, c := range map[string]struct {
		list        []archive.Snapshot
		since, want string
	}{
		"before both":             {[]archive.Snapshot{current, older}, "2020-01-01", `"older":{"id":"` + archivetest.Older},
		"published together":      {[]archive.Snapshot{current, twin}, "2020-01-01", `"older":{"id":"` + archivetest.Older},
		"the day of both":         {[]archive.Snapshot{current, older}, "2026-05-06", `"note":"The snapshot to compare with`},
		"the day, at once":        {[]archive.Snapshot{current, twin}, "2026-05-06", `"older":{"id":"` + archivetest.Current},
		"only one":                {[]archive.Snapshot{current}, "2020-01-01", `"note":`},
		"the earlier one by name": {[]archive.Snapshot{current, older}, archivetest.Older, `"older":{"id":"` + archivetest.Older},
	} {
		b, get := answered(t)
		b.list = c.list
		if w := get("/api/public/changes?since=" + c.since); w.Code != 200 || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %d without %s: %s", name, w.Code, c.want, w.Body)
		}
	}
}
