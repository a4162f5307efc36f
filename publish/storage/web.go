package storage

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// A Web reads the published files of a server: a snapshot's files are below
// /snapshots/ID/, the id of the current snapshot is at /snapshots/current, and the log is
// below /log/.
//
// Requests that fail for a passing reason (429, 5xx, a broken connection) are sent again, at
// most three times for each file; what was read of it is kept. A server that sends nothing
// for 30 seconds is given up, and so is one whose files take more than two hours together.
type Web struct {
	base   *url.URL
	client *http.Client
	now    func() time.Time
	end    func() time.Time // of all reading; it begins with the first request
}

// The limits of a Web.
const (
	maxWebFile  = 8 << 30 // bytes
	idleTimeout = 30 * time.Second
	webTimeout  = 2 * time.Hour
)

var (
	errIdle = fmt.Errorf("the server sent nothing for %s", idleTimeout)
	errSlow = fmt.Errorf("the files of the server take more than %s; copy them to a folder and check that", webTimeout)
)

// NewWeb returns the files of the server at an http or https address, over a transport; nil
// stands for http.DefaultTransport.
func NewWeb(address string, transport http.RoundTripper, now func() time.Time) (*Web, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return nil, fmt.Errorf("the address of a server is https://HOST or http://HOST (got %q)", address)
	}
	w := &Web{base: u, now: now, end: sync.OnceValue(func() time.Time { return now().Add(webTimeout) })}
	w.client = &http.Client{Transport: transport, CheckRedirect: w.follow}
	return w, nil
}

// follow accepts redirects within the server.
func (w *Web) follow(r *http.Request, via []*http.Request) error {
	switch {
	case len(via) > 5:
		return refusal("more than 5 redirects")
	case r.URL.Scheme == w.base.Scheme && r.URL.Host == w.base.Host:
		return nil
	case w.base.Scheme == "http" && r.URL.Scheme == "https" && r.URL.Hostname() == w.base.Hostname():
		there := url.URL{Scheme: r.URL.Scheme, Host: r.URL.Host, Path: strings.TrimSuffix(w.base.Path, "/")}
		return refusal("the server redirects to https; give " + there.String())
	}
	return refusal("redirect to another host: " + r.URL.Redacted())
}

// String is the address of the server.
func (w *Web) String() string { return strings.TrimSuffix(w.base.String(), "/") }

func (w *Web) url(name string) string {
	if !strings.HasPrefix(name, "log/") {
		name = "snapshots/" + name
	}
	return w.base.JoinPath(strings.Split(name, "/")...).String()
}
