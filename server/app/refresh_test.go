package app

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/agentid/webbotauth"
)

// offline is a machine without outbound network.
type offline struct{}

func (offline) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("network is unreachable")
}

// A server without outbound network says once that its lists are old.
func TestOldListsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lists, err := ranges.Open("")
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
		var out bytes.Buffer
		a := &App{Lists: lists, cfg: Config{Settings: server.Settings{Log: slog.New(slog.NewTextHandler(&out, nil)), Now: func() time.Time { return now }}}}
		ctx, stop := context.WithCancel(t.Context())
		go a.refreshLists(ctx, &http.Client{Transport: offline{}}, webbotauth.NewDirectory(nil))
		time.Sleep(5 * 24 * time.Hour)
		stop()
		synctest.Wait()
		log := out.String()
		if n := strings.Count(log, "lists of agents' addresses are old"); n != 1 || !strings.Contains(log, "oldest=2026-04-24") || !strings.Contains(log, "allow outbound https") {
			t.Errorf("logged %d times: %s", n, log)
		}
	})
}
