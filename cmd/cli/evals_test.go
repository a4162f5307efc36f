package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const evalsKey = "fpe_hush"

// An evalServer answers by script, per method and path, and keeps what was asked. The
// last answer of a path stays.
type evalServer struct {
	*httptest.Server
	replies map[string][]string // "STATUS BODY"
	log     []string
	hang    func() // instead of the end of a stream
}

func newEvalServer(t *testing.T) *evalServer {
	t.Helper()
	s := &evalServer{replies: map[string][]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *evalServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	where := r.Method + " " + r.URL.Path
	s.log = append(s.log, strings.TrimSpace(where+" "+r.URL.RawQuery+" "+string(body)))
	script := s.replies[where]
	if len(script) == 0 || r.Header.Get("Authorization") != "Bearer "+evalsKey {
		http.NotFound(w, r)
		return
	}
	if len(script) > 1 {
		s.replies[where] = script[1:]
	}
	status := 0
	_, text, _ := strings.Cut(script[0], " ")
	_, _ = fmt.Sscan(script[0], &status)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
	if strings.HasSuffix(where, "/events") && s.hang != nil {
		_ = http.NewResponseController(w).Flush()
		s.hang()
		<-r.Context().Done()
	}
}

const (
	queuedRun = `{"id":"run_1","evalId":"evl_1","evalName":"web","evalVersion":1,"category":"webserver","status":"queued","planned":10,"budgetUsd":5}`
	streamed  = "id: 1\ndata: {\"type\":\"started\",\"attempt\":1,\"at\":\"2026-11-21T10:00:00Z\"}\n\nid: 2\ndata: {\"type\":\"progress\",\"planned\":10,\"valid\":4,\"excluded\":0,\"inFlight\":2,\"spentUsd\":0.5,\"atMostUsd\":0.5,\"lanes\":[]}\n\n"
	endOf     = "id: 3\ndata: {\"type\":\"ended\",\"status\":\"%s\",\"note\":\"\"}\n\n"
)

// evals runs `firstpick evals ARGS` against a server and checks the exit code. The
// context is that of signals.
func (s *evalServer) evals(ctx context.Context, t *testing.T, stdin string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	env := &Env{
		Args: append([]string{"evals", "--data", t.TempDir(), "--server", s.URL}, args...),
		Getenv: func(name string) string {
			return map[string]string{"FIRSTPICK_EVAL_KEY": evalsKey, "SET_API_KEY": "sk-from-env", "NO_COLOR": "1"}[name]
		},
		Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Now: func() time.Time { return now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			now = now.Add(d)
			return ctx.Err()
		},
		NewID:   func() string { return "ABCDEFGHIJKLMNOPQRSTUVWXYZ" },
		Signals: func(context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
	}
	if got := Main(env); got != code {
		t.Errorf("firstpick evals %s ended with %d, want %d\n%s%s", strings.Join(args, " "), got, code, &out, &errs)
	}
	if both := out.String() + errs.String(); strings.Contains(both, evalsKey) || strings.Contains(both, "sk-") {
		t.Errorf("a secret is printed:\n%s", both)
	}
	return out.String(), errs.String()
}

func holds(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in\n%s", w, text)
		}
	}
}

