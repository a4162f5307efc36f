package members_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/mail"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
)

// TestAMembersWay leads a person from the invitation to the removal.
func TestAMembersWay(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana := newPerson(t, s, "dana@example.com")
		slug := dana.Workspace("https://acme.dev")
		s.Clock.Add(time.Second)
		link := dana.invites(slug, "kim@example.com", "editor")
		s.Clock.Add(time.Second)
		if _, body := dana.Get(members(slug, "")); !strings.Contains(body, "kim@example.com") || !strings.Contains(body, "works until 28 Nov 2026") || !strings.Contains(body, "The invitation waits for an answer.") {
			t.Errorf("the open invitation is not listed: %s", body)
		}
		mail := s.Mail.All(t, "kim@example.com")[0]
		for _, want := range []string{"dana@example.com invites you to the workspace " + slug, "editor, who also changes evals", s.URL + "/invitations?token=inv_"} {
			if !strings.Contains(mail.Text, want) {
				t.Errorf("the mail lacks %q: %s", want, mail.Text)
			}
		}
		// Kim opens the link before signing in, and is led back to it.
		kim := &person{servertest.NewPerson(t, s, "nobody@example.com")}
		kim.Email = "kim@example.com"
		kim.Send("/signout")
		if _, body := kim.Get(link); !strings.Contains(body, "Sign in to join acme.dev on firstpick: dana@example.com invited you as editor.") {
			t.Errorf("signing in does not name the invitation: %s", body)
		}
		kim.Post("/signin", "email", kim.Email)
		if status, body := kim.Get(strings.TrimPrefix(s.Mail.Link(t, kim.Email, "Sign in"), s.URL)); status != http.StatusOK || !strings.Contains(body, "Join acme.dev?") || !strings.Contains(body, "dana@example.com") {
			t.Fatalf("the invitation: %d %s", status, body)
		}
		if status, body := kim.accept(link); status != http.StatusOK || !strings.Contains(body, "You are a member of this workspace now.") {
			t.Fatalf("accept: %d %s", status, body)
		}
		settings := "/workspaces/" + slug + "/settings"
		s.Clock.Add(time.Second)
		kim.Must("Settings saved.", settings, "name", "Kim was here", "site", "https://acme.dev", "retention", "395")
		s.Clock.Add(time.Second)
		kim.Must("sk_live_", settings+"/keys", "kind", "secret", "label", "of kim")
		if status, body := kim.Send(members(slug, "/invite"), "email", "x@example.com", "role", "owner"); status != http.StatusForbidden {
			t.Errorf("an editor invites: %d %s", status, body)
		}

		s.Clock.Add(time.Second)
		dana.Must("Role changed.", members(slug, "/role"), "member", kim.Account().ID, "role", "viewer")
		if status, _ := kim.Get(settings); status != http.StatusForbidden {
			t.Errorf("a viewer reads the settings: %d", status)
		}
		if status, body := kim.Get("/workspaces/" + slug + "/evals"); status != http.StatusOK || strings.Contains(body, "/evals/new") {
			t.Errorf("a viewer's evals: %d %s", status, body)
		}
		s.Clock.Add(time.Second)
		dana.Must("Member removed.", members(slug, "/remove"), "member", kim.Account().ID, "keys", "1")
		if status, body := kim.Get(members(slug, "")); status != http.StatusNotFound || !strings.Contains(body, "You have no such workspace") {
			t.Errorf("after the removal: %d %s", status, body)
		}
		w, err := s.Agents.DB.Read().WorkspaceBySlug(t.Context(), slug)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := s.Agents.DB.Read().CollectorKeys(t.Context(), w.ID)
		if err != nil || len(keys) != 2 {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for _, k := range keys {
			if want := k.Label == "of kim"; k.RevokedAt.IsZero() == want {
				t.Errorf("key %q: revoked %v, want %v", k.Label, !want, want)
			}
		}
		dana.logHas(slug, "", []string{
			"Removed kim@example.com. Keys revoked: 1", "Changed the role of kim@example.com from editor to viewer", "Created the secret collector key", "Changed settings: name. New name: Kim was here",
			"Accepted an invitation as editor", "Invited k***@example.com as editor", "Created the workspace",
		})
		dana.logHas(slug, kim.Account().ID, []string{"Created the secret collector key", "Changed settings: name", "Accepted an invitation as editor"})
	})
}

