package operator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

const issuers = "/operator/issuers"

// TestIssuers adds and removes trusted issuers, with the checks of the command line.
func TestIssuers(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		ops, dana := newOperator(t, s), newPerson(t, s, "dana@example.com")
		trusted := func(iss string) bool {
			t.Helper()
			_, ok, err := s.Agents.Issuers.Find(t.Context(), iss)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		_, body := ops.Get(issuers)
		if configured := s.IdP.Issuer().ISS; !strings.Contains(body, configured) || strings.Contains(body, `aria-label="Remove `+configured) {
			t.Errorf("the issuer of the configuration: %s", body)
		}
		const iss = "https://idp.example"
		ops.Must("Issuer trusted.", issuers+"/add", "iss", iss, "name", "Example <b>IdP</b>", "domains", "example.com, example.org", "clients", "agents", "amr", "mfa", "algs", "ES256")
		i, ok, err := s.Agents.Issuers.Find(t.Context(), iss)
		if err != nil || !ok || len(i.EmailDomains) != 2 || i.EmailDomains[1] != "example.org" || i.ClientIDs[0] != "agents" || i.AMR[0] != "mfa" || i.Algs[0] != "ES256" || i.AllowPrivate {
			t.Errorf("%+v, %v", i, err)
		}
		if _, body := ops.Get(issuers); !strings.Contains(body, "Example &lt;b&gt;IdP") || !strings.Contains(body, "e-mail domains: example.com, example.org") {
			t.Errorf("the list: %s", body)
		}
		for what, form := range map[string][]string{
			"no address":               {"iss", ""},
			"http":                     {"iss", "http://idp2.example"},
			"not an address":           {"iss", "javascript:alert(1)"},
			"keys that are no address": {"iss", "https://idp2.example", "keys", "keys.json"},
			"an algorithm":             {"iss", "https://idp2.example", "algs", "none"},
			"of the configuration":     {"iss", s.IdP.Issuer().ISS, "private", "1"},
		} {
			if status, body := ops.Send(issuers+"/add", form...); status != http.StatusUnprocessableEntity || !strings.Contains(body, `role="alert"`) || trusted("https://idp2.example") {
				t.Errorf("%s: %d %s", what, status, body)
			}
		}
		for what, ask := range map[string]func() int{
			"an owner adds":                func() int { status, _ := dana.Send(issuers+"/add", "iss", "https://evil.example"); return status },
			"an owner removes":             func() int { status, _ := dana.Send(issuers+"/remove", "iss", iss); return status },
			"without a form token":         func() int { status, _ := ops.Post(issuers+"/add", "iss", "https://evil.example"); return status },
			"from another site":            func() int { return ops.foreign(issuers+"/add", "iss", "https://evil.example") },
			"removal from another site":    func() int { return ops.foreign(issuers+"/remove", "iss", iss) },
			"removal without a form token": func() int { status, _ := ops.Post(issuers+"/remove", "iss", iss); return status },
		} {
			if status := ask(); status != http.StatusNotFound && status != http.StatusForbidden || trusted("https://evil.example") || !trusted(iss) {
				t.Errorf("%s: %d", what, status)
			}
		}
		ops.Must("Issuer removed. Its agents stay", issuers+"/remove", "iss", iss)
		if trusted(iss) {
			t.Error("the issuer is trusted still")
		}
		if status, body := ops.Send(issuers+"/remove", "iss", iss); status != http.StatusUnprocessableEntity || !strings.Contains(body, "The store has no such issuer") {
			t.Errorf("removed twice: %d %s", status, body)
		}
		ops.Must("Issuer trusted.", issuers+"/add", "iss", iss)
		ops.Must("Agents revoked: 0.", issuers+"/remove", "iss", iss, "revoke", "1")

		// A removal that stopped halfway left an agent: the issuer is gone, and the same form
		// revokes the rest.
		now := s.Clock.Now()
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			return tx.AddRegistration(t.Context(), &identity.Registration{
				ID: "reg_left", Kind: identity.IdentityAssertion, WorkspaceID: "wsp_left", AccountID: ops.Account().ID, Email: ops.Email, ISS: iss, Sub: "sub", Aud: s.URL,
				ClaimHash: []byte("left"), CreatedAt: now, ClaimExpires: now.Add(time.Hour), ClaimedAt: now,
			})
		}); err != nil {
			t.Fatal(err)
		}
		ops.Must("Agents revoked: 1.", issuers+"/remove", "iss", iss, "revoke", "1")
		if left, err := s.Agents.DB.Read().IssuerRegistrations(t.Context(), iss); err != nil || len(left) > 0 {
			t.Errorf("agents left: %v, %v", left, err)
		}
		if status, body := ops.Send(issuers+"/remove", "iss", iss, "revoke", "1"); status != http.StatusUnprocessableEntity || !strings.Contains(body, "The store has no such issuer") {
			t.Errorf("nothing left: %d %s", status, body)
		}

		entries, err := s.Agents.DB.Read().OperatorLog(t.Context(), &state.OperatorLog{Action: "operator", Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			if e.ISS == iss && e.AccountID == ops.Account().ID {
				got = append(got, e.Event)
			}
		}
		if len(got) != 4 || strings.Count(strings.Join(got, " "), "operator.issuer_added") != 2 {
			t.Errorf("audit: %v", got)
		}
	})
}
