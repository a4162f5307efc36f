package eval

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

func parseAgent(n *strictyaml.Node) Agent {
	name := member(n, "kind")
	kind, ok := KindNamed(name)
	if !ok {
		n.Fail("agent kind %q is unknown; %s", name, nearest.Hint(name, kindNames(func(Kind) bool { return true })))
		return Agent{Name: member(n, "name"), Kind: name}
	}
	k := n.Keys(append([]string{"name", "kind"}, strings.Fields(kind.Fields)...)...)
	a := Agent{
		Name: require(n, k, "name"), Kind: name,
		Study: k["study"].String(), File: k["file"].String(),
		Seed:      uint64(k["seed"].Int(0, math.MaxInt)), //nolint:gosec // not negative
		LatencyMS: k["latency_ms"].Int(0, 600_000), FailRate: k["fail_rate"].Float(0, 1), PromptSpread: k["prompt_spread"].Float(0, 10), Reasons: k["reasons"].Bool(),
		BaseURL: k["base_url"].String(), Model: k["model"].String(), APIKeyEnv: k["api_key_env"].String(), Effort: k["effort"].String(),
		MaxTokens: k["max_tokens"].Int(0, 1<<20), TimeoutS: k["timeout_s"].Int(0, 3600),
		MaxCostUSD: k["max_cost_usd"].Float(0, 1e9), MaxConcurrency: k["max_concurrency"].Int(0, maxConcurrency),
	}
	if a.Name != "" && !namePattern.MatchString(a.Name) {
		n.Fail("agent name %q is not a valid name: want letters, digits and . _ / : -, at most 100", a.Name)
	}
	if t := k["temperature"]; t != nil {
		v := t.Float(0, 2)
		a.Temperature = &v
	}
	if w := k["web_search"]; w != nil {
		v := w.Bool()
		a.WebSearch = &v
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
	if a.IsProgram() {
		a.CLI = parseCLI(k)
	}
	kind.check(n, k)
	a.check(n, k)
	return a
}

func parseCLI(k map[string]*strictyaml.Node) *CLI {
	c := &CLI{
		Binary: k["binary"].String(), Version: k["version"].String(), Args: k["args"].Strings(), Env: k["env"].Strings(),
		Purity: oneOf(k["purity"], PurityDefault, PurityClean, PurityBare), Network: oneOf(k["network"], "on", "off"),
		MaxTurns: k["max_turns"].Int(0, 10_000), TrialCostUSD: k["trial_cost_usd"].Float(0, 1e6),
		WallS: k["wall_s"].Int(0, 86_400), StallS: k["stall_s"].Int(0, 86_400), GraceS: k["grace_s"].Int(0, 3600),
		MemoryMB: k["memory_mb"].Int(0, 1<<20), DiskMB: k["disk_mb"].Int(0, 1<<24), MaxProcesses: k["max_processes"].Int(0, 1<<20), Command: k["command"].Strings(),
		Format: oneOf(k["format"], formats()...),
	}
	if strings.ContainsAny(c.Binary, `/\`) {
		k["binary"].Fail("binary: want a program's name, not a path (got %s): an eval does not say which file to start; give it with --binary NAME=PATH", c.Binary)
	}
	for _, name := range c.Env {
		if !envPattern.MatchString(name) {
			k["env"].Fail("env: want names of environment variables, without values")
		}
	}
	return c
}

// oneOf returns a value that must be one of words; the first word is the default.
func oneOf(n *strictyaml.Node, words ...string) string {
	s := cmp.Or(n.String(), words[0])
	if !slices.Contains(words, s) {
		n.Fail("%q: want one of %s", s, strings.Join(words, ", "))
	}
	return s
}

// parsePrice requires both sides: a missing side would count as free, and a budget would
// never stop the run.
func parsePrice(n *strictyaml.Node) *Price {
	k := n.Keys("input_per_mtok", "output_per_mtok", "cache_read_per_mtok", "cache_write_per_mtok", "per_thousand_searches")
	for _, key := range []string{"input_per_mtok", "output_per_mtok"} {
		if k[key] == nil {
			n.Fail("price: %s is missing", key)
		}
	}
	other := func(key string) *float64 {
		if k[key] == nil {
			return nil
		}
		v := k[key].Float(0, 1e6)
		return &v
	}
	return &Price{
		InputPerMTok: k["input_per_mtok"].Float(0, 1e6), OutputPerMTok: k["output_per_mtok"].Float(0, 1e6),
		CacheReadPerMTok: other("cache_read_per_mtok"), CacheWritePerMTok: other("cache_write_per_mtok"),
		PerThousandSearches: other("per_thousand_searches"),
	}
}

// formats returns the streams that kind command may name in format.
func formats() []string {
	return append([]string{"text"}, kindNames(func(kind Kind) bool { return kind.Imitable })...)
}

// check reports required fields that are missing.
func (kind Kind) check(n *strictyaml.Node, k map[string]*strictyaml.Node) {
	for _, field := range strings.Fields(kind.Requires) {
		if text, _ := k[field].Text(); text != "" || k[field] != nil && !k[field].Scalar() {
			continue
		}
		switch field {
		case "truth":
			n.Fail("truth is missing: shares by tool slug, diy, none or refused")
		case "command":
			n.Fail("command is missing: the program and its arguments, as a list")
		default:
			n.Fail("%s is missing", field)
		}
	}
	if kind.OneOf == "" {
		return
	}
	set := 0
	for _, field := range strings.Fields(kind.OneOf) {
		if text, _ := k[field].Text(); text != "" {
			set++
		}
	}
	if set != 1 {
		n.Fail("a %s agent needs exactly one of %s", kind.Name, strings.Join(strings.Fields(kind.OneOf), ", "))
	}
}

// check validates values that the fields' types do not.
func (a *Agent) check(n *strictyaml.Node, k map[string]*strictyaml.Node) {
	if k["truth"] != nil {
		sum := 0.0
		for _, v := range a.Truth {
			sum += v
		}
		if sum <= 0 {
			n.Fail("truth: want at least one share above 0, by tool slug, diy, none or refused")
		}
	}
	if a.CLI != nil && k["command"] != nil && len(a.CLI.Command) == 0 {
		n.Fail("command is empty: want the program and its arguments, as a list")
	}
	if k["base_url"] != nil {
		u, err := url.Parse(a.BaseURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			n.Fail("base_url: %q is not an http or https address, such as https://llm.example.com/v1", a.BaseURL)
		} else if u.User != nil {
			n.Fail("base_url: leave user and password out; name the key's variable in api_key_env")
		}
	}
}