// logHas compares the lines of the log, newest first, by their beginnings.
func (p *person) logHas(slug, member string, want []string) {
	p.T.Helper()
	status, body := p.Get("/workspaces/" + slug + "/log?member=" + member)
	rows := strings.Split(body, `data-label="What"><bdi class="path">`)[1:]
	if status != http.StatusOK || len(rows) != len(want) {
		p.T.Fatalf("log: %d, %d lines, want %d: %s", status, len(rows), len(want), body)
	}
	for i, row := range rows {
		if !strings.HasPrefix(row, want[i]) {
			p.T.Errorf("line %d of the log: %.80s, want %s", i+1, row, want[i])
		}
	}
}

// TestRemovalEndsAgents: agents act for owners. When the account is not an owner any more, its agent
// loses the workspace at once, and finds no way back to it.
func TestRemovalEndsAgents(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, erin := newPerson(t, s, "dana@example.com"), newPerson(t, s, "erin@example.com")
		claim, slug, token := dana.agent()
		if status := agentReads(t, s, token); status != http.StatusOK {
			t.Fatalf("the agent reads: %d", status)
		}
		erin.joins(dana, slug, "owner")
		if status := agentReads(t, s, token); status != http.StatusOK {
			t.Errorf("with a second owner the agent reads: %d", status)
		}
		erin.Must("Role changed.", members(slug, "/role"), "member", dana.Account().ID, "role", "editor")
		if status := agentReads(t, s, token); status != http.StatusUnauthorized {
			t.Errorf("an editor's agent reads: %d", status)
		}
		if got := exchange(t, s, claim); got != "" {
			t.Error("the agent got another token")
		}
	})
}

// TestTransfer: the mail of a workspace and the role go to another member; only that member
// can give them back.
func TestTransfer(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, erin := newPerson(t, s, "dana@example.com"), newPerson(t, s, "erin@example.com")
		slug := dana.Workspace("https://acme.dev")
		if _, body := dana.Send(members(slug, "/leave")); !strings.Contains(body, "A workspace needs an owner") {
			t.Errorf("the last owner leaves: %s", body)
		}
		if _, body := dana.Send(members(slug, "/role"), "member", dana.Account().ID, "role", "viewer"); !strings.Contains(body, "A workspace needs an owner") {
			t.Errorf("the last owner steps down: %s", body)
		}
		if _, body := dana.Send(members(slug, "/transfer"), "member", erin.Account().ID); !strings.Contains(body, "no such member") {
			t.Errorf("to somebody from outside: %s", body)
		}
		erin.joins(dana, slug, "viewer")
		open := dana.invites(slug, "late@example.com", "owner")
		dana.Must("Workspace transferred.", members(slug, "/transfer"), "member", erin.Account().ID)
		if dana.role(slug) != identity.Editor || erin.role(slug) != identity.Owner {
			t.Errorf("dana is %s, erin %s", dana.role(slug), erin.role(slug))
		}
		w, err := s.Agents.DB.Read().WorkspaceBySlug(t.Context(), slug)
		if err != nil || w.OwnerID != erin.Account().ID {
			t.Errorf("the mail goes to %s, %v", w.OwnerID, err)
		}
		if status, _ := newPerson(t, s, "late@example.com").accept(open); status != http.StatusNotFound {
			t.Errorf("the invitation of a former owner works: %d", status)
		}
		if status, _ := dana.Send(members(slug, "/transfer"), "member", dana.Account().ID); status != http.StatusForbidden {
			t.Errorf("dana takes it back: %d", status)
		}
		dana.Must("Your workspaces", members(slug, "/leave"))
		if dana.role(slug) != "" {
			t.Error("dana is a member still")
		}
	})
}

