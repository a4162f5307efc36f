package sitecheck_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// TestOnceADay lets two servers look at the same sites over two days.
func TestOnceADay(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var asked atomic.Int64
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/sitemap.xml" {
					asked.Add(1)
					_, _ = fmt.Fprintf(w, "http://%s/page\n", r.Host)
				}
			}))
			defer web.Close()
			address := statetest.Address(t, engine)
			now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
			server := func() *sitecheck.Service {
				clock := func() time.Time { return now }
				return &sitecheck.Service{
					DB: statetest.Open(t, address), Log: slog.New(slog.DiscardHandler), Now: clock,
					Checker: &sitecheck.Checker{Client: web.Client(), UserAgent: "check/1", Now: clock},
				}
			}
			first := server()
			second := first
			if engine == "postgres" {
				second = server()
			}
			set := func(id, site string) {
				t.Helper()
				if err := first.DB.Write(t.Context(), func(tx *state.Tx) error {
					if _, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: id, Slug: id, OwnerID: "acc", CreatedAt: now, ClaimedAt: now}); err != nil {
						return err
					}
					return tx.SetSettings(t.Context(), id, state.Settings{Site: site, RetentionDays: 30})
				}); err != nil {
					t.Fatal(err)
				}
			}
			set("ws_a", web.URL)
			set("ws_b", web.URL)
			set("ws_none", "")
			round := func(want int64) {
				t.Helper()
				asked.Store(0)
				for range 2 {
					for _, s := range []*sitecheck.Service{first, second} {
						for more := true; more; {
							var err error
							if more, err = s.Step(t.Context()); err != nil {
								t.Fatal(err)
							}
						}
					}
				}
				if n := asked.Load(); n != want {
					t.Errorf("%s: sites were looked at %d times, want %d", now, n, want)
				}
			}
			round(2)
			now = now.Add(23 * time.Hour)
			round(0)
			r, err := second.Result(t.Context(), "ws_a")
			if err != nil || len(r.Pages) != 1 || r.Pages[0].Path != "/page" {
				t.Errorf("found %+v, %v", r, err)
			}
			now = now.Add(2 * time.Hour)
			round(2)
			set("ws_a", "http://127.0.0.1:1")
			if r, err := first.Result(t.Context(), "ws_a"); r != nil || err != nil {
				t.Errorf("another site has the result of the one before: %+v, %v", r, err)
			}
			round(0)
			if r, err := first.Result(t.Context(), "ws_a"); err != nil || len(r.Pages) != 0 || len(r.Problems) == 0 {
				t.Errorf("of a site that is down: %+v, %v", r, err)
			}
			if r, err := first.Result(t.Context(), "ws_none"); r != nil || err != nil {
				t.Errorf("of no site: %+v, %v", r, err)
			}
		})
	}
}

// TestRunEnds stops while a site does not answer.
func TestRunEnds(t *testing.T) {
	hangs := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { close(hangs); <-r.Context().Done() }))
	defer web.Close()
	s := &sitecheck.Service{
		DB: statetest.Open(t, statetest.Address(t, "sqlite")), Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Checker: &sitecheck.Checker{Client: web.Client(), Now: time.Now},
	}
	if err := s.DB.Write(t.Context(), func(tx *state.Tx) error {
		if _, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "ws", Slug: "ws", OwnerID: "acc", CreatedAt: s.Now(), ClaimedAt: s.Now()}); err != nil {
			return err
		}
		return tx.SetSettings(t.Context(), "ws", state.Settings{Site: web.URL, RetentionDays: 30})
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	tick, done := make(chan time.Time, 1), make(chan struct{})
	go func() { defer close(done); s.Run(ctx, tick) }()
	tick <- time.Time{}
	<-hangs
	stop()
	<-done
}
