package servertest_test

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/secret"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// onBothStores runs a test against a server on each store.
func onBothStores(t *testing.T, o servertest.Options, f func(t *testing.T, s *servertest.Service)) {
	t.Helper()
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			o := o
			o.State = statetest.Address(t, engine)
			f(t, servertest.New(t, o))
		})
	}
}

func somebody() *registrations.Caller {
	return &registrations.Caller{IP: netip.MustParseAddr("203.0.113.7")}
}

// vouch presents an ID-JAG and fails the test unless that ends in the code.
func vouch(t *testing.T, s *servertest.Service, sub, email, want string) *registrations.Registered {
	t.Helper()
	r, err := s.Agents.Present(t.Context(), somebody(), s.IdP.Assertion(s.Agents.Resource(), sub, email))
	if got := codeOf(err); got != want {
		t.Fatalf("present: %q, want %q (%v)", got, want, err)
	}
	return r
}

func codeOf(err error) string {
	if err == nil {
		return ""
	}
	return apierr.Of(err).Code
}

// browserOf returns a browser in which the owner of an address signed in.
func browserOf(t *testing.T, s *servertest.Service, email string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Jar: jar}
	if _, err := c.PostForm(s.URL+"/signin", url.Values{"email": {email}}); err != nil { //nolint:bodyclose // the client ends with the test
		t.Fatal(err)
	}
	visit(t, c, s.Mail.Link(t, email, "Sign in"))
	return c
}

// visit returns where a request ended, and the page.
func visit(t *testing.T, c *http.Client, address string) (string, string) {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	return resp.Request.URL.Path, text(t, resp)
}