// TestExitCodesOfARunElsewhere lets runs end in each way.
func TestExitCodesOfARunElsewhere(t *testing.T) {
	ended := func(status, rest string) string {
		return `200 {"id":"run_1","evalName":"web","status":"` + status + `","planned":10,"budgetUsd":5,"spentUsd":0.5,"atMostUsd":0.5,` + rest + `,"scores":null,"manifest":null}`
	}
	for name, c := range map[string]struct {
		status, rest string
		code         int
		stderr       []string
	}{
		"done":       {"done", `"valid":9,"excluded":1,"hasResults":true`, 0, []string{"done: planned 10 = valid 9 + excluded 1\n", "spent $0.5000 of $5.00\n", "next: firstpick evals rank run_1"}},
		"the budget": {"done", `"valid":7,"excluded":1,"note":"the budget was reached","hasResults":true`, 4, []string{"+ missing 2", "note: the budget was reached", "error: 2 trials are missing"}},
		"cancelled":  {"cancelled", `"valid":4,"excluded":0,"hasResults":true`, 4, []string{"error: run run_1 was cancelled; 6 trials are missing"}},
		"failed":     {"failed", `"valid":0,"excluded":0,"note":"no \u001b[2Jworker"`, 1, []string{"error: run run_1 failed: no [2Jworker"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEvalServer(t)
			s.replies["GET /api/v1/evals"] = []string{`200 {"evals":[{"id":"evl_1","name":"web"}],"nextCursor":null}`}
			s.replies["GET /api/v1/evals/evl_1"] = []string{`200 {"id":"evl_1","name":"web"}`}
			s.replies["POST /api/v1/evals/evl_1/runs"] = []string{`503 {"error":"temporarily_unavailable"}`, "202 " + queuedRun}
			s.replies["GET /api/v1/runs/run_1/events"] = []string{"200 " + streamed + fmt.Sprintf(endOf, c.status)}
			s.replies["GET /api/v1/runs/run_1"] = []string{ended(c.status, c.rest)}
			stdout, stderr := s.evals(t.Context(), t, "", c.code, "run", "web", "--max-cost", "5", "--wait")
			holds(t, stderr, append(c.stderr, "run run_1: web version 1, 10 trials, at most 5.00 USD", "progress status=queued done=0 planned=10", "status="+c.status)...)
			if stdout != "" {
				t.Errorf("stdout has %q", stdout)
			}
			holds(t, strings.Join(s.log, "\n"), `POST /api/v1/evals/evl_1/runs  {"budgetUsd":5}`)

			stdout, _ = s.evals(t.Context(), t, "", c.code, "watch", "run_1", "--json")
			if lines := strings.Count(stdout, "\n"); lines != 3 {
				t.Errorf("%d lines:\n%s", lines, stdout)
			}
			holds(t, stdout, `{"run":"run_1","seq":2,"event":{"type":"progress",`)
		})
	}
}

// TestAnInterruptEndsTheWatchingAlone breaks off while a run goes on.
func TestAnInterruptEndsTheWatchingAlone(t *testing.T) {
	s := newEvalServer(t)
	ctx, interrupt := context.WithCancel(t.Context())
	s.replies["GET /api/v1/runs/run_1"] = []string{"200 " + queuedRun}
	s.replies["GET /api/v1/runs/run_1/events"] = []string{"200 " + streamed}
	s.hang = interrupt
	_, stderr := s.evals(ctx, t, "", exitInterrupted, "watch", "run_1")
	holds(t, stderr, "firstpick evals watch run_1 watches it, firstpick evals cancel run_1 cancels it", "interrupted\n")
	for _, line := range s.log {
		if strings.HasPrefix(line, "DELETE") {
			t.Error("the run was cancelled")
		}
	}
}

