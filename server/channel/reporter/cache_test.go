package reporter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/server/channel/traffic"
)

// TestKept: those who ask at once get one report, it is good for nine times what
// it took, and a failure is not cached.
func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &cache{now: time.Now}
		var made atomic.Int64
		build := func(context.Context) (*traffic.Report, error) {
			time.Sleep(100 * time.Millisecond)
			made.Add(1)
			return &traffic.Report{}, nil
		}
		ask := func(want int64) {
			t.Helper()
			if _, err := k.get(t.Context(), "a", build); err != nil || made.Load() != want {
				t.Errorf("%d were made, want %d; %v", made.Load(), want, err)
			}
		}
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() { ask(1) })
		}
		all.Wait()
		time.Sleep(899 * time.Millisecond)
		ask(1)
		time.Sleep(time.Millisecond)
		ask(2)
		if _, err := k.get(t.Context(), "b", build); err != nil || made.Load() != 3 {
			t.Errorf("another is not made: %v", err)
		}
		// Who goes away does not stop it for others.
		gone, stop := context.WithCancel(t.Context())
		time.Sleep(time.Minute)
		all.Go(func() {
			if _, err := k.get(gone, "a", build); !errors.Is(err, context.Canceled) {
				t.Errorf("gone: %v", err)
			}
		})
		time.Sleep(50 * time.Millisecond)
		stop()
		ask(4)
		all.Wait()
		boom := errors.New("boom")
		for range 2 {
			if _, err := k.get(t.Context(), "c", func(context.Context) (*traffic.Report, error) { made.Add(1); return nil, boom }); !errors.Is(err, boom) {
				t.Error(err)
			}
		}
		if made.Load() != 6 {
			t.Errorf("a failure was cached")
		}
		for i := range 3 * maxEntries {
			k.put(string(rune('A'+i)), nil, time.Second)
		}
		if len(k.reports) > maxEntries {
			t.Errorf("%d are cached", len(k.reports))
		}
	})
}

func TestKeyTellsQueriesApart(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	base := traffic.Query{From: now.AddDate(0, 0, -30), To: now, TZ: time.UTC, Model: "first", Lookback: time.Hour, UntilNow: true}
	later := base
	later.From, later.To = base.From.Add(time.Second), base.To.Add(time.Second)
	if key("ws", &base) != key("ws", &later) {
		t.Error("a second later it is another")
	}
	seen := map[string]bool{key("ws", &base): true}
	for name, change := range map[string]func(q *traffic.Query){
		"window": func(q *traffic.Query) { q.From = q.From.Add(-time.Hour) }, "fixed": func(q *traffic.Query) { q.UntilNow = false },
		"fixed later": func(q *traffic.Query) { q.UntilNow, q.From, q.To = false, later.From, later.To },
		"zone":        func(q *traffic.Query) { q.TZ = time.FixedZone("x", 3600) }, "model": func(q *traffic.Query) { q.Model = "last" },
		"lookback": func(q *traffic.Query) { q.Lookback = time.Minute }, "parts": func(q *traffic.Query) { q.Parts = traffic.PartGaps },
		"rows": func(q *traffic.Query) { q.Limit = 7 }, "agent": func(q *traffic.Query) { q.Filter.Agent = "GPTBot" },
		"page": func(q *traffic.Query) { q.Filter.Page = "GPTBot" }, "assistant": func(q *traffic.Query) { q.Filter.Assistant = "GPTBot" },
		"hours": func(q *traffic.Query) { q.Hours = true }, "class": func(q *traffic.Query) { q.Filter.Class = "GPTBot" },
	} {
		q := base
		change(&q)
		if seen[key("ws", &q)] {
			t.Errorf("%s: no other key", name)
		}
		seen[key("ws", &q)] = true
	}
	if seen[key("other", &base)] {
		t.Error("two workspaces have one key")
	}
}
