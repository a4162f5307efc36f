package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/storage/s3test"
	"github.com/firstpick/firstpick/server"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// often is published, polled often.
type often struct{ *published }

// Interval implements assembly.Snapshots.
func (often) Interval() time.Duration { return 10 * time.Millisecond }

// follow starts a server that follows a bucket, with a cache in the data folder.
func follow(t *testing.T, endpoint, data string, log io.Writer) *followed {
	t.Helper()
	bucket, err := storage.NewBucket(storage.BucketConfig{Name: "results", Prefix: "p", Getenv: s3test.Env(endpoint), Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(log, nil))
	mailer, err := mail.Open("file://"+t.TempDir(), "firstpick <service@firstpick.example>", logger, func() string { return "id" })
	if err != nil {
		t.Fatal(err)
	}
	place := publish.Place{Store: bucket, Cache: filepath.Join(data, "cache"), Now: time.Now}
	a, err := assembly.Build(t.Context(), assembly.Config{
		Settings:      server.Settings{Log: logger, Now: time.Now, Sleep: OS().Sleep, BaseURL: "http://127.0.0.1:1", LimitsOff: true},
		Registrations: registrations.Config{DB: statetest.Open(t, statetest.Address(t, "sqlite")), Vault: statetest.Vault(t), Mailer: mailer},
		Snapshots:     often{&published{place: place}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return &followed{s, a}
}

// A followed server serves the snapshots of a bucket.
type followed struct {
	*httptest.Server
	app *assembly.App
}

// snapshot returns the id of the served snapshot. It requests a board of it, which must not
// fail.
func (s *followed) snapshot(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.URL+"/api/public/leaderboard?category=webserver", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Error(err)
		return ""
	}
	body, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(body, []byte(`"flask"`)) {
		t.Errorf("status %d, %v: %.100s", resp.StatusCode, err, body)
	}
	return s.app.Source.Current().ID
}

// locked is a log that may be read while it is written.
type locked struct {
	sync.Mutex
	strings.Builder
}

// Write implements io.Writer.
func (l *locked) Write(p []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.Builder.Write(p)
}

// TestBucketChangesUnderLoad promotes 20 times in a bucket that a loaded server follows, and
// then takes the bucket away.
func TestBucketChangesUnderLoad(t *testing.T) {
	s3 := s3test.Start(t)
	s3.Bucket(t, "results")
	proxy := s3test.NewProxy(t, s3)
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, s3test.Env("")(name))
	}
	t.Setenv("AWS_ENDPOINT_URL", s3.URL)
	const bucket = "s3://results/p"
	data := t.TempDir()
	firstpick(t, data, "demo", "--no-serve")
	runs, err := os.ReadDir(filepath.Join(data, "runs"))
	if err != nil || len(runs) < 3 {
		t.Fatal(runs, err)
	}
	with := func(i int) string { return "--run=" + runs[i].Name() }
	var web int // the run that all snapshots have
	for i, r := range runs {
		if strings.Contains(r.Name(), "webserver") {
			web = i
		}
	}
	private, _ := keyPair(t, "k")
	firstpick(t, data, "publish", "--snapshots", bucket, "--sign", private, with(web))
	firstpick(t, data, "publish", "--snapshots", bucket, "--sign", private, with(web), with((web+1)%len(runs)))
	place := publish.Place{Store: mustBucket(t, s3.URL), Cache: filepath.Join(data, "cache"), Now: time.Now}
	ids, err := place.List(t.Context())
	if err != nil || len(ids) != 2 {
		t.Fatal(len(ids), err)
	}
	var log locked
	s := follow(t, proxy.URL, data, &log)

	var requests atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for ctx.Err() == nil {
				s.snapshot(t)
				requests.Add(1)
			}
		})
	}
	const changes = 8
	for n := range changes {
		id := ids[n%len(ids)].ID
		if err := place.Promote(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(20 * time.Second)
		for s.snapshot(t) != id {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not served: %s", id, log.String())
			}
		}
	}
	stop()
	clients.Wait()
	t.Logf("%d requests", requests.Load())

	last := ids[(changes-1)%len(ids)].ID
	proxy.Set(func(*http.Request) s3test.Fault { return s3test.Deny })
	before := proxy.Requests.Load()
	for proxy.Requests.Load() < before+5 {
		if got := s.snapshot(t); got != last {
			t.Fatalf("without the bucket it serves %q", got)
		}
	}
	log.Lock()
	// The comparison with the snapshot before may meet the denied bucket too: another message.
	if n := strings.Count(log.String(), "the current snapshot is refused"); n != 1 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	log.Unlock()
	if again := follow(t, proxy.URL, data, io.Discard); again.snapshot(t) != last {
		t.Error("a new server does not serve the copy of the last snapshot")
	}
}

func mustBucket(t *testing.T, endpoint string) storage.Store {
	t.Helper()
	b, err := storage.FromURL("s3://results/p", s3test.Env(endpoint))
	if err != nil {
		t.Fatal(err)
	}
	return b
}
