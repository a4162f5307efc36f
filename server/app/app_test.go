package app_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// snapshots has one that does not load.
type snapshots struct{}

func (snapshots) Interval() time.Duration { return time.Second }

func (snapshots) Current(context.Context) (string, error) { return "broken", nil }

func (snapshots) Load(context.Context, string) (snapshotview.Input, error) {
	return snapshotview.Input{}, errors.New("manifest missing")
}

func (snapshots) Retracted(context.Context, string) (string, error) { return "", nil }

func (snapshots) Moves(context.Context, string) (string, []views.Move, error)       { return "", nil, nil }
func (snapshots) Trends(context.Context, string, []string) ([]nights.Series, error) { return nil, nil }

func config(t *testing.T, data string, log *strings.Builder) app.Config {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, nil))
	mailer, err := mail.Open("file://"+t.TempDir(), "firstpick <service@firstpick.example>", logger, func() string { return "id" })
	if err != nil {
		t.Fatal(err)
	}
	return app.Config{
		Settings:      server.Settings{Log: logger, Now: time.Now, BaseURL: "http://127.0.0.1:1"},
		Registrations: registrations.Config{DB: statetest.Open(t, statetest.Address(t, "sqlite")), Vault: statetest.Vault(t), Mailer: mailer},
		Data:          data,
	}
}

// TestBuild answers requests with a read model in a new data folder, and without one.
func TestBuild(t *testing.T) {
	for name, data := range map[string]string{"a new data folder": filepath.Join(t.TempDir(), "new"), "no data folder": ""} {
		a, err := app.Build(t.Context(), config(t, data, &strings.Builder{}))
		if err != nil {
			t.Fatal(name, err)
		}
		if (a.Reports != nil) != (data != "") || a.Alerts == nil || a.Evals != nil {
			t.Errorf("%s: reports %v, alerts %v, evals %v", name, a.Reports, a.Alerts, a.Evals)
		}
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		if !strings.Contains(w.Body.String(), `"state":"ok"`) {
			t.Errorf("%s: %s", name, w.Body)
		}
		a.Close()
		a.Close()
	}
}

// TestBuildRefuses reports errors in what the configuration names as such.
func TestBuildRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*app.Config){
		"a file for a data folder": func(c *app.Config) { c.Data = filepath.Join(file, "data") },
		"a proxy of no network":    func(c *app.Config) { c.TrustedProxies = []string{"proxy"} },
	} {
		cfg := config(t, t.TempDir(), &strings.Builder{})
		change(&cfg)
		var wrong *app.ConfigError
		if a, err := app.Build(t.Context(), cfg); !errors.As(err, &wrong) || a != nil {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

// TestRefusedSnapshotIsLoggedOnce polls a snapshot that does not load.
func TestRefusedSnapshotIsLoggedOnce(t *testing.T) {
	var log strings.Builder
	f := &app.Follower{Snapshots: snapshots{}, Holder: &snapshotview.Holder{}, Log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		f.Poll(t.Context())
	}
	if n := strings.Count(log.String(), "manifest missing"); n != 1 || f.Holder.Current() != nil {
		t.Errorf("logged %d times: %s", n, log.String())
	}
}
