// Package provider calls models over HTTP: one client, and a codec for each wire format.
// See kinds.
//
// A request carries only parameters that the eval sets, because the defaults are what
// users get. A set parameter is sent even if the provider will reject it: dropping it
// in silence would change the subject.
package provider

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

const (
	maxBody        = 8 << 20 // bytes of an answer
	defaultTimeout = 10 * time.Minute
)

// Deps are the dependencies of models.
type Deps struct {
	Getenv func(string) string
	Client *http.Client
	// Prices are for agents without a price in the eval; may be nil.
	Prices *prices.Table
}

// A kind is the code of an agent kind of class model, with its row of eval.Kinds.
type kind struct {
	eval.Kind
	codec  codec
	vendor string // in the price table
	free   bool
	// maxTokens is sent if the eval sets no max_tokens and the format requires it.
	maxTokens int
	// pauses means that the provider may pause a long answer: see answer.paused.
	pauses bool
	// pull is the command that gets a missing model.
	pull string
}

// kinds returns the code of every kind of class model.
func kinds() map[string]kind {
	return map[string]kind{
		eval.KindOpenAIChat:      {codec: openAIChat{}, vendor: "openai"},
		eval.KindOpenAIResponses: {codec: openAIResponses{}, vendor: "openai"},
		eval.KindAnthropic:       {codec: anthropic{}, vendor: "anthropic", maxTokens: 4096, pauses: true},
		eval.KindGemini:          {codec: gemini{}, vendor: "google"},
		eval.KindOllama:          {codec: ollama{}, free: true, pull: "ollama pull"},
	}
}

func kindOf(name string) (kind, bool) {
	k, ok := kinds()[name]
	k.Kind, _ = eval.KindNamed(name)
	return k, ok
}

// New returns the agent of a model behind an API. It reads the key immediately. A
// default key is sent only to the provider's own address: for another address the eval
// names the variable, or the request has no key.
func New(a eval.Agent, d Deps) (agent.Agent, error) {
	k, ok := kindOf(a.Kind)
	if !ok {
		return nil, fmt.Errorf("kind %q is not a model behind an API", a.Kind)
	}
	if d.Client == nil {
		return nil, errors.New("missing HTTP client")
	}
	a.MaxTokens = cmp.Or(a.MaxTokens, k.maxTokens)
	base := BaseURL(a)
	at, err := url.Parse(base)
	if err != nil || at.Host == "" {
		return nil, fmt.Errorf("base_url: %q is not an http or https address", a.BaseURL)
	}
	home, err := url.Parse(k.BaseURL)
	if err != nil {
		return nil, err // unreachable: a constant of eval.Kinds
	}
	c := &client{
		Agent: a, kind: k, base: base, home: at.Scheme == home.Scheme && at.Host == home.Host,
		http: withoutRedirects(d.Client), timeout: cmp.Or(time.Duration(a.TimeoutS)*time.Second, defaultTimeout),
	}
	keyEnv := a.APIKeyEnv
	if keyEnv == "" && c.home {
		keyEnv = k.KeyEnv
	}
	if keyEnv != "" {
		if c.key = strings.TrimSpace(d.Getenv(keyEnv)); c.key == "" {
			return nil, fmt.Errorf("%w: put it into the environment variable %s", agent.ErrNoKey, keyEnv)
		}
	}
	c.secret = newSecret(c.key)
	table := d.Prices
	if !c.home {
		table = nil // other sellers of the same model have other prices
	}
	price, source := priceOf(a, k.vendor, table)
	c.price = price
	sent, err := parametersOf(k.codec, a)
	if err != nil {
		return nil, err
	}
	c.sent = sent.names
	c.profile = agent.Profile{
		Paid: !k.free,
		Lane: agent.Lane{Key: laneKey(a, at.Host, c.key), Max: a.MaxConcurrency},
		Manifest: journal.Manifest{
			Agent: a.Name, Kind: a.Kind, Model: a.Model, Endpoint: base + k.codec.path(a.Model),
			Web: web(a), Auth: auth(c.key), Parameters: sent.values, Prices: source,
		},
	}
	return c, nil
}

// BaseURL returns the address of a model without the path of its format and without a
// trailing slash.
func BaseURL(a eval.Agent) string {
	k, _ := kindOf(a.Kind)
	return strings.TrimRight(cmp.Or(a.BaseURL, k.BaseURL), "/")
}

// withoutRedirects returns a client that does not follow redirects: they would carry
// prompt and key to an address that nobody configured.
func withoutRedirects(c *http.Client) *http.Client {
	stay := *c
	stay.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &stay
}

// laneKey distinguishes keys by a fingerprint, never by a part of them.
func laneKey(a eval.Agent, host, key string) string {
	fingerprint := "nokey"
	if key != "" {
		sum := sha256.Sum256([]byte(key))
		fingerprint = hex.EncodeToString(sum[:4])
	}
	return a.Kind + "/" + host + "/" + fingerprint + "/" + a.Model
}

func web(a eval.Agent) string {
	switch {
	case a.WebSearch == nil:
		return "default"
	case *a.WebSearch:
		return "on"
	default:
		return "off"
	}
}

func auth(key string) string {
	if key == "" {
		return "none"
	}
	return "api key"
}
