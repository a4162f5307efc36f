package evalwork

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

// destination is the host that receives an agent's key, as in key bindings; empty if
// unknown.
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

// errUnbound ends the text of every error of a boundTransport, which identifies them.
var errUnbound = errors.New("the provider key in the request is not bound to this host")

// A boundTransport refuses any request with a key to a host that the key is not bound
// to, under all names of the host.
type boundTransport struct {
	http.RoundTripper
	secrets map[string]state.BoundSecret
}

// RoundTrip implements http.RoundTripper.
func (t *boundTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.check(r); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, err
	}
	return t.RoundTripper.RoundTrip(r)
}

func (t *boundTransport) check(r *http.Request) error {
	host, err := evals.KeyHost(r.URL.String())
	if err != nil {
		return err
	}
	bound := map[state.ProviderSecret]bool{} // under one of its names
	for _, s := range t.secrets {
		bound[s.Secret] = bound[s.Secret] || slices.Contains(s.Hosts, host)
	}
	for _, name := range slices.Sorted(maps.Keys(t.secrets)) {
		if secret := t.secrets[name].Secret; secret != "" && !bound[secret] && carries(r, string(secret)) {
			return fmt.Errorf("%s to %s: %w", name, host, errUnbound)
		}
	}
	return nil
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