// What an issuer linked before a person first signed in waits for that person:
// the issuer's word alone renews nothing, and no other agent is linked before.
func TestUnreviewedLinksWaitForTheirOwner(t *testing.T) {
	onBothStores(t, servertest.Options{}, func(t *testing.T, s *servertest.Service) {
		first := vouch(t, s, "frank", "frank@example.com", "")
		if first.Claim != nil || first.Assertion == "" {
			t.Fatal("a person without an account was asked")
		}
		b := browserOf(t, s, "frank@example.com")
		other, err := s.Agents.RegisterAnonymous(t.Context(), somebody())
		if err != nil {
			t.Fatal(err)
		}
		code, _, err := s.Agents.StartClaim(t.Context(), somebody(), other.ClaimToken, "frank@example.com")
		if err != nil {
			t.Fatal(err)
		}
		link := s.URL + "/claim?claim_attempt_token=" + code.ViewToken
		at, page := visit(t, b, link)
		if at != "/agents" || !strings.Contains(page, "Choose which of them to keep") || strings.Contains(page, "Review the pending agent") {
			t.Fatalf("at %s: %s", at, page)
		}
		resp, err := b.PostForm(s.URL+"/agents/keep", url.Values{"form_token": {formTokenOf(t, page)}, "registration": {first.Registration.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if page := text(t, resp); !strings.Contains(page, "Review the pending agent") {
			t.Errorf("no way back to the claim: %s", page)
		}
		if at, _ := visit(t, b, s.URL+"/claim"); at != "/claim" {
			t.Errorf("after the decision /claim leads to %s", at)
		}
	})
}

// When the issuer vouches again before the person decided, the person is asked
// for the code, and what was linked until then has ended.
func TestTheIssuersWordAloneRenewsNothing(t *testing.T) {
	onBothStores(t, servertest.Options{}, func(t *testing.T, s *servertest.Service) {
		first := vouch(t, s, "frank", "frank@example.com", "")
		tokens, err := s.Agents.Exchange(t.Context(), somebody(), first.Assertion, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := browserOf(t, s, "frank@example.com")
		again := vouch(t, s, "frank", "frank@example.com", "")
		if again.Claim == nil || again.Assertion != "" {
			t.Fatal("after the first sign-in the issuer's word was enough")
		}
		if _, err := s.Agents.Authenticate(t.Context(), tokens.AccessToken); codeOf(err) != "invalid_token" {
			t.Errorf("a token from before: %v", err)
		}
		if at, page := visit(t, b, s.URL+"/claim?claim_attempt_token="+again.Claim.ViewToken); at != "/claim" || !strings.Contains(page, "user_code") {
			t.Errorf("at %s: %s", at, page)
		}
		claimCode(t, s, again.Claim, "frank@example.com")
		if once := vouch(t, s, "frank", "frank@example.com", ""); once.Claim != nil {
			t.Error("asked again after the person confirmed")
		}
	})
}

// A person who keeps an agent renews its issuer's word.
func TestKeptLinksAreAccepted(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	r := vouch(t, s, "grace", "grace@example.com", "")
	account := signIn(t, s, "grace@example.com")
	if err := s.Agents.Keep(t.Context(), account.ID, r.Registration.ID); err != nil {
		t.Fatal(err)
	}
	if again := vouch(t, s, "grace", "grace@example.com", ""); again.Claim != nil {
		t.Error("a kept agent was asked to confirm")
	}
}

// An address that only an issuer vouches for is not called verified in what we
// sign.
func TestAssertionsSayWhoProvedTheAddress(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	verified := func(r *registrations.Registered) bool {
		a, err := s.Agents.Ring.Verify(t.Context(), r.Assertion)
		if err != nil || a.Email != "heidi@example.com" {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.EmailVerified
	}
	r := vouch(t, s, "heidi", "heidi@example.com", "")
	if verified(r) {
		t.Error("verified on the issuer's word")
	}
	account := signIn(t, s, "heidi@example.com")
	if err := s.Agents.Keep(t.Context(), account.ID, r.Registration.ID); err != nil {
		t.Fatal(err)
	}
	if !verified(vouch(t, s, "heidi", "heidi@example.com", "")) {
		t.Error("not verified though its owner signed in")
	}
}

// Refused assertions count, though the transaction that refused them is undone.
func TestReplaysAreLimited(t *testing.T) {
	onBothStores(t, servertest.Options{Limits: true}, func(t *testing.T, s *servertest.Service) {
		raw := s.IdP.Assertion(s.Agents.Resource(), "ivan", "ivan@example.com")
		var codes []string
		for range 40 {
			_, err := s.Agents.Present(t.Context(), somebody(), raw)
			codes = append(codes, codeOf(err))
		}
		if codes[0] != "" || codes[1] != "invalid_request" || codes[39] != "rate_limited" {
			t.Errorf("%q", codes)
		}
	})
}

// What is left for an address says what strangers did with it.
func TestHeadersTellNothingOfAnAddress(t *testing.T) {
	s := servertest.New(t, servertest.Options{Limits: true})
	a := request{method: "POST", path: "/api/agent/identity", media: jsonMedia, body: `{"type":"service_auth","login_hint":"judy@example.com"}`}.send(t, s)
	if policies := a.header.Get("RateLimit-Policy"); a.status != http.StatusOK || !strings.Contains(policies, `"service-auth.ip"`) || strings.Contains(policies+a.header.Get("RateLimit"), "email") {
		t.Errorf("%d %q %q", a.status, policies, a.header.Get("RateLimit"))
	}
}

// What a client calls itself is stored as far as both stores can.
func TestAnyUserAgent(t *testing.T) {
	onBothStores(t, servertest.Options{}, func(t *testing.T, s *servertest.Service) {
		for _, ua := range []string{"\xff\xfe", strings.Repeat("ü", 100) + "x", strings.Repeat("a", 199) + "ü", "a\x00b"} {
			c := somebody()
			c.UserAgent = ua
			if _, err := s.Agents.RegisterAnonymous(t.Context(), c); err != nil {
				t.Errorf("%q: %v", ua, err)
			}
		}
		account := signIn(t, s, "kim@example.com")
		for _, id := range []string{"\x00", "\xff", "reg_none"} {
			if err := s.Agents.Unlink(t.Context(), somebody(), account.ID, id); codeOf(err) != "not_found" {
				t.Errorf("unlink %q: %v", id, err)
			}
		}
	})
}

// Tokens that nobody came for in a day are not handed over any more.
func TestTokensAreNotKeptForEver(t *testing.T) {
	for late, want := range map[time.Duration]string{identity.ClaimWindow: "", identity.ClaimWindow + time.Second: "invalid_grant"} {
		s := servertest.New(t, servertest.Options{})
		r, err := s.Agents.RegisterAnonymous(t.Context(), somebody())
		if err != nil {
			t.Fatal(err)
		}
		claim(t, s, r.ClaimToken, "lee@example.com")
		s.Clock.Add(late)
		if _, err := s.Agents.Redeem(t.Context(), somebody(), r.ClaimToken); codeOf(err) != want {
			t.Errorf("after %v: %v, want %q", late, err, want)
		}
	}
}

// claim has the owner of an address confirm a registration.
func claim(t testing.TB, s *servertest.Service, claimToken, email string) {
	t.Helper()
	ctx := t.Context()
	code, _, err := s.Agents.StartClaim(ctx, somebody(), claimToken, email)
	if err != nil {
		t.Fatal(err)
	}
	claimCode(t, s, code, email)
}

// signIn signs in the owner of an address.
func signIn(t testing.TB, s *servertest.Service, email string) *state.Account {
	t.Helper()
	link, err := s.Agents.OperatorLink(t.Context(), email, false)
	if err != nil {
		t.Fatal(err)
	}
	_, token, _ := strings.Cut(link, "token=")
	account, err := s.Agents.FollowLink(t.Context(), somebody(), token, "")
	if err != nil {
		t.Fatal(err)
	}
	return account
}

// claimCode has the owner of an address confirm a code.
func claimCode(t testing.TB, s *servertest.Service, code *registrations.Code, email string) {
	t.Helper()
	ctx := t.Context()
	account := signIn(t, s, email)
	if _, right, err := s.Agents.Confirm(ctx, somebody(), account, registrations.Confirmation{ViewHash: viewHash(code), Code: code.UserCode}); err != nil || !right {
		t.Fatal(right, err)
	}
}

// A key is not made with a token that a claim ended between its check and its use.
func TestKeysNeedATokenThatStillLives(t *testing.T) {
	onBothStores(t, servertest.Options{}, func(t *testing.T, s *servertest.Service) {
		r, err := s.Agents.RegisterAnonymous(t.Context(), somebody())
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := s.Agents.Exchange(t.Context(), somebody(), r.Assertion, nil)
		if err != nil {
			t.Fatal(err)
		}
		bearer, err := s.Agents.Authenticate(t.Context(), tokens.AccessToken)
		if err != nil {
			t.Fatal(err)
		}
		claim(t, s, r.ClaimToken, "mia@example.com")
		if _, _, _, err := s.Agents.CreateKey(t.Context(), somebody(), bearer, registrations.KeyRequest{Kind: "secret", Label: "late"}); codeOf(err) != "invalid_token" {
			t.Errorf("%v, want invalid_token", err)
		}
	})
}

// A page that is still open when another link is followed decides about nothing.
func TestAnOldPageDoesNotDecideAboutANewLink(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	b := browserOf(t, s, "nina@example.com")
	var pages, claims []string
	for range 2 {
		r, err := s.Agents.RegisterAnonymous(t.Context(), somebody())
		if err != nil {
			t.Fatal(err)
		}
		code, _, err := s.Agents.StartClaim(t.Context(), somebody(), r.ClaimToken, "nina@example.com")
		if err != nil {
			t.Fatal(err)
		}
		_, page := visit(t, b, s.URL+"/claim?claim_attempt_token="+code.ViewToken)
		pages, claims = append(pages, page), append(claims, r.ClaimToken)
	}
	deny := func(page string) (int, string) {
		_, attempt, _ := strings.Cut(page, `name="attempt" value="`)
		attempt, _, _ = strings.Cut(attempt, `"`)
		resp, err := b.PostForm(s.URL+"/claim", url.Values{"form_token": {formTokenOf(t, page)}, "attempt": {attempt}, "action": {"deny"}})
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, text(t, resp)
	}
	if status, page := deny(pages[0]); status != http.StatusConflict || !strings.Contains(page, "You opened another link") {
		t.Errorf("%d %s", status, page)
	}
	for i, want := range []string{"authorization_pending", "authorization_pending"} {
		if _, err := s.Agents.Redeem(t.Context(), somebody(), claims[i]); codeOf(err) != want {
			t.Errorf("claim %d: %v", i, err)
		}
	}
	if status, _ := deny(pages[1]); status != http.StatusOK {
		t.Errorf("the page of the newest link: %d", status)
	}
	if _, err := s.Agents.Redeem(t.Context(), somebody(), claims[1]); codeOf(err) != "access_denied" {
		t.Error(err)
	}
}

// A caller who hangs up costs nobody a line in the log of errors.
func TestHangingUpIsNoFailure(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	hangUp()
	if _, err := s.Agents.Authenticate(ctx, "at_x"); apierr.Of(err).Status >= 500 {
		t.Errorf("%v", err)
	}
}

func viewHash(c *registrations.Code) []byte { return secret.Hash(c.ViewToken) }

func text(t *testing.T, resp *http.Response) string {
	t.Helper()
	defer func() { _ = resp.Body.Close() }()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func formTokenOf(t *testing.T, page string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, `name="form_token" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	if !found || token == "" {
		t.Fatalf("no form: %s", page)
	}
	return token
}
