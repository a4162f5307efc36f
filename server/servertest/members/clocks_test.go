package members_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// on is the person with the cookies of their browser on another server of the same store.
func (p *person) on(s *servertest.Service) *person {
	return &person{&servertest.Person{T: p.T, S: s, Email: p.Email, HTTP: p.HTTP}}
}

// sees reports whether a person sees a workspace.
func (p *person) sees(slug string) bool {
	p.T.Helper()
	status, body := p.Get("/workspaces/" + slug + "/settings/members")
	return status == http.StatusOK && strings.Contains(body, "<h1") && strings.Contains(body, slug)
}

// actor is the owner of a workspace.
func (p *person) actor(slug string) evals.Actor {
	p.T.Helper()
	w, err := p.S.Agents.DB.Read().WorkspaceBySlug(p.T.Context(), slug)
	if err != nil {
		p.T.Fatal(err)
	}
	return servertest.Owner(w)
}

// listed returns the status of the list of evals for a key.
func listed(t *testing.T, s *servertest.Service, key string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v1/evals", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// TestClocksOfTwoServersJump: two servers on one store, of which one's clock jumps by a year,
// both ways. What expires does so by the clock of the server that is asked, and what was
// used, withdrawn, removed, revoked or ended stays so by every clock.
func TestClocksOfTwoServersJump(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			address := statetest.Address(t, engine)
			a, b := servertest.New(t, servertest.Options{State: address, Server: withAlerts}), servertest.New(t, servertest.Options{State: address, Server: withAlerts})
			everywhen := func(check func(when string)) {
				t.Helper()
				for _, jump := range []time.Duration{year, -year, -year, year} { // ahead, level, behind, level
					b.Clock.Add(jump)
					check(b.Clock.Now().Format(time.DateOnly))
				}
			}
			dana, frank, gail := newPerson(t, a, "dana@example.com"), newPerson(t, a, "frank@example.com"), newPerson(t, a, "gail@example.com")
			slug := dana.Workspace("https://acme.dev")
			if err := a.Agents.SetPlan(t.Context(), nil, slug, state.PlanPaid); err != nil {
				t.Fatal(err)
			}
			link, withdrawn := dana.invites(slug, frank.Email, "editor"), dana.invites(slug, gail.Email, "viewer")
			_, body := dana.Get(members(slug, ""))
			at := strings.Index(body, gail.Email)
			_, id, _ := strings.Cut(body[at:], `name="invitation" value="`)
			id, _, _ = strings.Cut(id, `"`)
			dana.Must("", members(slug, "/withdraw"), "invitation", id)
			if !dana.on(b).sees(slug) {
				t.Fatal("a session of one server does not hold on the other")
			}

			b.Clock.Add(year)
			if dana.on(b).sees(slug) {
				t.Error("a session is open after a year")
			}
			if _, body := frank.on(b).Get(link); strings.Contains(body, "Accept") {
				t.Error("an invitation is open after a year")
			}
			b.Clock.Add(-year)
			if !dana.on(b).sees(slug) {
				t.Error("a clock that was ahead ended the session of another server")
			}
			if status, body := frank.on(b).accept(link); status != http.StatusOK || !strings.Contains(body, "You are a member") {
				t.Fatalf("accept: %d %s", status, body)
			}
			if got := frank.role(slug); got != identity.Editor {
				t.Fatalf("the role is %q", got)
			}
			everywhen(func(when string) {
				for _, s := range []*servertest.Service{a, b} {
					fresh := newPerson(t, s, gail.Email)
					if _, body := fresh.accept(withdrawn); strings.Contains(body, "You are a member") {
						t.Errorf("%s: a withdrawn invitation was accepted", when)
					}
					if _, body := fresh.accept(link); strings.Contains(body, "You are a member") {
						t.Errorf("%s: an invitation was accepted by somebody else", when)
					}
				}
			})

			key, token, err := a.Evals.CreateKey(t.Context(), dana.actor(slug), evals.KeyRequest{Label: "ci"})
			if err != nil {
				t.Fatal(err)
			}
			if status := listed(t, b, token); status != http.StatusOK {
				t.Fatalf("an eval key on the other server: %d", status)
			}
			dana.Must("", members(slug, "/remove"), "member", frank.Account().ID, "keys", "1")
			if err := a.Evals.RevokeKey(t.Context(), dana.actor(slug), key.ID); err != nil {
				t.Fatal(err)
			}
			session := dana.on(b)
			dana.Must("", "/signout")
			everywhen(func(when string) {
				if session.sees(slug) {
					t.Errorf("%s: a session that was signed out is open", when)
				}
				if newPerson(t, b, frank.Email).sees(slug) {
					t.Errorf("%s: a removed member is back", when)
				}
				if status := listed(t, b, token); status != http.StatusUnauthorized {
					t.Errorf("%s: a revoked eval key: %d", when, status)
				}
			})
		})
	}
}

// TestClockAheadDeletesNothing: the housekeeping of a server whose clock is a year ahead for
// some minutes deletes nothing that others still use.
func TestClockAheadDeletesNothing(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine)})
			dana := newPerson(t, s, "dana@example.com")
			slug := dana.Workspace("https://acme.dev")
			s.Clock.Add(365 * 24 * time.Hour)
			ctx, cancel := context.WithCancel(t.Context())
			tick, done := make(chan time.Time), make(chan struct{})
			go func() { defer close(done); s.Agents.Run(ctx, tick) }()
			for range 3 {
				tick <- s.Clock.Now() // is taken when the turn before has ended
			}
			cancel()
			<-done
			s.Clock.Add(-365 * 24 * time.Hour)
			if !dana.sees(slug) {
				t.Error("the session is gone")
			}
		})
	}
}
