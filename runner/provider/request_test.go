package provider

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/provider/providertest"
)

// changes set one field each that decides what is sent.
var changes = map[string]func(*eval.Agent){
	"max_tokens":  func(a *eval.Agent) { a.MaxTokens = 64 },
	"temperature": func(a *eval.Agent) { a.Temperature = new(0.0) },
	"seed":        func(a *eval.Agent) { a.Seed = 7 },
	"effort":      func(a *eval.Agent) { a.Effort = "low" },
	"web_search":  func(a *eval.Agent) { a.WebSearch = new(true) },
}

// bare sets nothing; full sets all that the kind can have.
func bare(*eval.Agent) {}

func full(a *eval.Agent) {
	kind, _ := eval.KindNamed(a.Kind)
	for field, change := range changes {
		if kind.HasField(field) {
			change(a)
		}
	}
}

func off(a *eval.Agent) { a.WebSearch = new(false) }

// TestRequests pins what every kind sends.
func TestRequests(t *testing.T) {
	var b strings.Builder
	for _, f := range formats {
		sent := func(change func(*eval.Agent)) providertest.Request {
			s, a := serve(t, f.kind, providertest.Say("Stripe."), change)
			if _, err := askIt(t, a, "Which?"); err != nil {
				t.Fatal(err)
			}
			return s.Requests()[0]
		}
		least := sent(bare)
		if least.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: headers %v", f.kind, least.Header)
		}
		fmt.Fprintf(&b, "%s\nPOST %s\n", f.kind, least.Path)
		for _, name := range slices.Sorted(maps.Keys(least.Header)) {
			if v := least.Header.Get(name); strings.Contains(v, secretKey) || strings.HasSuffix(name, "-Version") {
				fmt.Fprintf(&b, "%s: %s\n", name, v)
			}
		}
		fmt.Fprintf(&b, "%s\n%s\n\n", least.Body, sent(full).Body)

		kind, _ := eval.KindNamed(f.kind)
		for field, change := range changes {
			if kind.HasField(field) && bytes.Equal(sent(change).Body, least.Body) {
				t.Errorf("%s accepts %s and does not send it", f.kind, field)
			}
		}
		if !bytes.Equal(sent(off).Body, least.Body) {
			t.Errorf("%s: web_search false changes the request", f.kind)
		}
	}
	golden(t, "testdata/requests.txt", b.String())
}

func TestAKeyGoesWhereItBelongs(t *testing.T) {
	getenv := func(name string) string {
		return map[string]string{"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g", "MINE": "m"}[name]
	}
	cases := map[string]struct {
		agent eval.Agent
		want  string
	}{
		"OpenAI's own":      {eval.Agent{Kind: eval.KindOpenAIResponses}, "o"},
		"Anthropic's own":   {eval.Agent{Kind: eval.KindAnthropic}, "a"},
		"Gemini's own":      {eval.Agent{Kind: eval.KindGemini}, "g"},
		"OpenAI by name":    {eval.Agent{Kind: eval.KindOpenAIChat, BaseURL: "https://api.openai.com/v1/"}, "o"},
		"another address":   {eval.Agent{Kind: eval.KindOpenAIChat, BaseURL: "https://example.com/v1"}, ""},
		"without TLS":       {eval.Agent{Kind: eval.KindAnthropic, BaseURL: "http://api.anthropic.com"}, ""},
		"another Anthropic": {eval.Agent{Kind: eval.KindAnthropic, BaseURL: "https://example.com"}, ""},
		"a variable named":  {eval.Agent{Kind: eval.KindOpenAIChat, BaseURL: "https://example.com/v1", APIKeyEnv: "MINE"}, "m"},
		"this machine":      {eval.Agent{Kind: eval.KindOllama}, ""},
	}
	for name, c := range cases {
		made, err := New(c.agent, Deps{Client: &http.Client{}, Getenv: getenv})
		if err != nil || made.(*client).key != c.want {
			t.Errorf("%s: %+v, %v", name, made, err)
		}
	}
}

func TestAMissingKeyIsToldByTheNameOfItsVariable(t *testing.T) {
	cases := map[string]eval.Agent{
		"OPENAI_API_KEY": {Kind: eval.KindOpenAIResponses}, "ANTHROPIC_API_KEY": {Kind: eval.KindAnthropic},
		"GEMINI_API_KEY": {Kind: eval.KindGemini}, "MINE": {Kind: eval.KindOllama, APIKeyEnv: "MINE"},
	}
	for name, a := range cases {
		_, err := New(a, Deps{Client: &http.Client{}, Getenv: func(string) string { return " " }})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAProfileSaysWhatMustBeKnownAndHidesTheKey(t *testing.T) {
	_, a := serve(t, eval.KindAnthropic, providertest.Say("x"), func(a *eval.Agent) {
		full(a)
		a.MaxConcurrency = 3
	})
	p := a.Profile()
	m := p.Manifest
	want := map[string]string{
		"max_tokens": "64", "temperature": "0", "output_config.effort": `"low"`,
		"tools": `[{"max_uses":5,"name":"web_search","type":"web_search_20250305"}]`,
	}
	if !maps.Equal(m.Parameters, want) || m.Web != "on" || m.Auth != "api key" || m.Model != "m-1" || !strings.HasSuffix(m.Endpoint, "/v1/messages") {
		t.Errorf("%+v", m)
	}
	if !p.Paid || p.Lane.Max != 3 || !strings.HasPrefix(p.Lane.Key, "anthropic/127.0.0.1:") || !strings.HasSuffix(p.Lane.Key, "/m-1") {
		t.Errorf("%+v", p)
	}
	text, err := json.Marshal(p)
	if err != nil || strings.Contains(string(text), secretKey) {
		t.Errorf("the key is told: %s, %v", text, err)
	}
	_, other := serve(t, eval.KindAnthropic, providertest.Say("x"), func(a *eval.Agent) { a.APIKeyEnv = "" })
	if !strings.Contains(other.Profile().Lane.Key, "/nokey/") || other.Profile().Manifest.Auth != "none" || other.Profile().Manifest.Web != "default" {
		t.Errorf("without a key: %+v", other.Profile())
	}
}

func TestTheContextOfOllamaHoldsTheQuestion(t *testing.T) {
	for bytes, want := range map[int]int{0: 16384, 24_000: 16384, 60_000: 65536} {
		if got := (ollama{}).context(request{prompt: strings.Repeat("x", bytes)}); got != want {
			t.Errorf("%d bytes: %d, want %d", bytes, got, want)
		}
	}
}

func TestInstructionsAreApartFromThePrompt(t *testing.T) {
	for _, f := range formats {
		s, a := serve(t, f.kind, providertest.Say("Stripe."), nil)
		task := agent.Task{Prompt: "the data", System: "the instructions"}
		if _, err := a.Ask(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		if q := s.Requests()[0]; q.System != "the instructions" || q.Prompt != "the data" {
			t.Errorf("%s: system %q, prompt %q in %s", f.kind, q.System, q.Prompt, q.Body)
		}
		a.price = &prices.Price{Input: 1}
		long := agent.Task{Prompt: "the data", System: strings.Repeat("x", 3000)}
		if f.kind != eval.KindOllama && *a.Worst(long) <= *a.Worst(task) {
			t.Errorf("%s: instructions are not in the worst case", f.kind)
		}
	}
}
