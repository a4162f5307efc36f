package evalwork

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider"
	"github.com/firstpick/firstpick/server/evals"
	"github.com/firstpick/firstpick/server/state"
)

// destination is the host that an agent's key goes to, as keys are bound to it; empty
// where it is not known.
func destination(a eval.Agent) string {
	address := a.BaseURL
	switch {
	case a.IsModel():
		address = provider.BaseURL(a)
	case a.IsProgram() && address == "":
		return cliagent.Host(a)
	}
	host, err := evals.KeyHost(address)
	if err != nil {
		return ""
	}
	return host
}

// key returns a key of the workspace for a host, if it is bound to it: an eval may pair
// any key with any address. A key that is not set is empty.
func (j *job) key(name, host string) (string, error) {
	s := j.secrets[name]
	if s.Secret == "" || slices.Contains(s.Hosts, host) {
		return string(s.Secret), nil
	}
	return "", &verdict{evals.NotBound(name, host, s.Hosts)}
}

// A boundTransport sends no request that carries a key to a host which the key is not
// bound to, wherever the request comes from.
type boundTransport struct {
	http.RoundTripper
	secrets map[string]state.BoundSecret
}

// RoundTrip implements http.RoundTripper.
func (t *boundTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	host, err := evals.KeyHost(r.URL.String())
	if err != nil {
		return nil, err
	}
	for name, s := range t.secrets {
		if s.Secret != "" && !slices.Contains(s.Hosts, host) && carries(r, string(s.Secret)) {
			return nil, fmt.Errorf("the provider key %s is not bound to %s", name, host)
		}
	}
	return t.RoundTripper.RoundTrip(r)
}

// carries reports whether a request's headers or address hold a secret.
func carries(r *http.Request, secret string) bool {
	for _, values := range r.Header {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, secret) }) {
			return true
		}
	}
	return strings.Contains(r.URL.String(), secret)
}
