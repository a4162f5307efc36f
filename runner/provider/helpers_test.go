package provider

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider/providertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretKey = "sk-very-secret"

var update = flag.Bool("update", false, "rewrite the golden files")

// formats are the kinds of class model, with the paths of their default addresses.
var formats = func() (all []struct{ kind, base string }) {
	for _, k := range eval.Kinds() {
		if k.Class != eval.ClassModel {
			continue
		}
		u, err := url.Parse(k.BaseURL)
		if err != nil {
			panic(err)
		}
		all = append(all, struct{ kind, base string }{k.Name, u.Path})
	}
	return all
}()

// golden compares a text with a file of testdata.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (rewrite it with: go test ./runner/provider -update): -want +got\n%s", path, d)
	}
}

// TestKindsHaveCode compares eval.Kinds with the code of this package.
func TestKindsHaveCode(t *testing.T) {
	for _, f := range formats {
		if k, ok := kindOf(f.kind); !ok || k.codec == nil {
			t.Errorf("the kind %s has no codec: add its row to kinds in provider.go", f.kind)
		}
	}
	for name := range kinds() {
		if k, ok := eval.KindNamed(name); !ok || k.Class != eval.ClassModel {
			t.Errorf("the codec of %s has no kind of class model in eval.Kinds", name)
		}
	}
}

// serve starts a server that follows the script, and an agent of a kind that asks it.
func serve(t testing.TB, kind string, script providertest.Script, change func(*eval.Agent)) (*providertest.Server, *client) {
	t.Helper()
	s := providertest.New(script)
	t.Cleanup(s.Close)
	base := ""
	for _, f := range formats {
		if f.kind == kind {
			base = f.base
		}
	}
	a := eval.Agent{Name: "a", Kind: kind, BaseURL: s.URL + base, Model: "m-1", APIKeyEnv: "KEY"}
	if change != nil {
		change(&a)
	}
	return s, build(t, a, http.DefaultTransport.(*http.Transport).Clone())
}

func build(t testing.TB, a eval.Agent, transport http.RoundTripper) *client {
	t.Helper()
	if tr, ok := transport.(*http.Transport); ok {
		t.Cleanup(tr.CloseIdleConnections)
	}
	made, err := New(a, Deps{Client: &http.Client{Transport: transport}, Getenv: func(string) string { return secretKey + "\n" }})
	if err != nil {
		t.Fatal(err)
	}
	return made.(*client)
}

// detour brings requests for any host to a server of the test.
type detour struct {
	to   string
	next *http.Transport
}

func (d detour) RoundTrip(r *http.Request) (*http.Response, error) {
	u, err := url.Parse(d.to)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = u.Scheme, u.Host
	return d.next.RoundTrip(r)
}

func askIt(t testing.TB, a agent.Agent, prompt string) (agent.Reply, *agent.InfraError) {
	t.Helper()
	reply, err := a.Ask(context.Background(), agent.Task{Prompt: prompt})
	var infra *agent.InfraError
	if err != nil && !errors.As(err, &infra) {
		t.Fatal(err)
	}
	return reply, infra
}
