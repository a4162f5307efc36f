package eval

import (
	"bytes"
	"fmt"
	"math"
	"net/url"

	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

const (
	maxRepeats     = 100_000
	maxConcurrency = 1024
	maxTrials      = 20_000_000
)

// Parse reads an eval file; name is what errors call it. The error lists every
// problem, each with its line.
func Parse(name string, data []byte) (*Eval, error) {
	if len(data) > MaxSize {
		return nil, &strictyaml.Error{File: name, Msg: fmt.Sprintf("%d bytes; an eval has at most %d", len(data), MaxSize)}
	}
	f, root := strictyaml.Parse(name, bytes.NewReader(data))
	if root == nil {
		return nil, f.Err()
	}
	k := root.Keys("name", "category", "description", "seed", "repeats", "concurrency", "templates", "prompts", "agents")
	e := &Eval{
		Name: requireName(f, root, k["name"], "name"), Category: requireName(f, root, k["category"], "category"),
		Description: k["description"].String(), Seed: uint64(k["seed"].Int(0, math.MaxInt)), //nolint:gosec // not negative
		Repeats: 1, Concurrency: k["concurrency"].Int(0, maxConcurrency),
		Templates: []string{NoTemplate}, Source: string(data), file: name,
	}
	if n := k["repeats"]; n != nil {
		e.Repeats = n.Int(1, maxRepeats)
	}
	if n := k["templates"]; n != nil {
		e.Templates = unique(n.Items(), templateName)
	}
	for _, n := range k["prompts"].Maps() {
		e.Prompts = append(e.Prompts, parsePrompt(n))
	}
	for _, n := range k["agents"].Maps() {
		e.Agents = append(e.Agents, parseAgent(n))
	}
	e.check(f, k)
	return e, f.Err()
}

func requireName(f *strictyaml.File, parent, n *strictyaml.Node, key string) string {
	if n == nil {
		f.Add(parent.Line(), "%s is missing", key)
		return ""
	}
	s := n.String()
	if !namePattern.MatchString(s) {
		n.Fail("%s: %q is not a name: letters, digits and . _ / : - , at most 100", key, s)
	}
	return s
}

func templateName(n *strictyaml.Node) string {
	s := n.String()
	if !namePattern.MatchString(s) {
		n.Fail("template %q is not a name", s)
	}
	return s
}

func unique(items []*strictyaml.Node, key func(*strictyaml.Node) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, n := range items {
		s := key(n)
		if seen[s] && s != "" {
			n.Fail("%q stands twice", s)
		}
		seen[s] = true
		out = append(out, s)
	}
	return out
}

// check tells what is wrong between the parts of the file.
func (e *Eval) check(f *strictyaml.File, k map[string]*strictyaml.Node) {
	for key, n := range map[string]int{"prompts": len(e.Prompts), "agents": len(e.Agents), "templates": len(e.Templates)} {
		if n == 0 {
			f.Add(max(1, k[key].Line()), "%s: want at least one", key)
		}
	}
	unique(k["prompts"].Maps(), func(n *strictyaml.Node) string { return member(n, "id") })
	unique(k["agents"].Maps(), func(n *strictyaml.Node) string { return member(n, "name") })
	if n := float64(len(e.Prompts)) * float64(len(e.Agents)) * float64(len(e.Templates)) * float64(e.Repeats); n > maxTrials {
		f.Add(1, "%.0f trials; one eval plans at most %d", n, maxTrials)
	}
}

// member returns a text of a mapping that was already read.
func member(n *strictyaml.Node, key string) (s string) {
	n.Each(func(k string, _ int, v *strictyaml.Node) {
		if k == key && v.Scalar() {
			s = v.String()
		}
	})
	return s
}

func parsePrompt(n *strictyaml.Node) Prompt {
	k := n.Keys("id", "text")
	p := Prompt{ID: require(n, k, "id"), Text: require(n, k, "text"), line: n.Line()}
	if p.ID != "" && !namePattern.MatchString(p.ID) {
		n.Fail("prompt id %q is not a name", p.ID)
	}
	return p
}

func require(parent *strictyaml.Node, k map[string]*strictyaml.Node, key string) string {
	n := k[key]
	if n == nil {
		parent.Fail("%s is missing", key)
		return ""
	}
	s := n.String()
	if s == "" {
		n.Fail("%s is empty", key)
	}
	return s
}

func parseAgent(n *strictyaml.Node) Agent {
	kind := member(n, "kind")
	allowed := []string{"name", "kind"}
	switch kind {
	case KindRecorded:
		allowed = append(allowed, "study", "file")
	case KindSimulated:
		allowed = append(allowed, "truth", "seed", "latency_ms", "fail_rate", "prompt_spread")
	case KindOpenAIChat:
		allowed = append(allowed, "base_url", "model", "api_key_env", "max_tokens", "temperature", "timeout_s", "price")
	default:
		n.Fail("agent kind %q is unknown: %s, %s or %s", kind, KindRecorded, KindSimulated, KindOpenAIChat)
		return Agent{Name: member(n, "name"), Kind: kind}
	}
	k := n.Keys(allowed...)
	a := Agent{
		Name: require(n, k, "name"), Kind: kind,
		Study: k["study"].String(), File: k["file"].String(),
		Seed:      uint64(k["seed"].Int(0, math.MaxInt)), //nolint:gosec // not negative
		LatencyMS: k["latency_ms"].Int(0, 600_000), FailRate: k["fail_rate"].Float(0, 1), PromptSpread: k["prompt_spread"].Float(0, 10),
		BaseURL: k["base_url"].String(), Model: k["model"].String(), APIKeyEnv: k["api_key_env"].String(),
		MaxTokens: k["max_tokens"].Int(0, 1<<20), TimeoutS: k["timeout_s"].Int(0, 3600),
	}
	if a.Name != "" && !namePattern.MatchString(a.Name) {
		n.Fail("agent name %q is not a name", a.Name)
	}
	if t := k["temperature"]; t != nil {
		v := t.Float(0, 2)
		a.Temperature = &v
	}
	if p := k["price"]; p != nil {
		a.Price = parsePrice(p)
	}
	if v := k["api_key_env"]; v != nil && !envPattern.MatchString(a.APIKeyEnv) {
		// The value is not shown: it may be the key itself.
		v.Fail("api_key_env: want the name of an environment variable, not the key")
	}
	if k["truth"] != nil {
		a.Truth = map[string]float64{}
		k["truth"].Each(func(key string, _ int, v *strictyaml.Node) { a.Truth[key] = v.Float(0, 1e9) })
	}
	a.check(n)
	return a
}

// parsePrice wants both sides: a side left out would count as free, and a
// budget would never stop the run.
func parsePrice(n *strictyaml.Node) *Price {
	k := n.Keys("input_per_mtok", "output_per_mtok")
	for _, key := range []string{"input_per_mtok", "output_per_mtok"} {
		if k[key] == nil {
			n.Fail("price: %s is missing", key)
		}
	}
	return &Price{k["input_per_mtok"].Float(0, 1e6), k["output_per_mtok"].Float(0, 1e6)}
}

// check tells what a kind of agent cannot do without.
func (a *Agent) check(n *strictyaml.Node) {
	switch a.Kind {
	case KindRecorded:
		if (a.Study == "") == (a.File == "") {
			n.Fail("a recorded agent wants either study or file")
		}
	case KindSimulated:
		sum := 0.0
		for _, v := range a.Truth {
			sum += v
		}
		if sum <= 0 {
			n.Fail("a simulated agent wants truth: shares by tool slug, diy, none or refused")
		}
	case KindOpenAIChat:
		u, err := url.Parse(a.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			n.Fail("base_url: %q is not an http or https address", a.BaseURL)
		} else if u.User != nil {
			n.Fail("base_url: leave user and password out; name the key's variable in api_key_env")
		}
		if a.Model == "" {
			n.Fail("model is missing")
		}
	}
}
