package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/porttest"
	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/trust/trusttest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const killWorkers = 6

// TestCeremonyKilledServersKeepTheirWord kills a server many times while agents
// register and people confirm. What was answered holds after every restart.
func TestCeremonyKilledServersKeepTheirWord(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a server ten times: half a minute")
	}
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var args []string
			if engine == "postgres" {
				args = []string{"--state", cluster(t)}
			}
			s := newKilled(t, args...)
			var all []*ceremony
			rounds := kills(t, 10)
			for round := range rounds {
				s.start(s.listen)
				began := s.workUntilKilled(round)
				s.start(s.listen)
				before := reached(began)
				s.inParallel(began, s.finish)
				all = append(all, began...)
				s.inParallel(all, s.holds)
				if t.Failed() {
					t.Fatalf("failed after kill %d of %d", round+1, rounds)
				}
				t.Logf("kill %d: %s", round+1, before)
				s.kill()
			}
		})
	}
}

// TestCeremonyTwoServersTakeAnAssertionOnce posts ID-JAGs to two processes on one
// PostgreSQL at once.
func TestCeremonyTwoServersTakeAnAssertionOnce(t *testing.T) {
	s := newKilled(t, "--state", cluster(t))
	second := freeAddress(t)
	s.start(s.listen)
	s.start(second)
	for i := range 50 {
		sub := fmt.Sprintf("both-%d", i)
		body := presentBody(s.assertion(sub))
		var got [2]answer
		var lost [2]error
		var both sync.WaitGroup
		for k, address := range []string{s.listen, second} {
			both.Go(func() {
				got[k], lost[k] = s.send(http.DefaultClient, "http://"+address, "POST", "/api/agent/identity", body, "")
			})
		}
		both.Wait()
		if err := errors.Join(lost[:]...); err != nil {
			t.Fatal(err)
		}
		statuses := []int{got[0].status, got[1].status}
		slices.Sort(statuses)
		if !slices.Equal(statuses, []int{200, 400}) || got[0].text("reason")+got[1].text("reason") != "replay_detected" {
			t.Fatalf("ID-JAG %d at two servers: %s and %s", i+1, got[0], got[1])
		}
	}
}

