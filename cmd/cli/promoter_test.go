package cli

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/server"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/auth/registrations"
	console "github.com/firstpick/firstpick/server/console/operator"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// twoSnapshots publishes the demo and then one of its runs. It returns the ids in that order.
func twoSnapshots(t *testing.T, data string) (place publish.Place, first, second string) {
	t.Helper()
	place = publish.Local(filepath.Join(data, "snapshots"))
	current := func() string {
		id, err := place.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	firstpick(t, data, "demo", "--no-serve")
	first = current()
	runs, err := os.ReadDir(filepath.Join(data, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	firstpick(t, data, "publish", "--run", runs[0].Name())
	if second = current(); first == second {
		t.Fatal("another run gives the same snapshot")
	}
	return place, first, second
}

// TestPromoteInTheBrowser: an operator rolls back and promotes again, and a whole server serves
// it. What `snapshot promote` refuses is refused here.
func TestPromoteInTheBrowser(t *testing.T) {
	data := t.TempDir()
	place, first, second := twoSnapshots(t, data)
	polls := make(chan struct{})
	log := slog.New(slog.DiscardHandler)
	mailer, err := mail.Open("log:", "firstpick <a@firstpick.example>", log, func() string { return "x" })
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(web.Close)
	srv, err := assembly.Build(t.Context(), assembly.Config{
		Settings: server.Settings{
			Log: log, Now: time.Now, BaseURL: web.URL, IDPrefix: "t", LimitsOff: true,
			Sleep: func(ctx context.Context, _ time.Duration) error {
				select {
				case <-polls:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			},
		},
		Registrations: registrations.Config{DB: statetest.Open(t, statetest.Address(t, "sqlite")), Vault: statetest.Vault(t), Mailer: mailer},
		Snapshots:     &published{place: place}, Archive: archived{place}, Published: promoter{place: place},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	handler = srv
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	read := func(resp *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(body)
	}
	link, err := srv.Agents.OperatorLink(t.Context(), "ops@example.com", true)
	if err != nil {
		t.Fatal(err)
	}
	read(browser.Get(link))
	promote := func(id, before string) (int, string) {
		t.Helper()
		_, page := read(browser.Get(web.URL + "/operator/snapshots"))
		token := regexp.MustCompile(`name="form_token" value="([^"]+)"`).FindStringSubmatch(page)
		if token == nil {
			_, page = read(browser.Get(web.URL + "/agents"))
			token = regexp.MustCompile(`name="form_token" value="([^"]+)"`).FindStringSubmatch(page)
		}
		return read(browser.PostForm(web.URL+"/operator/snapshots/promote", url.Values{"snapshot": {id}, "current": {before}, "form_token": {token[1]}}))
	}
	serves := func(want string) {
		t.Helper()
		polls <- struct{}{} // the poll before has ended, and this one begins
		polls <- struct{}{} // it has ended
		if status, body := read(browser.Get(web.URL + "/")); status != http.StatusOK || !strings.Contains(body, "/snapshots/"+want) {
			t.Errorf("/ does not serve %s: %d", want, status)
		}
	}
	serves(second)
	if status, body := promote(first, second); status != http.StatusOK || !strings.Contains(body, "Promoted.") {
		t.Fatalf("roll back: %d %s", status, body)
	}
	serves(first)
	if status, body := promote(second, second); status != http.StatusConflict || !strings.Contains(body, "another snapshot became the current one") {
		t.Errorf("from an old page: %d %s", status, body)
	}
	if status, _ := promote(second, first); status != http.StatusOK {
		t.Errorf("promote: %d", status)
	}
	serves(second)

	firstpick(t, data, "log", "retract", first, "--reason", "a mistake")
	if status, body := promote(first, second); status != http.StatusConflict || !strings.Contains(body, "the log retracts it: a mistake") {
		t.Errorf("a retracted one: %d %s", status, body)
	}
	serves(second)
}

// TestPromotionsAreVerified: damaged, unsigned, missing and malformed snapshots are refused; of two
// promotions at once one is carried out.
func TestPromotionsAreVerified(t *testing.T) {
	data := t.TempDir()
	place, first, second := twoSnapshots(t, data)
	_, public := keyPair(t, "k")
	keys, err := trustedKeys([]string{public})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, p promoter, id, before, want string) {
		t.Helper()
		err := p.Promote(t.Context(), id, before)
		var r *console.Refusal
		if !errors.As(err, &r) || !strings.Contains(r.Text, want) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
		if now, err := place.Current(t.Context()); err != nil || now != before {
			t.Errorf("%s: current is %s, %v", what, now, err)
		}
	}
	refused("unsigned", promoter{place, keys}, first, second, "the snapshot is not signed")
	refused("missing", promoter{place: place}, strings.Repeat("0", len(first)), second, "any more")
	refused("a path", promoter{place: place}, "../"+first, second, "malformed")

	errs := make([]error, 2)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = promoter{place: place}.Promote(t.Context(), first, second) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("at once: %v", errs)
	}
	current, err := place.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := map[string]string{first: second, second: first}[current]
	list, _, err := promoter{place: place}.List(t.Context())
	if err != nil || len(list) != 2 || list[0].ID != second || list[0].Trials == 0 || list[0].Boards == 0 || list[0].Current != (current == second) {
		t.Errorf("%+v, %v", list, err)
	}
	var board string
	if err := filepath.WalkDir(filepath.Join(data, "snapshots", other, "boards"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			board = path
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(board, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(board, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused("damaged", promoter{place: place}, other, current, "boards/")
}

// TestPromotionCommand: the command of the page can be pasted.
func TestPromotionCommand(t *testing.T) {
	for root, want := range map[string]string{"/srv/snapshots": "--snapshots /srv/snapshots", "/srv/o'ps data": `--snapshots '/srv/o'\''ps data'`} {
		if got := (promoter{place: publish.Local(root)}).Command("ID"); got != "firstpick snapshot promote ID "+want {
			t.Errorf("%s: %s", root, got)
		}
	}
}
