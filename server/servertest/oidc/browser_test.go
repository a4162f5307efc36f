package oidc_test

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/auth/signin"
	"github.com/firstpick/firstpick/server/servertest"
)

// clientTimeout is how long a browser waits: an answer that takes longer hangs.
const clientTimeout = 8 * time.Second

// start starts a server at which people sign in at a provider.
func start(t *testing.T) (*servertest.Service, *provider) {
	t.Helper()
	return startWith(t, &http.Client{})
}

func startWith(t *testing.T, client *http.Client) (*servertest.Service, *provider) {
	t.Helper()
	return startOn(t, "", client)
}

// startOn starts a server on a store; an empty address makes one.
func startOn(t *testing.T, store string, client *http.Client) (*servertest.Service, *provider) {
	t.Helper()
	var s *servertest.Service
	p := startProvider(t, func() time.Time { return s.Clock.Now() })
	client.Transport = http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(client.CloseIdleConnections)
	s = servertest.New(t, servertest.Options{State: store, Server: func(c *server.Config) {
		c.Providers = []*signin.Provider{
			{ID: "acme", Name: "Acme", Issuer: p.URL, ClientID: clientID, ClientSecret: clientSecret, HTTP: client},
			{ID: "other", Name: "Other", Issuer: p.URL, ClientID: clientID, ClientSecret: clientSecret, HTTP: client},
		}
	}})
	p.with(func() { p.redirect = s.URL + "/signin/oidc/acme/callback" })
	return s, p
}

// A browser keeps cookies and follows redirects one by one.
type browser struct {
	t      *testing.T
	s      *servertest.Service
	client *http.Client
}

func newBrowser(t *testing.T, s *servertest.Service) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, s, &http.Client{
		Jar: jar, Timeout: clientTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// A page is what the browser shows in the end.
type page struct {
	status int
	url    string
	body   string
	header http.Header
	trail  []string // the addresses on the way, the last one included
}

// path returns where a page of the server lies.
func (p page) path() string {
	u, err := url.Parse(p.url)
	if err != nil {
		return p.url
	}
	return u.Path
}

// main is what the page says.
func (p page) main() string {
	_, rest, _ := strings.Cut(p.body, "<h1>")
	text, _, _ := strings.Cut(rest, "</div>")
	return text
}

// step opens one address and follows nothing.
func (b *browser) step(address string) page {
	b.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = b.s.URL + address
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Sec-Fetch-Site", "cross-site") // as after a link of another site
	resp, err := b.client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return page{resp.StatusCode, address, html.UnescapeString(string(data)), resp.Header, []string{address}}
}

// next returns where a redirect leads, "" where there is none.
func (p page) next(t *testing.T) string {
	t.Helper()
	to := p.header.Get("Location")
	if to == "" {
		return ""
	}
	from, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	u, err := from.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// visit opens an address and follows redirects to the end.
func (b *browser) visit(address string) page {
	b.t.Helper()
	at := b.step(address)
	for range 10 {
		to := at.next(b.t)
		if to == "" {
			return at
		}
		trail := at.trail
		at = b.step(to)
		at.trail = append(trail, at.url)
	}
	b.t.Fatal("the redirects have no end: " + strings.Join(at.trail, " "))
	return page{}
}

// leave goes to the provider and returns the address that it sends back to.
func (b *browser) leave(address string) string {
	b.t.Helper()
	out := b.step(address)
	if out.status != http.StatusSeeOther {
		b.t.Fatalf("%s: %d %s", address, out.status, out.body)
	}
	back := b.step(out.next(b.t))
	if back.status != http.StatusFound {
		b.t.Fatalf("the provider answers %d %s", back.status, back.body)
	}
	return back.next(b.t)
}

// who returns the address that the browser is signed in as, or "".
func (b *browser) who() string {
	b.t.Helper()
	at := b.visit("/agents")
	if at.path() != "/agents" {
		return ""
	}
	_, rest, ok := strings.Cut(at.body, "Agents that act for ")
	email, _, end := strings.Cut(rest, ". ")
	if at.status != http.StatusOK || !ok || !end {
		b.t.Fatalf("the list of agents: %d %s", at.status, at.body)
	}
	return email
}

// refused fails unless a page is of this status, says this, and nobody is signed in.
func (b *browser) refused(p page, status int, words string) {
	b.t.Helper()
	if p.status != status || !strings.Contains(p.body, words) {
		b.t.Errorf("%s answers %d, want %d and %q: %s", p.path(), p.status, status, words, p.main())
	}
	if got := p.header.Get("Cache-Control"); got != "no-store" {
		b.t.Errorf("Cache-Control is %q", got)
	}
	if got := p.header.Get("Referrer-Policy"); got != "no-referrer" {
		b.t.Errorf("Referrer-Policy is %q: the code of the address is sent on", got)
	}
	if who := b.who(); who != "" {
		b.t.Errorf("the browser is signed in as %s", who)
	}
}
