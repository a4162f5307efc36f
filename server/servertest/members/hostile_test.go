package members_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestInvitationsThatDoNotWork: used, withdrawn, resent, expired, made up, for another
// address: each is answered like the others, and the workspace is not named.
func TestInvitationsThatDoNotWork(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, kim, eve := newPerson(t, s, "dana@example.com"), newPerson(t, s, "kim@example.com"), newPerson(t, s, "eve@example.com")
		slug := dana.Workspace("https://acme.dev")
		refused := func(why string, p *person, link string) {
			t.Helper()
			for _, see := range []func() (int, string){func() (int, string) { return p.Get(link) }, func() (int, string) { return p.accept(link) }} {
				status, body := see()
				if status != http.StatusNotFound || !strings.Contains(body, "This invitation does not work") || strings.Contains(body, slug) || strings.Contains(body, "acme") {
					t.Errorf("%s: %d %s", why, status, body)
				}
			}
			if got := p.role(slug); got != "" {
				t.Errorf("%s: %s is %s", why, p.Email, got)
			}
		}
		id := func() string {
			t.Helper()
			_, list, err := s.Agents.Members(t.Context(), dana.Account(), slug)
			if err != nil || len(list) != 1 {
				t.Fatalf("%d invitations, %v", len(list), err)
			}
			return list[0].ID
		}
		refused("made up", kim, "/invitations?token=inv_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
		refused("empty", kim, "/invitations?token=")

		nobody := &person{servertest.NewPerson(t, s, "nobody@example.com")}
		nobody.Send("/signout")
		if _, body := nobody.Get("/invitations?token=inv_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"); !strings.Contains(body, "Sign in with the invited address to see the invitation.") || strings.Contains(body, "acme") {
			t.Errorf("a made-up link before signing in: %s", body)
		}

		link := dana.invites(slug, kim.Email, "viewer")
		refused("another account", eve, link)
		refused("the sender", dana.other(), link)
		if _, body := dana.Send(members(slug, "/invite"), "email", "KIM@example.com ", "role", "owner"); !strings.Contains(body, "invited already") {
			t.Errorf("invited twice: %s", body)
		}
		dana.Must("Invitation sent again.", members(slug, "/resend"), "invitation", id())
		refused("sent again", kim, link)
		dana.Must("Invitation withdrawn.", members(slug, "/withdraw"), "invitation", id())
		refused("withdrawn", kim, strings.TrimPrefix(s.Mail.Link(t, kim.Email, subject), s.URL))

		link = dana.invites(slug, kim.Email, "viewer")
		_, token, _ := strings.Cut(link, "token=")
		if status, body := kim.Post("/invitations", "token", token, "do", "accept"); status != http.StatusForbidden || kim.role(slug) != "" {
			t.Errorf("without a form token: %d %s", status, body)
		}
		s.Clock.Add(registrations.InvitationLife)
		kim.SignIn()
		dana.SignIn()
		refused("expired", kim, link)
		dana.Must("Invitation sent again.", members(slug, "/resend"), "invitation", id())
		link = strings.TrimPrefix(s.Mail.Link(t, kim.Email, subject), s.URL)
		if status, _ := kim.accept(link); status != http.StatusOK || kim.role(slug) != identity.Viewer {
			t.Errorf("sent again after it expired: %d, %s", status, kim.role(slug))
		}
		dana.Must("Member removed.", members(slug, "/remove"), "member", kim.Account().ID)
		refused("used", kim, link)

		link = dana.invites(slug, kim.Email, "viewer")
		_, token, _ = strings.Cut(link, "token=")
		kim.Must("Invitation declined", "/invitations", "token", token, "do", "decline")
		refused("declined", kim, link)
	})
}

// other returns the same person in another workspace's shoes: one who owns nothing here.
func (p *person) other() *person { return newPerson(p.T, p.S, "other-"+p.Email) }