// cluster returns the address of a database of a PostgreSQL of this test's own.
func cluster(t *testing.T) string {
	t.Helper()
	c, err := statetest.StartCluster(false)
	if errors.Is(err, statetest.ErrNoPostgres) {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "postgres") {
			t.Fatal("FIRSTPICK_REQUIRE names postgres, and it is not installed")
		}
		t.Skip("no postgres on this machine")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	address, err := c.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// A killed is a server of real processes, which are killed.
type killed struct {
	t       *testing.T
	dir     string
	args    []string // of the store
	env     []string
	listen  string
	base    string
	idp     *trusttest.IdP
	mails   *mailIndex
	running []*exec.Cmd
	over    atomic.Bool // the server is being killed
	known   atomic.Int64
}

func newKilled(t *testing.T, args ...string) *killed {
	t.Helper()
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		t.Fatal(err)
	}
	s := &killed{t: t, dir: t.TempDir(), listen: freeAddress(t), mails: &mailIndex{links: map[string][]string{}, seen: map[string]bool{}}}
	s.base = "http://" + s.listen
	s.idp = trusttest.New(t, time.Now)
	s.mails.dir = filepath.Join(s.dir, "mail")
	s.args = append([]string{"--data", filepath.Join(s.dir, "data"), "--base-url", s.base}, args...)
	s.env = append(os.Environ(), "NO_COLOR=1", "FIRSTPICK_LIMITS=off", "FIRSTPICK_STATE_KEY="+base64.StdEncoding.EncodeToString(key))
	add := firstpick(t, s.dir, append([]string{"admin", "issuer", "add", s.idp.URL, "--allow-private"}, s.args...)...)
	add.Env = s.env
	must(t, add)
	t.Cleanup(func() {
		s.kill()
		if log, err := os.ReadFile(filepath.Join(s.dir, "server.log")); err == nil && t.Failed() {
			t.Logf("the servers' last words:\n%s", log[max(0, len(log)-4000):])
		}
	})
	return s
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := porttest.Free()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// start starts a server and waits until it answers.
func (s *killed) start(listen string) {
	s.t.Helper()
	http.DefaultClient.CloseIdleConnections() // those of the server before
	log, err := os.OpenFile(filepath.Join(s.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := firstpick(s.t, s.dir, append([]string{"server", "--listen", listen, "--mail", "file://" + s.mails.dir, "--access-log=false"}, s.args...)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, log, log
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.running = append(s.running, cmd)
	for range 600 {
		if resp, err := http.Get("http://" + listen + "/.well-known/jwks.json"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				s.over.Store(false)
				return
			}
		}
		time.Sleep(50 * time.Millisecond) // nothing tells that a process listens but that it answers
	}
	s.t.Fatal("the server does not answer")
}

// kill ends what runs, without any warning.
func (s *killed) kill() {
	s.over.Store(true)
	for _, cmd := range s.running {
		if err := cmd.Process.Kill(); err != nil {
			s.t.Error(err)
		}
		_ = cmd.Wait() // it ends by our signal
	}
	s.running = nil
}

// workUntilKilled lets agents and people do their part until the server is
// killed, and returns all that was begun.
func (s *killed) workUntilKilled(round int) []*ceremony {
	var mu sync.Mutex
	var began []*ceremony
	var workers sync.WaitGroup
	s.known.Store(0)
	warm := make(chan struct{})
	for k := range killWorkers {
		workers.Go(func() {
			for i := 0; !s.over.Load() && !s.t.Failed(); i++ {
				c := s.begin(fmt.Sprintf("r%d-w%d-%d", round, k, i))
				mu.Lock()
				began = append(began, c)
				mu.Unlock()
				if s.work(c, mrand.IntN(9)) != nil {
					return // the answer was lost
				}
				if s.known.Add(1) == killWorkers {
					close(warm)
				}
			}
		})
	}
	select {
	case <-warm:
	case <-time.After(2 * time.Minute):
		s.t.Error("the server is too slow to be killed at work")
	}
	time.Sleep(time.Duration(mrand.IntN(400)) * time.Millisecond) // the moment of the kill is the test
	s.kill()
	workers.Wait()
	return began
}

func (s *killed) inParallel(list []*ceremony, fn func(c *ceremony)) {
	var wg sync.WaitGroup
	next := make(chan *ceremony)
	for range killWorkers {
		wg.Go(func() {
			for c := range next {
				fn(c)
			}
		})
	}
	for _, c := range list {
		next <- c
	}
	close(next)
	wg.Wait()
}

// A ceremony is an agent and its person, and what they were told. A word of what
// was asked for, and perhaps not answered, ends in -ing.
type ceremony struct {
	email                 string
	claimToken, assertion string // of the answered registration
	tokens, revoked, keys []string
	code, uri             string // of the answered claim
	browser               *http.Client
	link                  string // that signed in
	confirming, confirmed bool
	redeemed              bool
	presented             string // ID-JAG
	accepted              string // what it was exchanged for
	final                 string // token after the claim
}

func reached(list []*ceremony) string {
	var registered, coded, signed, confirmed, redeemed, revoked, keys, presented int
	one := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	for _, c := range list {
		registered += one(c.claimToken != "")
		coded += one(c.code != "")
		signed += one(c.link != "")
		confirmed += one(c.confirmed)
		redeemed += one(c.redeemed)
		revoked += len(c.revoked)
		keys += len(c.keys)
		presented += one(c.accepted != "")
	}
	return fmt.Sprintf("answered were %d registrations, %d keys, %d revocations, %d codes, %d sign-ins, %d confirmations, %d redemptions, %d ID-JAGs",
		registered, keys, revoked, coded, signed, confirmed, redeemed, presented)
}

func (s *killed) begin(name string) *ceremony {
	return &ceremony{email: name + "@example.com", browser: newBrowser()}
}

// errStop means that an answer was wrong, and the test has been told.
var errStop = errors.New("stop")

// work takes a ceremony some steps further.
func (s *killed) work(c *ceremony, steps int) error {
	all := []func(*ceremony) error{s.register, s.exchange, s.createKey, s.present, s.revokeOne, s.createKey, s.startClaim, s.signIn, s.confirm, s.redeem}
	for _, step := range all[:2+steps] {
		if err := step(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *killed) register(c *ceremony) error {
	a, err := s.post("/api/agent/identity", map[string]any{"type": "anonymous"}, "", 200)
	if err == nil {
		c.claimToken, c.assertion = a.text("claim_token"), a.text("identity_assertion")
	}
	return err
}

func (s *killed) exchange(c *ceremony) error {
	for range 2 {
		a, err := s.post("/api/oauth2/token", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {c.assertion}}, "", 200)
		if err != nil {
			return err
		}
		c.tokens = append(c.tokens, a.text("access_token"))
	}
	return nil
}

func (s *killed) createKey(c *ceremony) error {
	a, err := s.post("/api/agent/keys", map[string]any{"kind": "secret"}, c.tokens[0], 201)
	if err == nil {
		c.keys = append(c.keys, a.text("id"))
	}
	return err
}

func (s *killed) revokeOne(c *ceremony) error {
	token := c.tokens[len(c.tokens)-1]
	c.tokens = c.tokens[:len(c.tokens)-1]
	if _, err := s.post("/api/oauth2/revoke", url.Values{"token": {token}}, "", 200); err != nil {
		return err
	}
	c.revoked = append(c.revoked, token)
	return nil
}

func (s *killed) assertion(sub string) string {
	return s.idp.Assertion(s.base+"/api/", sub, sub+"@idp.example.com")
}

func presentBody(raw string) map[string]any {
	return map[string]any{"type": "identity_assertion", "assertion_type": registrations.AssertionType, "assertion": raw}
}

func (s *killed) present(c *ceremony) error {
	c.presented = s.assertion(strings.TrimSuffix(c.email, "@example.com"))
	a, err := s.post("/api/agent/identity", presentBody(c.presented), "", 200)
	if err == nil {
		c.accepted = a.text("identity_assertion")
	}
	return err
}

func (s *killed) startClaim(c *ceremony) error {
	a, err := s.post("/api/agent/identity/claim", map[string]any{"claim_token": c.claimToken, "email": c.email}, "", 200)
	if err == nil {
		block, _ := a.doc["claim"].(map[string]any)
		c.code, _ = block["user_code"].(string)
		c.uri, _ = block["verification_uri"].(string)
	}
	return err
}

// signIn signs the person's browser in by a link in a mail.
func (s *killed) signIn(c *ceremony) error {
	if _, err := s.page(c, "POST", "/signin", url.Values{"email": {c.email}}, 200); err != nil {
		return err
	}
	for {
		link, err := s.mails.wait(s, c.email)
		if err != nil {
			return err
		}
		a, err := s.send(c.browser, s.base, "GET", strings.TrimPrefix(link, s.base), nil, "")
		switch {
		case err != nil:
			return err
		case a.status == 303:
			c.link = link
			return nil
		case a.status != 403: // a link that another browser asked for before the kill may come late
			return s.wrong("%s: the link of a mail: %s", c.email, a)
		}
	}
}

const linked = "The agent is linked"

// confirm types the code. It finds the agent linked already only where an earlier
// try was not answered.
func (s *killed) confirm(c *ceremony) error {
	if _, err := s.page(c, "GET", strings.TrimPrefix(c.uri, s.base), nil, 303); err != nil {
		return err
	}
	a, err := s.page(c, "GET", "/claim", nil, 200)
	if err != nil {
		return err
	}
	if c.confirming && strings.Contains(a.body, linked) {
		c.confirmed = true
		return nil
	}
	form := formToken.FindStringSubmatch(a.body)
	if form == nil || c.confirmed {
		return s.wrong("%s: the page of a code (confirmed: %v) shows %s", c.email, c.confirmed, a)
	}
	c.confirming = true
	if _, err := s.page(c, "POST", "/claim", url.Values{"form_token": {form[1]}, "action": {"authorize"}, "user_code": {c.code}}, 303); err != nil {
		return err
	}
	c.confirmed = true
	return nil
}

func (s *killed) redeem(c *ceremony) error {
	a, err := s.poll(c)
	if err != nil {
		return err
	}
	if a.status != 200 {
		return s.wrong("%s: the poll of a confirmed claim: %s", c.email, a)
	}
	c.redeemed, c.final = true, a.text("access_token")
	return nil
}

func (s *killed) poll(c *ceremony) (answer, error) {
	return s.send(http.DefaultClient, s.base, "POST", "/api/oauth2/token", url.Values{"grant_type": {registrations.GrantClaim}, "claim_token": {c.claimToken}}, "")
}

// finish checks what a ceremony was told before the kill, and takes it to its end
// with nothing but that.
func (s *killed) finish(c *ceremony) {
	if c.claimToken == "" {
		return // nobody was told of it
	}
	if !c.confirming {
		for _, token := range c.tokens {
			s.token(c, "a token", token, 400) // the request is wrong on purpose
		}
		if a, err := s.poll(c); err != nil || a.text("error") != "authorization_pending" && a.text("error") != "slow_down" {
			_ = s.wrong("%s: a known claim token: %s, %v", c.email, a, err)
			return
		}
		if a, err := s.post("/api/oauth2/token", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {c.assertion}}, "", 200); err == nil {
			c.tokens = append(c.tokens, a.text("access_token"))
		}
	}
	steps := []func(*ceremony) error{s.confirm, s.redeem}
	if c.link != "" { // the browser is still signed in
		if _, err := s.page(c, "GET", "/agents", nil, 200); err != nil {
			return
		}
	} else {
		c.browser = newBrowser()
		steps = slices.Insert(steps, 0, s.signIn)
	}
	if c.code == "" {
		steps = slices.Insert(steps, 0, s.startClaim)
	}
	if c.confirmed {
		if a, err := s.page(c, "GET", "/claim", nil, 200); err != nil || !strings.Contains(a.body, linked) {
			_ = s.wrong("%s: a confirmed claim: %s", c.email, a)
		}
		steps = []func(*ceremony) error{s.redeem}
	}
	for _, step := range steps {
		if err := step(c); err != nil {
			_ = s.wrong("%s: %v", c.email, err)
			return
		}
	}
	c.revoked, c.tokens = append(c.revoked, c.tokens...), nil // the confirmation ended them
}

// holds checks what must hold for ever after a ceremony is finished.
func (s *killed) holds(c *ceremony) {
	for _, token := range c.revoked {
		s.token(c, "a revoked token", token, 401)
	}
	if c.final != "" {
		if _, err := s.post("/api/oauth2/token", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {c.assertion}}, "", 400); err != nil {
			return
		}
		a, err := s.send(http.DefaultClient, s.base, "GET", "/api/agent/workspace", nil, c.final)
		if err != nil || a.status != 200 {
			_ = s.wrong("%s: the workspace: %s, %v", c.email, a, err)
			return
		}
		for _, id := range c.keys {
			if !strings.Contains(a.body, `"`+id+`"`) {
				_ = s.wrong("%s: the key %s is not listed: %s", c.email, id, a)
			}
		}
	}
	if c.link != "" {
		_, _ = s.page(c, "GET", strings.TrimPrefix(c.link, s.base), nil, 410)
	}
	if c.presented != "" {
		s.presentedOnce(c)
	}
}

// presentedOnce presents an ID-JAG again. It is used up, unless its answer was
// lost; then this may be the first time.
func (s *killed) presentedOnce(c *ceremony) {
	a, err := s.send(http.DefaultClient, s.base, "POST", "/api/agent/identity", presentBody(c.presented), "")
	switch {
	case err == nil && a.text("reason") == "replay_detected":
	case err == nil && a.status == 200 && c.accepted == "":
		c.accepted = a.text("identity_assertion")
	default:
		_ = s.wrong("%s: an ID-JAG (answered: %v) again: %s, %v", c.email, c.accepted != "", a, err)
		return
	}
	if c.accepted != "" {
		_, _ = s.post("/api/oauth2/token", url.Values{"grant_type": {registrations.GrantJWT}, "assertion": {c.accepted}}, "", 200)
	}
}

// token uses a token for a request that changes nothing: 400 means that it lives.
func (s *killed) token(c *ceremony, what, token string, want int) {
	a, err := s.send(http.DefaultClient, s.base, "POST", "/api/agent/keys", map[string]any{"kind": "none"}, token)
	if err != nil || a.status != want {
		_ = s.wrong("%s: %s: %s, %v; want %d", c.email, what, a, err, want)
	}
}

// wrong tells the test of a wrong answer.
func (s *killed) wrong(format string, args ...any) error {
	s.t.Errorf(format, args...)
	return errStop
}

// post sends JSON, or a form, and demands a status. Its error is a lost answer or
// errStop.
func (s *killed) post(path string, body any, bearer string, want int) (answer, error) {
	a, err := s.send(http.DefaultClient, s.base, "POST", path, body, bearer)
	if err == nil && a.status != want {
		err = s.wrong("POST %s: %s; want %d", path, a, want)
	}
	return a, err
}

// page does what a person's browser does, and demands a status.
func (s *killed) page(c *ceremony, method, path string, form url.Values, want int) (answer, error) {
	var body any
	if form != nil {
		body = form
	}
	a, err := s.send(c.browser, s.base, method, path, body, "")
	if err == nil && a.status != want {
		err = s.wrong("%s: %s %s: %s; want %d", c.email, method, path, a, want)
	}
	return a, err
}

func (s *killed) send(client *http.Client, base, method, path string, body any, bearer string) (answer, error) {
	return send(s.t.Context(), client, base, method, path, body, bearer)
}

// A mailIndex finds the newest sign-in link of an address in a folder of mail.
type mailIndex struct {
	dir string

	mu    sync.Mutex
	seen  map[string]bool
	links map[string][]string
}

// wait waits for a link and takes it out. It gives up when the server is killed.
func (m *mailIndex) wait(s *killed, to string) (string, error) {
	for range 1000 {
		if link := m.take(to); link != "" {
			return link, nil
		}
		if s.over.Load() {
			return "", errors.New("killed while a mail was waited for")
		}
		time.Sleep(10 * time.Millisecond) // mail comes beside the answer
	}
	return "", s.wrong("no mail to %s", to)
}

func (m *mailIndex) take(to string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	files, _ := filepath.Glob(filepath.Join(m.dir, "*.eml"))
	for _, file := range files {
		if !m.seen[file] {
			m.seen[file] = m.read(file)
		}
	}
	if len(m.links[to]) == 0 {
		return ""
	}
	link := m.links[to][0]
	m.links[to] = m.links[to][1:]
	return link
}

// read notes the link of a mail, and says whether the mail is whole.
func (m *mailIndex) read(file string) bool {
	to, link, whole := readMail(file)
	if link != "" {
		m.links[to] = append(m.links[to], link)
	}
	return whole
}
