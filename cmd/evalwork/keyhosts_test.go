package evalwork_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/cmd/evalwork"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/state"
)

// A thief is a server of somebody who wants keys. It redirects to another of them.
type thief struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newThief(t *testing.T, to string) *thief {
	t.Helper()
	f := &thief{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		for name, values := range r.Header {
			f.seen = append(f.seen, name+": "+strings.Join(values, " "))
		}
		f.mu.Unlock()
		if to != "" {
			http.Redirect(w, r, to+r.URL.Path, http.StatusTemporaryRedirect)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *thief) saw(secret string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Contains(strings.Join(f.seen, "\n"), secret)
}

// TestAnEvalCannotSendAKeyToItsOwnAddress: somebody who may write evals names any key and
// any address. The worker sends a key to the hosts that it is bound to, and nowhere
// else, even where nobody looked before.
func TestAnEvalCannotSendAKeyToItsOwnAddress(t *testing.T) {
	const secret = "sk-ant-sealed-key-of-the-owner-000"
	for _, kind := range []string{"openai-chat", "openai-responses", "anthropic", "gemini", "ollama"} {
		t.Run(kind, func(t *testing.T) {
			onBoth(t, func(t *testing.T, w *world) {
				f := newThief(t, "")
				w.key("ANTHROPIC_API_KEY", secret)
				id := w.queue(asked(1, "{name: a, kind: "+kind+", base_url: '"+f.URL+"', model: m, api_key_env: ANTHROPIC_API_KEY, max_tokens: 20, price: {input_per_mtok: 1, output_per_mtok: 1}}"), 1)
				w.start()
				r := w.ended(id)
				if f.saw(secret) {
					t.Fatal("the key was sent")
				}
				if r.Status != state.RunFailed || !strings.Contains(r.Failure, "ANTHROPIC_API_KEY may not be sent to 127.0.0.1:") || !strings.Contains(r.Failure, "it is bound to api.anthropic.com") {
					t.Errorf("%+v", r)
				}
			})
		})
	}
}

// TestRedirectsCarryNoKey: a host that a key is bound to cannot hand it on.
func TestRedirectsCarryNoKey(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := newThief(t, "")
		door := newThief(t, f.URL)
		id := w.queue(asked(1, model("a", door.URL)), 1)
		w.start()
		if r := w.ended(id); r.Status != state.RunFailed || !door.saw(theKey) || f.saw(theKey) || len(f.seen) > 0 {
			t.Errorf("%+v; the other host saw %v", r, f.seen)
		}
	})
}

// TestAKeyOfTwoNames: what is stored under two names is sent to the hosts of both.
func TestAKeyOfTwoNames(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := fake(t, providertest.Always(answered()))
		w.key("ANTHROPIC_API_KEY", theKey)
		w.key("OPENAI_API_KEY", theKey)
		id := w.queue(asked(5, model("a", f.URL)), 1)
		w.start()
		if r := w.ended(id); r.Status != state.RunDone || r.Valid != 5 {
			t.Errorf("%+v", r)
		}
	})
}

// TestAKeyInAnAddressClosesTheAgent: a request that would carry a key elsewhere is not
// sent, and none like it is tried again.
func TestAKeyInAnAddressClosesTheAgent(t *testing.T) {
	const secret = "sk-ant-sealed-key-of-the-owner-000"
	onBoth(t, func(t *testing.T, w *world) {
		f := newThief(t, "")
		w.key("ANTHROPIC_API_KEY", secret)
		id := w.queue(asked(5, model("a", f.URL+"/"+secret)), 1)
		w.start()
		r := w.ended(id)
		if r.Status != state.RunFailed || !strings.Contains(r.Failure, "unbound_key") || !strings.Contains(r.Failure, "ANTHROPIC_API_KEY") || strings.Contains(r.Failure, secret) || len(f.seen) > 0 || r.AtMostMicros != 0 {
			t.Errorf("%+v; the host saw %v", r, f.seen)
		}
		for trial, n := range w.records(id, journal.KindAttempt) {
			if n != 1 {
				t.Errorf("trial %s was tried %d times", trial, n)
			}
		}
	})
}

// TestAKeyWithoutHostsIsNotUsed: a key of a name that belongs to nobody waits for its
// owner.
func TestAKeyWithoutHostsIsNotUsed(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		f := newThief(t, "")
		id := w.queue(asked(1, model("a", f.URL)), 1)
		w.write(func(tx *state.Tx) error {
			return tx.BindProviderKey(t.Context(), workspaceID, "FAKE_API_KEY", nil, time.Now())
		})
		w.start()
		if r := w.ended(id); r.Status != state.RunFailed || f.saw(theKey) || !strings.Contains(r.Failure, "it is bound to no host. An owner of the workspace can bind it") {
			t.Errorf("%+v", r)
		}
	})
}

// TestACheckTellsWhereKeysGo: a server knows without asking anybody.
func TestACheckTellsWhereKeysGo(t *testing.T) {
	c := newChecker(t, evalwork.Policy{Programs: true})
	checked, issues := c.Check([]byte(asked(1,
		"{name: a, kind: openai-responses, model: gpt-5.2}",
		"{name: b, kind: openai-chat, base_url: 'https://proxy.example:8443/v1', api_key_env: OPENAI_API_KEY, model: m, max_tokens: 20, price: {input_per_mtok: 1, output_per_mtok: 1}}",
		"{name: c, kind: claude-code, model: claude-sonnet-4-5, trial_cost_usd: 1}",
	)))
	if len(issues) > 0 {
		t.Fatalf("%+v", issues)
	}
	want := map[string]string{"OPENAI_API_KEY": "api.openai.com proxy.example:8443", "ANTHROPIC_API_KEY": "api.anthropic.com"}
	for name, hosts := range want {
		if got := strings.Join(checked.KeyHosts[name], " "); got != hosts {
			t.Errorf("%s: %q, want %q", name, got, hosts)
		}
	}
	if len(checked.KeyHosts) != len(want) {
		t.Errorf("%v", checked.KeyHosts)
	}
	for name, hosts := range checked.KeyHosts { // by default a key may be sent to its provider
		if d := evals.DefaultHosts(name); d[0] != hosts[0] {
			t.Errorf("%s is bound to %v, and sent to %v", name, d, hosts)
		}
	}
}
