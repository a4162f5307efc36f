package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/cmd/cli"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	oldBase     = "http://127.0.0.1:46695" // the old server's public address
	oldWhole    = "20261122-211259-x3pgwt"
	oldCut      = "20261122-211312-tjelaj"
	oldSnapshot = "03ca6795a1cb72fc561b"
)

// firstpickThen is the program with a clock that begins when the old files were new, so
// that their tokens are good.
func firstpickThen() {
	e := cli.OS()
	began, then := time.Now(), time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)
	e.Now = func() time.Time { return then.Add(time.Since(began)) }
	os.Exit(cli.Main(e))
}

// oldFiles unpacks the files of an older program.
func oldFiles(t *testing.T) string { return unpackOld(t, "old.tar.gz") }

func unpackOld(t *testing.T, name string) string {
	t.Helper()
	archive, err := filepath.Abs("testdata/old/" + name)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	must(t, exec.CommandContext(t.Context(), "tar", "-xzf", archive, "-C", dir))
	return dir
}

func oldText(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// TestOldSnapshotsAreVerified verifies a signed and an unsigned snapshot of an older
// program.
func TestOldSnapshotsAreVerified(t *testing.T) {
	dir := oldFiles(t)
	for _, args := range [][]string{{"--data", "local", "--key", "local/snapshot-key.pem"}, {"--from", "file://" + filepath.Join(dir, "unsigned")}} {
		out := must(t, firstpick(t, dir, append([]string{"snapshot", "verify", oldSnapshot}, args...)...))
		signature := "unsigned"
		if args[0] == "--data" {
			signature = "signature valid"
		}
		if !strings.Contains(out, "the boards were computed by older formulas") || !strings.Contains(out, "recomputed from 52 trials, "+signature) {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// TestOldFormulasAreRecomputed verifies every figure of snapshots by the formulas before
// today's.
func TestOldFormulasAreRecomputed(t *testing.T) {
	for archive, snapshot := range map[string]string{"formulas2.tar.gz": "1f6fe093c3b9aa2ce1af", "formulas3.tar.gz": "ee7ffa719dbcc9da76ab"} {
		dir := unpackOld(t, archive)
		out := must(t, firstpick(t, dir, "snapshot", "verify", snapshot, "--snapshots", "file://"+filepath.Join(dir, "snapshots")))
		if want := snapshot + ": 22 files verified, 15 documents recomputed from 48 trials, unsigned\n"; out != want {
			t.Errorf("%s: %q, want %q", archive, out, want)
		}
	}
}

// oldRanks is what of a board follows from the journals alone: rates, intervals and warnings
// follow the methodology too.
type oldRanks struct {
	Rankings []struct {
		Category string
		AsOf     time.Time
		NTrials  int
		Coverage float64
		Outcomes map[string]int
		Tools    []struct {
			Slug           string
			Picks, NTrials int
		}
	}
}

// TestOldRunsAreRankedAndResumed ranks the journals of an older program as that program
// did, verifies the evidence of a program's trial, and resumes the interrupted run.
func TestOldRunsAreRankedAndResumed(t *testing.T) {
	dir := oldFiles(t)
	rank := firstpick(t, dir, "rank", "--all", "--json", "--data", "local")
	got, err := rank.Output()
	if err != nil {
		t.Fatal(err)
	}
	var was, is oldRanks
	if err := errors.Join(json.Unmarshal([]byte(oldText(t, dir, "rank.json")), &was), json.Unmarshal(got, &is)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(was, is); diff != "" || len(is.Rankings) != 1 || len(is.Rankings[0].Tools) != 14 {
		t.Errorf("ranks (-then +now):\n%s", diff)
	}
	trials := must(t, firstpick(t, dir, "trial", "--run", oldWhole, "--agent", "program", "--csv", "--data", "local"))
	trial, _, _ := strings.Cut(strings.Split(trials, "\n")[1], ",")
	if out := must(t, firstpick(t, dir, "why", trial, "--data", "local")); !strings.Contains(out, "requirements.txt") {
		t.Errorf("why %s: %s", trial, out)
	}
	out := must(t, firstpick(t, dir, "run", "--resume", oldCut, "--concurrency", "200", "--data", "local"))
	if !strings.Contains(out, "planned 400 = valid 400 + excluded 0") {
		t.Errorf("resumed: %s", out)
	}
}

// An oldServer is a server of today on the data folder of an older program.
type oldServer struct {
	t    *testing.T
	dir  string
	base string
}

func startOld(t *testing.T) *oldServer {
	t.Helper()
	s := &oldServer{t: t, dir: oldFiles(t)}
	address := freeAddress(t)
	s.base = "http://" + address
	var log bytes.Buffer
	cmd := exec.Command("firstpick-then", "server", "--data", "srv", "--snapshots", "file://"+filepath.Join(s.dir, "local", "snapshots"), //nolint:noctx // it is killed below
		"--base-url", oldBase, "--listen", address, "--access-log=false", "--mail", "file://"+filepath.Join(s.dir, "mail"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the server's log:\n%s", log.String())
		}
	})
	answers(t, s.base)
	return s
}

func (s *oldServer) do(client *http.Client, method, path string, body any, bearer string, want int) answer {
	s.t.Helper()
	a, err := send(s.t.Context(), client, s.base, method, path, body, bearer)
	if err != nil || a.status != want {
		s.t.Fatalf("%s %s: %s, %v; want %d", method, path, a, err, want)
	}
	return a
}

func (s *oldServer) get(path, bearer string) answer {
	s.t.Helper()
	return s.do(http.DefaultClient, http.MethodGet, path, nil, bearer, http.StatusOK)
}

// TestOldSnapshotIsServed reads a snapshot of an older program over the API.
func TestOldSnapshotIsServed(t *testing.T) {
	s := startOld(t)
	if a := s.get("/api/public/leaderboard?category=webserver", ""); a.number("nTrials") != 52 || !strings.Contains(a.body, `"slug":"flask"`) {
		t.Errorf("leaderboard: %s", a)
	}
	if a := s.get("/api/public/report?q=flask", ""); !strings.Contains(a.body, `"picks":50`) || strings.Contains(a.body, "boundHigh") {
		t.Errorf("report: %s", a)
	}
}

// An oldEntry is what the index of a bundle repeats of a trace.
type oldEntry struct {
	ID, Agent, Prompt, Template string
	Repeat                      int
	Outcome, Picked             string
	Mismatch                    bool
	CostUSD                     *float64
	WallMS                      int64
}

// TestOldBundleIsRead reads the results of a workspace's run of an older program with the
// eval key of that time.
func TestOldBundleIsRead(t *testing.T) {
	s := startOld(t)
	key, run := oldText(t, s.dir, "evalkey"), "/api/v1/runs/"+oldText(t, s.dir, "run")
	if a := s.get("/api/v1/evals", key); !strings.Contains(a.body, `"name":"hosted"`) {
		t.Errorf("evals: %s", a)
	}
	a := s.get(run, key)
	scores, _ := a.doc["scores"].(map[string]any)
	if a.text("status") != "done" || a.number("valid") != 24 || len(scores) != 2 {
		t.Errorf("run: %s", a)
	}
	var index struct{ Traces []oldEntry }
	if err := json.Unmarshal([]byte(s.get(run+"/traces?fields=summary&limit=100", key).body), &index); err != nil {
		t.Fatal(err)
	}
	var whole []oldEntry // the same entries, not read from the index
	for line := range strings.Lines(s.get(run+"/traces?format=ndjson", key).body) {
		var e oldEntry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		whole = append(whole, e)
	}
	if diff := cmp.Diff(whole, index.Traces); diff != "" || len(whole) != 24 {
		t.Errorf("%d traces; their entries (-trace +index):\n%s", len(whole), diff)
	}
	var trace struct {
		ID, PromptText string
		Result         struct{ Evidence []struct{ In string } }
		Answer         struct{ Files []struct{ Added []string } }
	}
	lines := s.get(run+"/traces?format=ndjson&agent=gpt-4o-mini-2024-07-18", key)
	first, _, _ := strings.Cut(lines.body, "\n")
	if err := json.Unmarshal([]byte(first), &trace); err != nil || strings.Count(lines.body, "\n") != 12 {
		t.Fatalf("%v: %s", err, lines)
	}
	if len(trace.Result.Evidence) == 0 || len(trace.Answer.Files) == 0 || len(trace.Answer.Files[0].Added) == 0 || !strings.HasPrefix(trace.PromptText, "Write the initial code") {
		t.Errorf("trace: %+v", trace)
	}
	if a := s.do(http.DefaultClient, http.MethodGet, run+"/explain?tool=flask", nil, key, http.StatusNotFound); a.text("error") != "no_explanation" {
		t.Errorf("explain: %s", a)
	}
	if a := s.get(run+"/traces?format=parquet", key); !strings.HasPrefix(a.body, "PAR1") {
		t.Errorf("parquet: %.20q", a.body)
	}
	if a := s.do(http.DefaultClient, http.MethodGet, run+"/traces/"+trace.ID, nil, key, http.StatusOK); a.text("id") != trace.ID {
		t.Errorf("trace: %s", a)
	}
}

// TestOldStateIsOpened uses the credentials of an older program on its state store: an
// agent's assertion, a collector key and the session of the person who claimed it.
func TestOldStateIsOpened(t *testing.T) {
	s := startOld(t)
	var agent struct {
		Assertion string `json:"identity_assertion"`
		Workspace string `json:"workspace"`
	}
	var collector struct{ Key string }
	for name, v := range map[string]any{"agent.json": &agent, "collector.json": &collector} {
		if err := json.Unmarshal([]byte(oldText(t, s.dir, name)), v); err != nil {
			t.Fatal(err)
		}
	}
	token := s.do(http.DefaultClient, http.MethodPost, "/api/oauth2/token", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {agent.Assertion}}, "", http.StatusOK)
	if a := s.get("/api/agent/workspace", token.text("access_token")); !strings.Contains(a.body, `"slug":"`+agent.Workspace+`"`) {
		t.Errorf("workspace: %s", a)
	}
	event := []any{map[string]any{"type": "touch", "url": "https://acme.example/docs", "status": 200}}
	s.do(http.DefaultClient, http.MethodPost, "/api/collect", event, collector.Key, http.StatusAccepted)
	if a := s.get("/api/collect", collector.Key); a.number("eventsTotal") != 68 {
		t.Errorf("events: %s", a)
	}

	link := must(t, exec.CommandContext(t.Context(), "firstpick-then", "admin", "login-link", "--email", "ann@example.com", "--data", filepath.Join(s.dir, "srv"), "--base-url", oldBase))
	browser := newBrowser()
	s.do(browser, http.MethodGet, strings.TrimPrefix(signInLink.FindString(link), oldBase), nil, "", http.StatusSeeOther)
	if a := s.do(browser, http.MethodGet, "/workspaces/"+agent.Workspace+"/settings", nil, "", http.StatusOK); !strings.Contains(a.body, "On the first day 2 agents came.") || !strings.Contains(a.body, "https://hooks.example.com/firstpick") {
		t.Errorf("settings show neither the alert nor the webhook: %s", a.body)
	}
}

// TestOldSecretsAreDecrypted reads a provider key with the master key of its time.
func TestOldSecretsAreDecrypted(t *testing.T) {
	dir := oldFiles(t)
	master, err := base64.StdEncoding.DecodeString(oldText(t, dir, "srv/state.key"))
	if err != nil {
		t.Fatal(err)
	}
	vault, err := secret.NewVault(master, rand.Reader) // an old store gets its id
	if err != nil {
		t.Fatal(err)
	}
	db, err := state.Open(t.Context(), "sqlite://"+filepath.Join(dir, "srv", "state.db"), vault)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	w, err := db.Read().WorkspaceBySlug(t.Context(), oldText(t, dir, "slug"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := db.Read().ProviderSecrets(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(keys["OPENAI_API_KEY"].Secret); got != "sk-test-0123456789" {
		t.Errorf("the provider key is %q", got)
	}
}
