package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

// An agentService plays the service: metadata by itself, the rest by script.
type agentService struct {
	*httptest.Server
	// replies are "STATUS BODY" per path, in order; the last one stays.
	replies map[string][]string
	log     []string
}

func newAgentService(t *testing.T) *agentService {
	t.Helper()
	s := &agentService{replies: map[string][]string{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.replies["/.well-known/oauth-protected-resource"] = []string{`200 {"resource":"BASE/api/","authorization_servers":["BASE"]}`}
	s.replies["/.well-known/oauth-authorization-server"] = []string{`200 {"issuer":"BASE",
"token_endpoint":"BASE/api/oauth2/token","revocation_endpoint":"BASE/api/oauth2/revoke",
"grant_types_supported":["urn:example:agent-auth:grant-type:claim"],
"agent_auth":{"identity_endpoint":"BASE/api/agent/identity","claim_endpoint":"BASE/api/agent/identity/claim",
"identity_assertion":{"trusted_issuers":["https://idp.example"]}}}`}
	return s
}

func (s *agentService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.URL.Path[:2] != "/." {
		s.log = append(s.log, strings.TrimSpace(r.URL.Path+" "+string(body)+" "+r.Header.Get("Authorization")))
	}
	script := s.replies[r.URL.Path]
	if len(script) == 0 {
		http.NotFound(w, r)
		return
	}
	if len(script) > 1 {
		s.replies[r.URL.Path] = script[1:]
	}
	status := 0
	_, text, _ := strings.Cut(script[0], " ")
	_, _ = fmt.Sscan(script[0], &status)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, strings.ReplaceAll(text, "BASE", s.URL))
}

const (
	agentBlock   = `{"user_code":"075310","verification_uri":"BASE/claim?claim_attempt_token=cvt_x","expires_in":600,"interval":5}`
	agentAnon    = `200 {"registration_id":"reg_1","registration_type":"anonymous","identity_assertion":"e.y.one","assertion_expires":"2026-11-22T10:00:00.000Z","pre_claim_scopes":["analytics.write"],"claim_token":"clm_hush","claim_token_expires":"2026-11-22T10:00:00.000Z","post_claim_scopes":["analytics.read","analytics.write"],"workspace":{"slug":"quiet-otter"}}`
	agentHinted  = `200 {"registration_id":"reg_2","registration_type":"service_auth","claim_token":"clm_hush","claim_token_expires":"2026-11-22T10:00:00.000Z","claim":` + agentBlock + `}`
	agentStepUp  = `401 {"error":"interaction_required","registration_id":"reg_3","registration_type":"identity_assertion","claim_token":"clm_hush","claim":` + agentBlock + `}`
	agentToken   = `200 {"access_token":"at_hush","token_type":"Bearer","expires_in":3600,"scope":"analytics.write"}`
	agentClaimed = `200 {"access_token":"at_hush2","token_type":"Bearer","expires_in":3600,"scope":"analytics.read analytics.write","identity_assertion":"e.y.two","assertion_expires":"2026-12-21T10:00:00.000Z","workspace":{"slug":"quiet-otter"}}`
	agentPending = `400 {"error":"authorization_pending"}`
)

// An agentBench runs commands of one data folder against one service.
type agentBench struct {
	t           *testing.T
	s           *agentService
	data, stdin string
	now         time.Time
	// sleep stands in for waiting where it is set.
	sleep func(context.Context) error

	stdout, stderr string
	err            error
}

func newAgentBench(t *testing.T) *agentBench {
	t.Helper()
	return &agentBench{t: t, s: newAgentService(t), data: t.TempDir(), now: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
}

// run runs `firstpick agent ARGS` and checks the exit code.
func (b *agentBench) run(code int, args ...string) {
	b.t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	env := &Env{
		Args: append([]string{"agent", "--data", b.data}, args...), Getenv: func(string) string { return "" },
		Stdin: strings.NewReader(b.stdin), Stdout: &stdout, Stderr: &stderr,
		Now: func() time.Time { return b.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.now = b.now.Add(d)
			if b.sleep != nil {
				return b.sleep(ctx)
			}
			return ctx.Err()
		},
	}
	root := newRootCmd(env)
	if found, _, err := root.Find([]string{"agent"}); err != nil || found == root {
		root.AddCommand(newAgentCmd(env))
	}
	b.err = root.ExecuteContext(ctx)
	b.stdout, b.stderr = stdout.String(), stderr.String()
	if codeOf(b.err) != code {
		b.t.Fatalf("%v: exit code %d, want %d: %v\n%s%s", args, codeOf(b.err), code, b.err, b.stdout, b.stderr)
	}
	if text := fmt.Sprint(b.stderr, b.err, hintOf(b.err)); strings.Contains(text, "hush") || strings.Contains(text, "e.y.") {
		b.t.Errorf("%v: a secret in the messages: %s", args, text)
	}
}

func (b *agentBench) session() *agentauth.Session {
	b.t.Helper()
	s, err := agentauth.ReadSession(filepath.Join(b.data, agentFile))
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

func (b *agentBench) outputs(want ...string) {
	b.t.Helper()
	for _, w := range want {
		if !strings.Contains(b.stdout, w) {
			b.t.Errorf("stdout lacks %q:\n%s", w, b.stdout)
		}
	}
}

func TestAgentAnonymous(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentAnon}
	b.s.replies["/api/oauth2/token"] = []string{agentToken, agentPending, agentPending, agentClaimed}
	b.s.replies["/api/agent/keys"] = []string{`201 {"key":"sk_1"}`}
	b.s.replies["/api/agent/workspace"] = []string{`403 {"error":"insufficient_scope"}`, `200 {"slug":"quiet-otter"}`}
	b.s.replies["/api/agent/identity/claim"] = []string{`200 {"claim":` + agentBlock + `}`}
	b.s.replies["/api/oauth2/revoke"] = []string{"200 "}

	b.run(exitOK, "register", "--server", b.s.URL+"/")
	b.outputs("reg_1 (anonymous)", "quiet-otter", "scopes analytics.write\n")
	if strings.Contains(b.stdout, "hush") {
		t.Error("a secret is printed")
	}
	if info, err := os.Stat(filepath.Join(b.data, agentFile)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	b.run(exitUsage, "register") // would give up a good session
	b.run(exitOK, "key", "--label", "ci")
	b.outputs("sk_1")
	b.run(exitFailed, "workspace") // with the saved token
	if !strings.Contains(hintOf(b.err), "firstpick agent claim") {
		t.Error(hintOf(b.err))
	}
	b.run(exitUsage, "claim") // who confirms?
	b.run(exitOK, "claim", "--email", "dana@example.com", "--no-wait")
	if want := "sign in as dana@example.com at\n  " + b.s.URL + "/claim?claim_attempt_token=cvt_x\nand enter the code 075310"; !strings.Contains(b.stdout, want) || strings.Count(b.stdout, "\n") != 3 {
		t.Error(b.stdout)
	}
	b.run(exitOK, "claim") // the same code, which the user has by now
	b.outputs("075310", "confirmed: workspace quiet-otter, scopes analytics.read analytics.write")
	if s := b.session(); !s.Claimed || s.ClaimToken != "" || s.Claim != nil || s.Assertion != "e.y.two" {
		t.Errorf("%+v", s)
	}
	b.run(exitOK, "claim") // nothing to do
	b.run(exitOK, "workspace")
	b.outputs(`"slug": "quiet-otter"`)
	b.run(exitOK, "revoke")
	if s := b.session(); s.AccessToken != "" || s.Assertion == "" {
		t.Errorf("%+v", s)
	}
	b.run(exitUsage, "revoke")
	want := []string{
		`/api/agent/identity {"type":"anonymous"}`, "/api/oauth2/token assertion=e.y.one",
		"/api/agent/keys", "/api/agent/workspace", `/api/agent/identity/claim {"claim_token":"clm_hush","email":"dana@example.com"}`,
		"/api/oauth2/token claim_token=clm_hush", "/api/oauth2/token claim_token=clm_hush", "/api/oauth2/token claim_token=clm_hush",
		"/api/agent/workspace  Bearer at_hush2", "/api/oauth2/revoke token=at_hush2",
	}
	for i := range max(len(want), len(b.s.log)) {
		if i >= len(want) || i >= len(b.s.log) || !strings.HasPrefix(b.s.log[i], want[i]) {
			t.Fatalf("requests:\n%s\nwant:\n%s", strings.Join(b.s.log, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestAgentForAUser(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentHinted}
	b.s.replies["/api/oauth2/token"] = []string{agentPending, `400 {"error":"expired_token"}`, `400 {"error":"access_denied"}`}
	b.s.replies["/api/agent/identity/claim"] = []string{`200 {"claim":` + strings.Replace(agentBlock, "075310", "111111", 1) + `}`, `410 {"error":"claim_expired"}`}

	b.run(exitOK, "register", "--server", b.s.URL, "--email", "dana@example.com", "--json")
	var doc struct {
		ID         string `json:"registration_id"`
		ClaimToken string `json:"claim_token"`
		Claim      agentauth.Claim
	}
	if err := json.Unmarshal([]byte(b.stdout), &doc); err != nil || doc.ID != "reg_2" || doc.Claim.UserCode != "075310" || doc.ClaimToken != "clm_****" {
		t.Error(b.stdout, err)
	}
	b.run(exitUsage, "token") // not confirmed yet

	b.run(exitFailed, "claim") // the code of the registration expires
	b.outputs("075310")
	if !strings.Contains(hintOf(b.err), "firstpick agent claim again") || b.session().Claim != nil {
		t.Error(b.err, hintOf(b.err))
	}
	b.run(exitFailed, "claim") // a fresh one; denied
	b.outputs("111111")
	if !strings.Contains(b.err.Error(), "access_denied") {
		t.Error(b.err)
	}
	b.run(exitFailed, "claim")
	if !strings.Contains(b.err.Error(), "claim_expired (410)") || !strings.Contains(hintOf(b.err), "register --replace") {
		t.Error(b.err, hintOf(b.err))
	}
	b.run(exitOK, "register", "--email", "eve@example.com", "--replace")
	b.outputs("To confirm, sign in", b.s.URL+"/claim", "075310")
}

func TestAgentInterrupted(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentHinted}
	b.s.replies["/api/oauth2/token"] = []string{agentPending}
	b.run(exitOK, "register", "--server", b.s.URL, "--email", "dana@example.com")
	b.sleep = func(context.Context) error { return context.Canceled }
	b.run(exitInterrupted, "claim")
	if s := b.session(); s.Claim == nil || s.ClaimToken == "" {
		t.Errorf("the code is lost: %+v", s)
	}
}

func TestAgentIDJag(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{`400 {"error":"issuer_not_enabled"}`, `401 {"error":"login_required"}`, agentStepUp}
	b.stdin = "a.b.c\n"
	b.run(exitFailed, "register", "--server", b.s.URL, "--id-jag", "-")
	if !strings.Contains(hintOf(b.err), "https://idp.example") {
		t.Error(hintOf(b.err))
	}
	file := filepath.Join(t.TempDir(), "jag")
	if err := os.WriteFile(file, []byte("a.b.c"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitFailed, "register", "--server", b.s.URL, "--id-jag", file)
	if !strings.Contains(b.err.Error(), "login_required (401)") || !strings.Contains(hintOf(b.err), "new ID-JAG") {
		t.Error(b.err, hintOf(b.err))
	}
	b.run(exitOK, "register", "--server", b.s.URL, "--id-jag", file)
	b.outputs("must confirm the link", "075310")
	for _, request := range b.s.log {
		if !strings.Contains(request, `"assertion":"a.b.c"`) {
			t.Error(request)
		}
	}
	b.stdin = "no token"
	b.run(exitUsage, "register", "--replace", "--id-jag", "-")
	b.run(exitUsage, "register", "--replace", "--id-jag", filepath.Join(t.TempDir(), "none"))
	b.run(exitUsage, "register", "--replace", "--id-jag", file, "--email", "a@example.com")
}

func TestAgentToken(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentAnon}
	b.s.replies["/api/oauth2/token"] = []string{agentToken, agentToken, agentToken, `400 {"error":"invalid_grant"}`}
	b.s.replies["/api/oauth2/revoke"] = []string{"200 "}
	b.s.replies["/api/agent/workspace"] = []string{`401 {"error":"invalid_token"}`, `200 {}`}
	b.run(exitUsage, "token")
	b.run(exitOK, "register", "--server", b.s.URL)
	b.run(exitOK, "token")
	if b.stdout != "at_hush\n" || b.stderr != "" {
		t.Errorf("%q %q", b.stdout, b.stderr)
	}
	b.run(exitOK, "token", "--json")
	b.outputs(`"access_token": "at_hush"`, `"expires": "2026-11-21T11:00:00Z"`)
	b.run(exitOK, "workspace") // the saved token is dead: a new one is minted
	b.run(exitFailed, "token")
	if !strings.Contains(b.err.Error(), "invalid_grant") || !strings.Contains(hintOf(b.err), "register") {
		t.Error(b.err, hintOf(b.err))
	}
	b.run(exitOK, "revoke", "at_other")
	if b.session().AccessToken != "at_hush" {
		t.Error("another token's revocation took the saved one")
	}
	b.stdin = "at_hush\n"
	b.run(exitOK, "revoke", "-")
	if b.session().AccessToken != "" {
		t.Error("the revoked token is still saved")
	}
}

func TestAgentStatusAndForget(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentAnon}
	b.s.replies["/api/oauth2/token"] = []string{agentToken}
	b.s.replies["/api/agent/identity/claim"] = []string{`200 {"claim":` + agentBlock + `}`}
	b.run(exitUsage, "status")
	b.run(exitOK, "register", "--server", b.s.URL)
	b.run(exitOK, "token")
	b.run(exitOK, "claim", "--no-wait", "--email", "dana@example.com")
	for _, args := range [][]string{{"status"}, {"status", "--json"}} {
		b.run(exitOK, args...)
		b.outputs(b.s.URL, "reg_1", "clm_****", "at_****", "****", "dana@example.com")
		for _, secret := range []string{"hush", "e.y.", "075310", "cvt_"} {
			if strings.Contains(b.stdout, secret) {
				t.Errorf("%v shows %s", args, secret)
			}
		}
	}
	b.run(exitOK, "forget")
	if _, err := os.Stat(filepath.Join(b.data, agentFile)); err == nil {
		t.Error("the session is still there")
	}
	b.run(exitOK, "forget")
}

func TestAgentSecretsStayWithTheirService(t *testing.T) {
	b := newAgentBench(t)
	b.s.replies["/api/agent/identity"] = []string{agentAnon}
	b.run(exitOK, "register", "--server", b.s.URL)
	other := newAgentService(t)
	b.run(exitUsage, "token", "--server", other.URL)
	b.run(exitUsage, "claim", "--server", other.URL, "--email", "a@example.com")

	// The saved service now names another authorization server.
	b.s.replies["/.well-known/oauth-protected-resource"] = []string{`200 {"resource":"BASE/api/","authorization_servers":["` + other.URL + `"]}`}
	b.run(exitFailed, "token")
	if !strings.Contains(b.err.Error(), "another authorization server") || len(other.log) != 0 {
		t.Error(b.err, other.log)
	}
}

func TestAgentBadInput(t *testing.T) {
	b := newAgentBench(t)
	b.run(exitUsage, "register", "--server", "http://a.example")
	b.run(exitUsage, "register", "extra")
	b.run(exitUsage, "--nonsense")
	b.run(exitUsage, "key", "--label", "")
	b.run(exitOK, "--help")
	gone := httptest.NewServer(nil)
	gone.Close()
	b.run(exitFailed, "register", "--server", gone.URL)
	if !strings.Contains(hintOf(b.err), "--server") {
		t.Error(b.err, hintOf(b.err))
	}
	if err := os.WriteFile(filepath.Join(b.data, agentFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitUsage, "status")
	b.run(exitOK, "forget")
}