func TestProblemsOfAnEvalHaveTheirLines(t *testing.T) {
	s := newEvalServer(t)
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte("name: web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.replies["POST /api/v1/evals"] = []string{`400 {"error":"invalid_eval","error_description":"no","issues":[{"line":7,"message":"prompt \"p\" names Flask"},{"message":"no agents"}]}`}
	_, stderr := s.evals(t.Context(), t, "", exitUsage, "push", file)
	holds(t, stderr, "error: "+file+":7: prompt \"p\" names Flask\n       "+file+": no agents\n")
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "run", file, "--max-cost", "1")
	holds(t, stderr, file+":7: ")
	for _, args := range [][]string{{"run", file}, {"run", file, "--max-cost", "0"}, {"run", file, "--max-cost", "NaN"}, {"run", file, "--max-cost", "Inf"}, {"run", file, "--max-cost", "5", "--version", "2"}, {"push", file + ".none"}} {
		s.log = nil
		s.evals(t.Context(), t, "", exitUsage, args...)
		if len(s.log) > 0 {
			t.Errorf("%v asked %v", args, s.log)
		}
	}
}

func TestAnOwnCatalogueIsPulledAndPushed(t *testing.T) {
	s := newEvalServer(t)
	file := filepath.Join(t.TempDir(), "own.yaml")
	const text = "category: {slug: votes, name: Votes, domain: saas}\ntools: [{slug: votely, name: Votely}]\n"
	s.replies["GET /api/v1/catalog"] = []string{`200 {"version":3,"digest":"sha256:x","source":"` + strings.ReplaceAll(text, "\n", `\n`) + `","createdAt":null,"url":"u"}`}
	s.replies["PUT /api/v1/catalog"] = []string{
		`200 {"version":4,"digest":"sha256:y","source":"","createdAt":null,"url":"u","warnings":["The next runs fail."]}`,
		`400 {"error":"invalid_catalog","error_description":"no","issues":[{"line":2,"message":"name is missing"}]}`, `412 {"error":"catalog_changed"}`,
	}
	_, stderr := s.evals(t.Context(), t, "", 0, "catalog", "pull", file)
	holds(t, stderr, "version 3 of the catalogue", "push FILE --base 3")
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("%q, %v", got, err)
	}
	if stdout, _ := s.evals(t.Context(), t, "", 0, "catalog", "pull", "-"); stdout != text {
		t.Errorf("%q", stdout)
	}
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "catalog", "push", file, "--base", "2")
	holds(t, stderr, "the catalogue has version 3, not 2: it was changed after version 2", "hint: firstpick evals catalog pull")
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "catalog", "push", file, "--base", "4")
	holds(t, stderr, "the catalogue has version 3, older than --base 4", "hint: --base 3, the version that firstpick evals catalog pull prints")
	s.log = nil
	stdout, stderr := s.evals(t.Context(), t, "", 0, "catalog", "push", file, "--base", "3")
	holds(t, stdout, "version 4 of the catalogue, stored")
	holds(t, stderr, "note: The next runs fail.")
	if len(s.log) != 2 || s.log[1] != "PUT /api/v1/catalog  "+strings.TrimSpace(text) {
		t.Errorf("%q", s.log)
	}
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "catalog", "push", file)
	holds(t, stderr, file+":2: name is missing")
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "catalog", "push", file)
	holds(t, stderr, "catalog_changed (412)", "hint: firstpick evals catalog pull")
	if err := os.WriteFile(file, make([]byte, 256<<10+1), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "catalog", "push", file)
	holds(t, stderr, "is larger than 262144 bytes")
}

func TestACheckedEvalHasNoIDAndNoDates(t *testing.T) {
	s := newEvalServer(t)
	s.replies["POST /api/v1/evals/check"] = []string{`200 {"name":"web","digest":"d","category":"webserver","missingKeys":["A_KEY"],"warnings":[]}`}
	file := filepath.Join(t.TempDir(), "web.yaml")
	if err := os.WriteFile(file, []byte("name: web\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, _ := s.evals(t.Context(), t, "", 0, "check", file, "--json")
	if holds(t, stdout, `"name": "web"`, `"category": "webserver"`, `"A_KEY"`); strings.Contains(stdout, "createdAt") || strings.Contains(stdout, `"id"`) {
		t.Error(stdout)
	}
}

func TestProviderKeysAreNoArguments(t *testing.T) {
	s := newEvalServer(t)
	for _, name := range []string{"SET_API_KEY", "OTHER_API_KEY"} {
		s.replies["PUT /api/v1/provider-keys/"+name] = []string{`200 {"name":"` + name + `","shown":"...last"}`}
	}
	_, stderr := s.evals(t.Context(), t, "", 0, "provider-key", "set", "SET_API_KEY")
	holds(t, stderr, "SET_API_KEY is set, ...last, from the environment\n")
	_, stderr = s.evals(t.Context(), t, "sk-from-stdin\n", 0, "provider-key", "set", "OTHER_API_KEY")
	holds(t, stderr, "OTHER_API_KEY is set, ...last, from stdin\n")
	holds(t, strings.Join(s.log, "\n"), `SET_API_KEY  {"value":"sk-from-env"}`, `OTHER_API_KEY  {"value":"sk-from-stdin"}`)
	s.evals(t.Context(), t, " \n", exitUsage, "provider-key", "set", "OTHER_API_KEY")
	s.evals(t.Context(), t, "", exitUsage, "provider-key", "set", "OTHER_API_KEY", "sk-in-the-open")
}

// TestAFileAppearsWholeOrNotAtAll breaks a download off, and has one refused.
func TestAFileAppearsWholeOrNotAtAll(t *testing.T) {
	s := newEvalServer(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "trials.ndjson")
	s.replies["GET /api/v1/runs/run_1/traces"] = []string{"200 {}\n", `409 {"error":"no_results","error_description":"The run goes on."}`}
	_, stderr := s.evals(t.Context(), t, "", 0, "download", "run_1", "-o", file)
	holds(t, stderr, "3 bytes")
	_, stderr = s.evals(t.Context(), t, "", exitUsage, "download", "run_1", "-o", file)
	holds(t, stderr, "no_results (409)", "firstpick evals watch RUN")
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "part")
	}))
	t.Cleanup(broken.Close)
	(&evalServer{Server: broken}).evals(t.Context(), t, "", exitFailed, "download", "run_1", "--output", file)
	data, err := os.ReadFile(file)
	entries, dirErr := os.ReadDir(dir)
	if err != nil || dirErr != nil || string(data) != "{}\n" || len(entries) != 1 {
		t.Errorf("the file holds %q, beside %v: %v, %v", data, entries, err, dirErr)
	}
	s.log = nil
	for _, args := range [][]string{{"run_1"}, {"run_1", "-o", file, "--format", "csv"}, {"run_1", "-o", file, "--format", "parquet", "--agent", "a"}} {
		s.evals(t.Context(), t, "", exitUsage, append([]string{"download"}, args...)...)
	}
	if len(s.log) > 0 {
		t.Errorf("asked %v", s.log)
	}
}

// TestADownloadReplacesFilesAlone: a link goes on leading to its file, and a pipe stays
// one.
func TestADownloadReplacesFilesAlone(t *testing.T) {
	s := newEvalServer(t)
	s.replies["GET /api/v1/runs/run_1/traces"] = []string{"200 {}\n"}
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("before"), 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.evals(t.Context(), t, "", 0, "download", "run_1", "-o", link)
	got, err := os.ReadFile(file)
	if is, statErr := os.Lstat(link); err != nil || statErr != nil || string(got) != "{}\n" || is.Mode()&os.ModeSymlink == 0 {
		t.Errorf("behind the link is %q, %v %v", got, err, statErr)
	}
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // does not wait for a writer
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	s.evals(t.Context(), t, "", 0, "download", "run_1", "-o", pipe)
	is, err := os.Stat(pipe)
	if err != nil || is.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe became %v, %v", is, err)
	}
	line := make([]byte, 3)
	if _, err := io.ReadFull(reader, line); err != nil || string(line) != "{}\n" {
		t.Errorf("the pipe had %q, %v", line, err)
	}
	s.evals(t.Context(), t, "", exitUsage, "download", "run_1", "-o", dir)
}

func TestAnErrorSaysWhatToDoNext(t *testing.T) {
	for reply, want := range map[string]struct {
		code int
		hint string
	}{
		`401 {"error":"invalid_token"}`:                                     {exitUsage, "hint: the key is invalid or revoked"},
		`403 {"error":"plan_required"}`:                                     {exitUsage, "hint: private evals need the paid plan"},
		`403 {"error":"insufficient_scope"}`:                                {exitUsage, "hint: use a key with that scope"},
		`404 {"error":"run_not_found"}`:                                     {exitUsage, "hint: firstpick evals runs"},
		`400 {"error":"invalid_request","suggestions":["flask","fastapi"]}`: {exitUsage, "hint: choose one of flask, fastapi"},
		`404 <html>`:                   {exitUsage, "the root of a firstpick server"},
		`500 {"error":"server_error"}`: {exitFailed, "error: server_error (500)"},
		`429 {"error":"rate_limited"}`: {exitFailed, "error: rate_limited (429)"},
		`200 <html>`:                   {exitFailed, "is not the JSON that the eval API has"},
	} {
		s := newEvalServer(t)
		s.replies["GET /api/v1/runs/run_1"] = []string{reply}
		_, stderr := s.evals(t.Context(), t, "", want.code, "rank", "run_1")
		holds(t, stderr, want.hint)
	}
	s := newEvalServer(t)
	s.replies["GET /api/v1/runs/run_1"] = []string{"200 " + queuedRun}
	_, stderr := s.evals(t.Context(), t, "", exitUsage, "rank", "run_1")
	holds(t, stderr, "error: run run_1 is queued and has no results", "hint: firstpick evals watch run_1")
	s.Close()
	_, stderr = s.evals(t.Context(), t, "", exitFailed, "rank", "run_1")
	holds(t, stderr, "hint: check that the server is running, or set --server")
}