// TestEditorsDoNotWidenKeys: an editor sets provider keys, and only an owner chooses their
// hosts; a viewer does neither, whatever page asks.
func TestEditorsDoNotWidenKeys(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "acme", "paid")
		for i, want := range [][2]bool{{}, {true, false}, {true, true}} {
			role := identity.Roles()[i]
			a := evals.Actor{Workspace: w, By: newPerson(t, s, string(role)+"@acme.dev").Account().ID, Role: role}
			set := func(hosts ...string) bool {
				_, err := s.Evals.SetProviderKey(t.Context(), a, evals.KeyChange{Name: "OPENAI_API_KEY", Value: "sk-12345678", Hosts: hosts})
				return err == nil
			}
			if set() {
				t.Errorf("an account that is not a member sets a key as %s", role)
			}
			s.Join(t, w, a.By, role)
			if got := [2]bool{set(), set("proxy.example")}; got != want {
				t.Errorf("%s: %v, want %v", role, got, want)
			}
			if _, _, err := s.Evals.CreateKey(t.Context(), a, evals.KeyRequest{}); (err == nil) != want[0] {
				t.Errorf("%s mints a key: %v", role, err)
			}
		}
	})
}

// agent registers an agent that the person claims, and returns its claim token, the slug of
// the workspace, and an access token.
func (p *person) agent() (claim, slug, token string) {
	p.T.Helper()
	var made struct {
		ClaimToken string `json:"claim_token"`
		Workspace  struct{ Slug string }
	}
	call(p.T, p.S, "/api/agent/identity", map[string]string{"type": "anonymous"}, &made)
	var asked struct {
		Claim struct {
			Code string `json:"user_code"`
			Link string `json:"verification_uri"`
		}
	}
	call(p.T, p.S, "/api/agent/identity/claim", map[string]string{"claim_token": made.ClaimToken, "email": p.Email}, &asked)
	p.Get(strings.TrimPrefix(asked.Claim.Link, p.S.URL))
	p.Must("The agent is linked", "/claim", "action", "authorize", "user_code", asked.Claim.Code)
	return made.ClaimToken, made.Workspace.Slug, exchange(p.T, p.S, made.ClaimToken)
}

func call(t *testing.T, s *servertest.Service, path string, in, out any) {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(s.URL+path, "application/json", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
}

// exchange returns an access token for a claim token, or "".
func exchange(t *testing.T, s *servertest.Service, claim string) string {
	t.Helper()
	resp, err := http.PostForm(s.URL+"/api/oauth2/token", url.Values{"grant_type": {"urn:example:agent-auth:grant-type:claim"}, "claim_token": {claim}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out.Token
}

// agentReads asks for the keys of a token's workspace.
func agentReads(t *testing.T, s *servertest.Service, token string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/agent/keys", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// TestWithoutMail: a server that writes mails to its log says so where a page would promise one.
func TestWithoutMail(t *testing.T) {
	s := servertest.New(t, servertest.Options{Server: withAlerts})
	dana := newPerson(t, s, "dana@example.com")
	slug := dana.Workspace("https://acme.dev")
	mailer, err := mail.Open("log:", "firstpick <a@firstpick.example>", slog.New(slog.DiscardHandler), func() string { return "x" })
	if err != nil {
		t.Fatal(err)
	}
	page := func(path string) string {
		_, body := dana.Get(path)
		return body
	}
	if body := page(members(slug, "")); !strings.Contains(body, "The link in the mail works once") || strings.Contains(body, "sends no mail") {
		t.Errorf("with mail: %s", body)
	}
	s.Agents.Outbox.Mailer = mailer
	if body := page(members(slug, "")); strings.Contains(body, "link in the mail") || strings.Contains(body, "Send invitation") || !strings.Contains(body, "This server sends no mail: the link is in its log, for the operator to pass on. It works once") {
		t.Errorf("members: %s", body)
	}
	if body := page("/workspaces/" + slug + "/settings"); !strings.Contains(body, "alerts by mail are in its log") || !strings.Contains(body, "Alerts about simulated agents say so") {
		t.Errorf("alerts: %s", body)
	}
	dana.Must("Invitation created. This server sends no mail: the link is in its log.", members(slug, "/invite"), "email", "kim@example.com", "role", "viewer")
}
