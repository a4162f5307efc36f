package dashboard_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/sitecheck"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/servertest"
)

// A desk is a server with its read model of events.
type desk struct {
	*servertest.Service
	events *trafficdb.DB
	looked string // the workspace whose site was looked at
	lists  ranges.Ages
}

func newDesk(t testing.TB, o servertest.Options) *desk {
	t.Helper()
	d := &desk{}
	var err error
	if d.events, err = trafficdb.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.events.Close() })
	set := o.Server
	o.Server = func(c *server.Config) {
		c.Reports = reporter.New(reporter.Config{DB: d.events, Now: c.Now, Site: func(_ context.Context, workspace string) (*sitecheck.Result, error) {
			if workspace != d.looked {
				return nil, nil
			}
			return &sitecheck.Result{
				Site: "https://acme.dev", At: c.Now().Add(-time.Hour), Robots: "User-agent: GPTBot\nDisallow: /docs/api\n", Problems: []string{"sitemap-2.xml answers 404."},
				Pages: []sitecheck.Page{{Host: "acme.dev", Path: "/docs/quickstart"}, {Host: "acme.dev", Path: "/docs/billing/invoices"}, {Host: "acme.dev", Path: "/security"}},
			}, nil
		}, Lists: func(time.Time) ranges.Ages { return d.lists }})
		c.Alerts = alert.New(alert.Config{
			DB: c.Agents.DB, Secrets: c.Agents.Secrets, Log: c.Log, Now: c.Now, BaseURL: c.BaseURL, Mail: c.Agents.Outbox.Put, Kick: c.Agents.Outbox.Kick,
			HTTP: safehttp.NewClient(safehttp.Limits{Timeout: alert.CallTimeout, Private: true}), Private: true, Jitter: func() float64 { return 0 },
		})
		if set != nil {
			set(c)
		}
	}
	d.Service = servertest.New(t, o)
	return d
}

// load puts rows into the read model.
func (d *desk) load(t testing.TB, rows ...trafficdb.Row) {
	t.Helper()
	mark, err := d.events.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		rows[i].Seq = mark + int64(i) + 1
	}
	if err := d.events.Append(t.Context(), rows, mark+int64(len(rows))); err != nil {
		t.Fatal(err)
	}
}

// An owner is a person with a browser and a workspace.
type owner struct {
	t     testing.TB
	d     *desk
	email string
	slug  string
	id    string // of the workspace
	http  *http.Client
}

// newBrowser returns a client that keeps cookies.
func newBrowser(t testing.TB) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

// newOwner makes a workspace as an agent does, signs its person in and claims it.
func newOwner(t testing.TB, d *desk, email string) *owner {
	t.Helper()
	o := &owner{t: t, d: d, email: email, http: newBrowser(t)}
	var made struct {
		ClaimToken string `json:"claim_token"`
		Workspace  struct{ Slug string }
	}
	o.api("/api/agent/identity", map[string]any{"type": "anonymous"}, &made)
	var asked struct {
		Claim struct {
			Code string `json:"user_code"`
			Link string `json:"verification_uri"`
		}
	}
	o.api("/api/agent/identity/claim", map[string]any{"claim_token": made.ClaimToken, "email": email}, &asked)
	o.signIn()
	o.get(strings.TrimPrefix(asked.Claim.Link, d.URL))
	if status, body := o.post("/claim", url.Values{"action": {"authorize"}, "user_code": {asked.Claim.Code}, "form_token": {o.formToken("/claim")}}); status != 200 || !strings.Contains(body, "The agent is linked") {
		t.Fatalf("claim: %d %s", status, body)
	}
	o.slug = made.Workspace.Slug
	w, err := d.Agents.DB.Read().WorkspaceBySlug(context.Background(), o.slug)
	if err != nil {
		t.Fatal(err)
	}
	o.id = w.ID
	return o
}

func (o *owner) api(path string, in, out any) {
	o.t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		o.t.Fatal(err)
	}
	resp, err := http.Post(o.d.URL+path, "application/json", strings.NewReader(string(data)))
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil || resp.StatusCode != http.StatusOK {
		o.t.Fatalf("%s: %d %v", path, resp.StatusCode, err)
	}
}

// signIn signs in by mail, and returns where that led.
func (o *owner) signIn() string {
	o.t.Helper()
	if status, body := o.post("/signin", url.Values{"email": {o.email}}); status != http.StatusOK {
		o.t.Fatalf("signin: %d %s", status, body)
	}
	resp, err := o.http.Get(o.d.Mail.Link(o.t, o.email, "Sign in"))
	if err != nil {
		o.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Request.URL.RequestURI()
}

// get returns the status and the page at a path, redirects followed.
func (o *owner) get(path string) (int, string) {
	o.t.Helper()
	resp, err := o.http.Get(o.d.URL + path)
	if err != nil {
		o.t.Fatal(err)
	}
	return read(o.t, resp)
}

func (o *owner) post(path string, form url.Values) (int, string) {
	o.t.Helper()
	resp, err := o.http.PostForm(o.d.URL+path, form)
	if err != nil {
		o.t.Fatal(err)
	}
	return read(o.t, resp)
}

func read(t testing.TB, resp *http.Response) (int, string) {
	t.Helper()
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

var tokenPattern = regexp.MustCompile(`name="form_token" value="([^"]+)"`)

// formToken returns the token of the forms of a page.
func (o *owner) formToken(path string) string {
	o.t.Helper()
	status, body := o.get(path)
	m := tokenPattern.FindStringSubmatch(body)
	if m == nil {
		o.t.Fatalf("%s has no form: %d %s", path, status, body)
	}
	return m[1]
}

// at returns the path of a page of the workspace.
func (o *owner) at(page string) string { return "/workspaces/" + o.slug + page }

// send posts a form of the settings.
func (o *owner) send(path string, form url.Values) (int, string) {
	o.t.Helper()
	form.Set("form_token", o.formToken(o.at("/settings")))
	return o.post(o.at("/settings"+path), form)
}