// TestInvitationsFollowTheAccount: a user of an identity provider is the account of the
// first sign-in, whatever address the provider names later.
func TestInvitationsFollowTheAccount(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana := newPerson(t, s, "dana@example.com")
		slug := dana.Workspace("https://acme.dev")
		_, token, _ := strings.Cut(dana.invites(slug, "kim@example.com", "editor"), "token=")
		user := registrations.ProviderUser{ISS: "https://idp.example", Sub: "u1", Email: "eve@example.com", Verified: true}
		for _, email := range []string{"eve@example.com", "kim@example.com"} {
			user.Email = email
			a, err := s.Agents.SignInProvider(t.Context(), caller(), user, "oidc")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Agents.AnswerInvitation(t.Context(), caller(), a, token, true); apierr.Of(err).Status != http.StatusNotFound {
				t.Errorf("the provider says %s: %v", email, err)
			}
		}
		kim, err := s.Agents.SignInProvider(t.Context(), caller(), registrations.ProviderUser{ISS: "https://idp.example", Sub: "u2", Email: "kim@example.com", Verified: true}, "oidc")
		if err != nil {
			t.Fatal(err)
		}
		unverified := *kim
		unverified.ID, unverified.VerifiedAt = "acc_asserted", time.Time{}
		if _, err := s.Agents.Invitation(t.Context(), &unverified, token); apierr.Of(err).Status != http.StatusNotFound {
			t.Errorf("an address on an issuer's word: %v", err)
		}
		if _, err := s.Agents.AnswerInvitation(t.Context(), caller(), kim, token, true); err != nil {
			t.Error(err)
		}
	})
}

// TestAddressesThatAreRefused: nothing but one address gets into the head of a mail.
func TestAddressesThatAreRefused(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	dana := newPerson(t, s, "dana@example.com")
	slug := dana.Workspace("https://acme.dev")
	sent := len(s.Mail.All(t, ""))
	for _, email := range []string{
		"", "kim", "kim@", "@acme.dev", "a@b", "kim@acme.dev\r\nBcc: all@acme.dev", "kim@acme.dev\nSubject: x", "kim@acme.dev, eve@acme.dev", "kim@acme.dev;eve@acme.dev",
		"Kim <kim@acme.dev>", "\"a b\"@acme.dev", "kim@[127.0.0.1]", "kim@acme.dev%0d%0aBcc:eve@acme.dev", "kim\u0000@acme.dev", "kim@ac\u202eme.dev", strings.Repeat("k", 300) + "@acme.dev",
	} {
		status, body := dana.Send(members(slug, "/invite"), "email", email, "role", "viewer")
		if status != http.StatusUnprocessableEntity && status != http.StatusBadRequest {
			t.Errorf("%q: %d %s", email, status, body)
		}
	}
	for _, role := range []string{"", "admin", "OWNER", "viewer "} {
		if status, _ := dana.Send(members(slug, "/invite"), "email", "kim@acme.dev", "role", role); status != http.StatusUnprocessableEntity {
			t.Errorf("role %q: %d", role, status)
		}
	}
	if got := len(s.Mail.All(t, "")); got != sent {
		t.Errorf("%d mails were sent", got-sent)
	}
	if _, body := dana.Send(members(slug, "/invite"), "email", "dana@EXAMPLE.com", "role", "viewer"); !strings.Contains(body, "a member already") {
		t.Errorf("a member is invited: %s", body)
	}
}

// TestManyInvitations: of 10,000 invitations a workspace keeps as many as it may have, and
// the error says what to do; a sender and a receiver have a limit of their own.
func TestManyInvitations(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana := newPerson(t, s, "dana@example.com")
		slug, sent := dana.Workspace("https://acme.dev"), 0
		a := dana.Account()
		for i := range 10_000 {
			err := s.Agents.Invite(t.Context(), caller(), a, slug, fmt.Sprintf("p%d@example.com", i), identity.Viewer)
			if err == nil {
				if sent++; sent == registrations.MaxMembers {
					break
				}
			} else if e := apierr.Of(err); e.Reason != "too_many_members" || !strings.Contains(e.Description, "at most 100 members and invitations") {
				t.Fatalf("invitation %d: %v", i+1, err)
			}
			if i > 200 && s.Agents.DB.Engine() == "postgres" {
				break // each refusal is a transaction
			}
		}
		if sent != registrations.MaxMembers-1 {
			t.Errorf("%d invitations were sent", sent)
		}
		if _, body := dana.Send(members(slug, "/invite"), "email", "one@example.com", "role", "viewer"); !strings.Contains(body, "Withdraw an invitation or remove a member first") {
			t.Errorf("the page: %s", body)
		}
	})
	s := servertest.New(t, servertest.Options{Limits: true})
	dana := newPerson(t, s, "dana@example.com")
	slug := dana.Workspace("https://acme.dev")
	dana.invites(slug, "kim@example.com", "viewer")
	_, list, err := s.Agents.Members(t.Context(), dana.Account(), slug)
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; ; n++ {
		err := s.Agents.ResendInvitation(t.Context(), caller(), dana.Account(), slug, list[0].ID)
		if e := apierr.Of(err); err != nil && (e.Status != http.StatusTooManyRequests || n != 11) || n > 11 {
			t.Fatalf("mail %d to one person: %v", n, err)
		} else if err != nil {
			break
		}
	}
}

