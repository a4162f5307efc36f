package members_test

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

// A rule is a route of a workspace with the lowest role that may use it. The forms are sent
// empty, so that those which are allowed change nothing.
type rule struct {
	method, path string
	need         identity.Role
}

func rules() []rule {
	var out []rule
	for need, lists := range map[identity.Role][2]string{
		identity.Viewer: {
			" /agents /agents/{agent} /pages /gaps /referrals /conversions /conversions/{id} /noise /install /first-event /settings/members" +
				" /evals /evals/catalog /evals/catalog/versions/{n} /evals/{eval} /evals/{eval}/versions/{n} /runs /runs/{run} /runs/{run}/events /runs/{run}/traces /runs/{run}/traces/{trial}" +
				" /runs/{run}/compare /runs/{run}/explain /runs/{run}/files/{name}", "/settings/members/leave",
		},
		identity.Editor: {
			"/settings /export /log /evals/new /evals/measure /evals/{eval}/edit /evals/{eval}/schedule /settings/evals",
			"/install /settings /settings/keys /settings/keys/revoke /settings/alerts/mail /settings/alerts/test /settings/webhooks /settings/webhooks/rotate" +
				" /settings/webhooks/remove /evals/catalog /evals/new /evals/measure /evals/{eval}/edit /evals/{eval}/runs /runs/{run}/cancel /settings/evals/keys /settings/evals/keys/revoke" +
				" /settings/evals/providers /settings/evals/providers/remove /settings/tool /evals/{eval}/erase /runs/{run}/erase" +
				" /evals/{eval}/schedule /evals/{eval}/schedule/pause /evals/{eval}/schedule/resume /evals/{eval}/schedule/runs /evals/{eval}/schedule/delete",
		},
		identity.Owner: {
			"", "/settings/erase /settings/delete /settings/members/invite /settings/members/resend /settings/members/withdraw /settings/members/role /settings/members/remove" +
				" /settings/members/transfer",
		},
	} {
		for i, method := range []string{http.MethodGet, http.MethodPost} {
			if lists[i] == "" {
				continue
			}
			for _, path := range strings.Split(lists[i], " ") {
				out = append(out, rule{method, path, need})
			}
		}
	}
	slices.SortFunc(out, func(a, b rule) int { return strings.Compare(order(a), order(b)) })
	return out
}

// order puts leaving last.
func order(r rule) string {
	if strings.HasSuffix(r.path, "/leave") {
		return "~"
	}
	return r.method + r.path
}

const below = "/workspaces/{slug}"

var hole = regexp.MustCompile(`\{(\w+)\}`)

// TestRolesAndRoutes holds each role to each route of its own workspace and of another's,
// on both stores. The table has every route.
func TestRolesAndRoutes(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			var routes []string
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine), Server: func(c *server.Config) {
				withAlerts(c)
				c.Count = func(all []string) func(string, string, int, time.Duration) {
					routes = all
					return func(string, string, int, time.Duration) {}
				}
			}})
			complete(t, routes)
			dana, erin := newPerson(t, s, "dana@example.com"), newPerson(t, s, "erin@example.com")
			slug, foreign := dana.Workspace("https://acme.dev"), erin.Workspace("https://other.dev")
			people := map[identity.Role]*person{identity.Owner: dana, "": erin}
			for _, role := range []identity.Role{identity.Viewer, identity.Editor} {
				people[role] = newPerson(t, s, string(role)+"@example.com")
				people[role].joins(dana, slug, string(role))
			}
			for _, r := range rules() {
				for role, p := range people {
					p.hold(r, slug, role)
					if role != "" {
						p.hold(r, foreign, "")
					}
				}
			}
			for role, want := range map[identity.Role]identity.Role{identity.Owner: identity.Owner, identity.Editor: "", identity.Viewer: ""} {
				if got := people[role].role(slug); got != want {
					t.Errorf("after leaving, the %s is %q", role, got)
				}
			}
		})
	}
}

// complete fails for a route of a workspace that the table lacks.
func complete(t *testing.T, routes []string) {
	t.Helper()
	listed := map[string]bool{}
	for _, r := range rules() {
		listed[below+r.path] = true
	}
	for _, path := range routes {
		if strings.HasPrefix(path, below) && !listed[path] {
			t.Errorf("the table of roles lacks %s", path)
		}
		delete(listed, path)
	}
	for path := range listed {
		t.Errorf("the table of roles has %s, which is no route", path)
	}
}

// hold sends a request as a member with a role; "" is somebody from outside.
func (p *person) hold(r rule, slug string, role identity.Role) {
	p.T.Helper()
	ask := func(slug string) (int, string) {
		path := strings.Replace(below, "{slug}", slug, 1) + hole.ReplaceAllString(r.path, "none")
		if r.method == http.MethodPost {
			return p.Send(path)
		}
		if strings.HasSuffix(path, "/first-event") { // a stream that does not end
			return p.head(path)
		}
		return p.Get(path)
	}
	status, body := ask(slug)
	outside, low := strings.Contains(body, "You have no such workspace"), strings.Contains(body, "Your role in this workspace is")
	switch {
	case role == "":
		missing, none := ask("no-such-0000")
		if status != http.StatusNotFound || missing != status || body != none {
			p.T.Errorf("%s %s from outside: %d, and %d where no workspace is; same page: %t", r.method, r.path, status, missing, body == none)
		}
	case !role.Includes(r.need):
		if status != http.StatusForbidden || !low {
			p.T.Errorf("%s %s as %s: %d, want 403: %s", r.method, r.path, role, status, body)
		}
	case outside || low || status == http.StatusForbidden || status >= 500 && status != http.StatusServiceUnavailable:
		p.T.Errorf("%s %s as %s: %d %s", r.method, r.path, role, status, body)
	}
}

// head asks for a page without waiting for its end.
func (p *person) head(path string) (int, string) {
	p.T.Helper()
	resp, err := p.HTTP.Get(p.S.URL + path)
	if err != nil {
		p.T.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return resp.StatusCode, ""
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		p.T.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
