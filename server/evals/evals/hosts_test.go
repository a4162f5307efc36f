package evals_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// TestOnlyAnOwnerWidensAProviderKey: an eval key may replace a provider key, and choose
// fewer hosts; it may not have it sent anywhere else.
func TestOnlyAnOwnerWidensAProviderKey(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		owner, key := w.paid, w.paid
		key.Scopes = []string{evals.ScopeRead, evals.ScopeRun}
		const value = "sk-0123456789"
		for _, step := range []struct {
			what   string
			actor  evals.Actor
			change evals.KeyChange
			hosts  string // or the code of the error
		}{
			{"a new key is bound to its provider", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Value: value}, "api.anthropic.com"},
			{"a key does not widen it", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"api.anthropic.com", "evil.example"}}, "!access_denied"},
			{"nor with a value of its own", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Value: value, Hosts: []string{"evil.example"}}, "!access_denied"},
			{"nor another port", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"api.anthropic.com:8443"}}, "!access_denied"},
			{"an owner does", owner, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"proxy.example:8443", "API.anthropic.com"}}, "api.anthropic.com proxy.example:8443"},
			{"a key that is replaced stays bound", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Value: value + "1"}, "api.anthropic.com proxy.example:8443"},
			{"a key narrows it", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"proxy.example:8443"}}, "proxy.example:8443"},
			{"and does not widen it again", key, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"api.anthropic.com"}}, "!access_denied"},
			{"an owner names the hosts of other keys", owner, evals.KeyChange{Name: "ACME_API_KEY", Value: value}, "!invalid_request"},
			{"a key stores it for nowhere", key, evals.KeyChange{Name: "ACME_API_KEY", Value: value}, ""},
			{"until an owner binds it", owner, evals.KeyChange{Name: "ACME_API_KEY", Hosts: []string{"api.acme.example"}}, "api.acme.example"},
			{"what is not there has no hosts", owner, evals.KeyChange{Name: "GONE_API_KEY", Hosts: []string{"api.acme.example"}}, "!not_found"},
			{"an address is not a host", owner, evals.KeyChange{Name: "ACME_API_KEY", Hosts: []string{"https://api.acme.example/v1"}}, "!invalid_request"},
			{"nor a pattern", owner, evals.KeyChange{Name: "ACME_API_KEY", Hosts: []string{"*.acme.example"}}, "!invalid_request"},
			{"nor a user", owner, evals.KeyChange{Name: "ACME_API_KEY", Hosts: []string{"a@acme.example"}}, "!invalid_request"},
			{"nothing", owner, evals.KeyChange{Name: "ACME_API_KEY", Hosts: []string{""}}, "!invalid_request"},
		} {
			k, err := w.SetProviderKey(t.Context(), step.actor, step.change)
			got := "!" + code(err)
			if err == nil {
				got = strings.Join(k.Hosts, " ")
			}
			if got != step.hosts {
				t.Errorf("%s: %q, want %q (%v)", step.what, got, step.hosts, err)
			}
		}
	})
}

// TestAnEvalThatSendsAKeyElsewhere is refused when it is stored, and when it is run: the
// key may have been set, or bound to fewer hosts, since.
func TestAnEvalThatSendsAKeyElsewhere(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		key := w.paid
		key.Scopes = []string{evals.ScopeRead, evals.ScopeRun}
		stolen, mine := "stolen ANTHROPIC_API_KEY@evil.example", "mine ANTHROPIC_API_KEY@api.anthropic.com"
		before := w.put(t, key, stolen) // no key is set yet
		if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Value: "sk-ant-0123456789"}); err != nil {
			t.Fatal(err)
		}
		const why = "The provider key ANTHROPIC_API_KEY may not be sent to evil.example: it is bound to api.anthropic.com."
		told := func(what string, err error, codes ...string) {
			t.Helper()
			text := ""
			if err != nil {
				text = apierr.Of(err).Description
			}
			for _, i := range evals.Issues(err) {
				text += i.Message
			}
			if !slices.Contains(codes, code(err)) || !strings.Contains(text, why) {
				t.Errorf("%s: %q %v", what, text, err)
			}
		}
		_, _, err := w.Start(t.Context(), key, evals.StartRequest{EvalID: before.ID, BudgetUSD: 1})
		told("run", err, "provider_key_hosts")
		_, _, _, err = w.Put(t.Context(), key, []byte(stolen))
		told("store", err, "invalid_eval")
		_, err = w.Check(t.Context(), key, []byte(stolen))
		told("check", err, "invalid_eval")
		w.start(t, key, evals.StartRequest{EvalID: w.put(t, key, mine).ID, BudgetUSD: 1})
		if _, err := w.SetProviderKey(t.Context(), w.paid, evals.KeyChange{Name: "ANTHROPIC_API_KEY", Hosts: []string{"api.anthropic.com", "evil.example"}}); err != nil {
			t.Fatal(err)
		}
		w.start(t, key, evals.StartRequest{EvalID: before.ID, BudgetUSD: 1})
	})
}

// TestHostsOfAddresses: an address and what a key is bound to meet in one form.
func TestHostsOfAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.openai.com/v1":                "api.openai.com",
		"https://API.OpenAI.com.:443/v1":           "api.openai.com",
		"https://api.openai.com:8443":              "api.openai.com:8443",
		"http://api.openai.com/v1":                 "api.openai.com:80",
		"https://api.openai.com@evil.example/v1":   "evil.example",
		"https://evil.example/api.openai.com":      "evil.example",
		"https://[2001:db8::1]:8443/v1":            "[2001:db8::1]:8443",
		"https://api.openai.com.evil.example/v1":   "api.openai.com.evil.example",
		"https://evil.example#@api.openai.com/v1":  "evil.example",
		"https://evil.example?@api.openai.com/v1":  "evil.example",
		"https://evil.example\\@api.openai.com/v1": "",
		"/v1": "",
	} {
		if got, err := evals.KeyHost(address); got != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q, want %q (%v)", address, got, want, err)
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"} {
		if hosts := evals.DefaultHosts(name); len(hosts) != 1 || slices.Contains(hosts, "") {
			t.Errorf("%s: %v", name, hosts)
		}
	}
	if hosts := evals.DefaultHosts("ACME_API_KEY"); hosts != nil {
		t.Errorf("%v", hosts)
	}
}