// TestTwoAnswersAtOnce: a link that is used twice at the same moment makes one member, or
// none when it is withdrawn at that moment.
func TestTwoAnswersAtOnce(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana := newPerson(t, s, "dana@example.com")
		slug, a := dana.Workspace("https://acme.dev"), dana.Account()
		for i := range 10 {
			kim := newPerson(t, s, fmt.Sprintf("kim%d@example.com", i))
			_, token, _ := strings.Cut(dana.invites(slug, kim.Email, "viewer"), "token=")
			_, list, err := s.Agents.Members(t.Context(), a, slug)
			if err != nil {
				t.Fatal(err)
			}
			answer := func() error {
				_, err := s.Agents.AnswerInvitation(t.Context(), caller(), kim.Account(), token, true)
				return err
			}
			withdraw := func() error { return s.Agents.WithdrawInvitation(t.Context(), caller(), a, slug, list[0].ID) }
			errs := atOnce(answer, answer, withdraw)
			done := 0
			for _, err := range errs {
				if err == nil {
					done++
				} else if e := apierr.Of(err); e.Status >= 500 {
					t.Errorf("round %d: %v", i, err)
				}
			}
			if done != 1 || (kim.role(slug) != "") != (errs[2] != nil) {
				t.Errorf("round %d: %v, and the role is %q", i, errs, kim.role(slug))
			}
		}
	})
}

// TestTheLastTwoOwnersRemoveEachOther: whatever the order, one owner is left.
func TestTheLastTwoOwnersRemoveEachOther(t *testing.T) {
	servertest.OnBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, erin := newPerson(t, s, "dana@example.com"), newPerson(t, s, "erin@example.com")
		d, e := dana.Account(), erin.Account()
		ctx := t.Context()
		for i := range 20 {
			w, _, err := s.Agents.CreateOwnWorkspace(ctx, caller(), d, state.Settings{Site: fmt.Sprintf("https://n%d.dev", i)}, registrations.KeyRequest{})
			if err != nil {
				t.Fatal(err)
			}
			s.Join(t, w, e.ID, identity.Owner)
			errs := atOnce([][]func() error{
				{
					func() error { return s.Agents.RemoveMember(ctx, caller(), d, w.Slug, e.ID, true) },
					func() error { return s.Agents.RemoveMember(ctx, caller(), e, w.Slug, d.ID, true) },
				},
				{
					func() error { return s.Agents.Leave(ctx, caller(), d, w.Slug) },
					func() error { return s.Agents.Leave(ctx, caller(), e, w.Slug) },
				},
				{
					func() error { return s.Agents.SetRole(ctx, caller(), d, w.Slug, d.ID, identity.Viewer) },
					func() error { return s.Agents.SetRole(ctx, caller(), e, w.Slug, e.ID, identity.Viewer) },
				},
				{
					func() error { return s.Agents.Transfer(ctx, caller(), d, w.Slug, e.ID) },
					func() error { return s.Agents.Transfer(ctx, caller(), e, w.Slug, d.ID) },
				},
			}[i%4]...)
			both := i%4 == 3 // one transfers, then the other gives it back
			if errs[0] != nil && errs[1] != nil || !both && errs[0] == nil && errs[1] == nil || errors.Join(errs...) != nil && apierr.Of(errors.Join(errs...)).Status >= 500 {
				t.Errorf("round %d: %v", i, errs)
			}
			list, err := s.Agents.DB.Read().Members(ctx, w.ID)
			if err != nil {
				t.Fatal(err)
			}
			var owners []string
			for _, m := range list {
				if m.Role == identity.Owner {
					owners = append(owners, m.AccountID)
				}
			}
			after, err := s.Agents.DB.Read().Workspace(ctx, w.ID)
			if err != nil || len(owners) != 1 || after.OwnerID != owners[0] {
				t.Errorf("round %d: owners %v, mail to %s, %v", i, owners, after.OwnerID, err)
			}
		}
	})
}

// atOnce runs functions at the same time.
func atOnce(run ...func() error) []error {
	errs := make([]error, len(run))
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i, f := range run {
		wg.Go(func() {
			<-start
			errs[i] = f()
		})
	}
	close(start)
	wg.Wait()
	return errs
}
