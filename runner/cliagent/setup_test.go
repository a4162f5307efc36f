package cliagent

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// conditions are agents under all conditions that their kinds can keep.
func conditions() []eval.Agent {
	a := func(kind, model string, change ...func(*eval.Agent)) eval.Agent {
		a := eval.Agent{Name: kind, Kind: kind, Model: model, CLI: &eval.CLI{}}
		for _, c := range change {
			c(&a)
			a.Name += "+"
		}
		return a
	}
	purity := func(p string) func(*eval.Agent) { return func(a *eval.Agent) { a.CLI.Purity = p } }
	search := func(on bool) func(*eval.Agent) { return func(a *eval.Agent) { a.WebSearch = &on } }
	turns := func(a *eval.Agent) { a.CLI.MaxTurns = 7 }
	effort := func(a *eval.Agent) { a.Effort = "high" }
	cost := func(a *eval.Agent) { a.CLI.TrialCostUSD = 1.5 }
	base := func(url string) func(*eval.Agent) { return func(a *eval.Agent) { a.BaseURL = url } }
	more := func(a *eval.Agent) { a.CLI.Args = []string{"--more", "in {workdir}"} }
	key := func(name string) func(*eval.Agent) { return func(a *eval.Agent) { a.APIKeyEnv = name } }
	all := []eval.Agent{
		a(eval.KindClaudeCode, "claude-sonnet-4-5"),
		a(eval.KindClaudeCode, "claude-sonnet-4-5", purity(eval.PurityClean), search(false), turns),
		a(eval.KindClaudeCode, "claude-sonnet-4-5", purity(eval.PurityBare), search(true), cost, effort, more, base("http://127.0.0.1:9/v1/"), key("MY_KEY")),
		a(eval.KindCodex, "gpt-5.1-codex"),
		a(eval.KindCodex, "gpt-5.1-codex", purity(eval.PurityClean), search(false), effort, more),
		a(eval.KindCodex, "gpt-5.1-codex", search(true), base("http://127.0.0.1:9/v1"), key("MY_KEY")),
		a(eval.KindGeminiCLI, "gemini-2.5-pro"),
		a(eval.KindGeminiCLI, "gemini-2.5-pro", search(false), turns, base("http://127.0.0.1:9/v1beta"), more, key("MY_KEY")),
		a(eval.KindOpenCode, "anthropic/claude-sonnet-4-5"),
		a(eval.KindOpenCode, "google/gemini-2.5-pro", search(true), more),
		a(eval.KindOpenCode, "other/model", search(false), base("http://127.0.0.1:9/v1"), key("MY_KEY")),
		a(eval.KindCopilot, "gpt-5.1"),
		a(eval.KindCopilot, "gpt-5.1", purity(eval.PurityClean), base("http://127.0.0.1:9/v1"), more, key("MY_KEY")),
		a(eval.KindCursor, "gpt-5.1"),
		a(eval.KindCursor, "gpt-5.1", effort, more),
		a(eval.KindGoose, "anthropic/claude-sonnet-4-5", turns, more),
		a(eval.KindGoose, "openai/gpt-5.1", base("http://127.0.0.1:9/v1"), key("OPENAI_API_KEY")),
		a(eval.KindAider, "claude-sonnet-4-5", more),
		a(eval.KindAider, "openai/gpt-5.1", base("http://127.0.0.1:9/v1"), key("OPENAI_API_KEY")),
		a(eval.KindCommand, "", func(a *eval.Agent) { a.CLI.Command = []string{"ask", "--home={home}", "{prompt}"}; a.Model = "m" }, more),
	}
	for _, k := range eval.Kinds() { // those that need nothing special
		ofKind := func(a eval.Agent) bool { return a.Kind == k.Name }
		if k.Class == eval.ClassProgram && !slices.ContainsFunc(all, ofKind) {
			all = append(all, a(k.Name, "m-1"), a(k.Name, "m-1", more))
			for _, field := range slices.Sorted(maps.Keys(optional)) {
				if k.HasField(field) {
					all = append(all, a(k.Name, "m-1", optional[field]))
				}
			}
		}
	}
	return all
}

// optional sets one field each that a program must honour or reject.
var optional = map[string]func(*eval.Agent){
	"web_search": func(a *eval.Agent) { a.WebSearch = new(false) },
	"max_turns":  func(a *eval.Agent) { a.CLI.MaxTurns = 7 },
	"effort":     func(a *eval.Agent) { a.Effort = "high" },
	"purity":     func(a *eval.Agent) { a.CLI.Purity = eval.PurityClean },
	"base_url":   func(a *eval.Agent) { a.BaseURL, a.APIKeyEnv = "http://127.0.0.1:9/v1", "MY_KEY" },
	"args":       func(a *eval.Agent) { a.CLI.Args = []string{"--more"} },
}

// TestKindsHaveCode compares eval.Kinds with the code of this package: each kind has its
// row, and each field that it accepts changes the setup or is rejected.
func TestKindsHaveCode(t *testing.T) {
	for name := range kinds() {
		if k, ok := eval.KindNamed(name); !ok || k.Class != eval.ClassProgram && k.Class != eval.ClassCommand {
			t.Errorf("the code of %s has no kind in eval.Kinds", name)
		}
	}
	for _, k := range eval.Kinds() {
		if k.Class != eval.ClassProgram && k.Class != eval.ClassCommand {
			continue
		}
		if row, ok := kinds()[k.Name]; !ok || row.setup == nil || row.decode == nil {
			t.Errorf("the kind %s has no code: add its row to kinds in kinds.go", k.Name)
			continue
		}
		least := eval.Agent{Kind: k.Name, Model: "openai/gpt-5.1", CLI: &eval.CLI{Command: []string{"ask", "{prompt}"}}}
		want, err := setupOf(least)
		if err != nil {
			t.Errorf("%s: %v", k.Name, err)
			continue
		}
		for field, set := range optional {
			changed := least
			changed.CLI = &eval.CLI{Command: least.CLI.Command}
			set(&changed)
			if got, err := setupOf(changed); k.HasField(field) && err == nil && reflect.DeepEqual(got, want) {
				t.Errorf("%s accepts %s and drops it", k.Name, field)
			}
		}
	}
}

// TestSetups pins the argv, environment and files of every kind under every
// condition that it can keep.
func TestSetups(t *testing.T) {
	var b strings.Builder
	for _, a := range conditions() {
		s, err := setupOf(a)
		if err != nil {
			t.Errorf("%s: %v", a.Name, err)
			continue
		}
		fmt.Fprintf(&b, "# %s, %s, at %s, key %s as %s\n%s", a.Name, a.Model, cmp.Or(s.host, "-"), strings.Join(s.key.from, " or "), cmp.Or(s.key.as, "-"), s.binary)
		for _, arg := range s.args {
			fmt.Fprintf(&b, " %q", arg)
		}
		b.WriteByte('\n')
		for _, v := range s.env {
			fmt.Fprintf(&b, "  %s=%s\n", v.name, v.value)
		}
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			fmt.Fprintf(&b, "  ~/%s: %s\n", name, s.files[name])
		}
		b.WriteByte('\n')
	}
	const golden = "testdata/setups.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("setups differ from %s; run go test ./runner/cliagent -run TestSetups -update and read the diff\n%s", golden, b.String())
	}
}

// TestKeysStayAtHome: a provider's own key is not given to a program that asks
// another address, whatever else the eval hands over.
func TestKeysStayAtHome(t *testing.T) {
	for base, want := range map[string]int{"": 1, "https://api.anthropic.com": 1, "https://models.example": 0} {
		a := eval.Agent{Kind: eval.KindClaudeCode, BaseURL: base, CLI: &eval.CLI{Env: []string{"REGION"}}}
		if s, err := setupOf(a); err != nil || len(s.key.from) != want {
			t.Errorf("%q: %+v, %v", base, s, err)
		}
	}
}

// TestConditionsNotKept: what a program cannot do is told, not dropped.
func TestConditionsNotKept(t *testing.T) {
	for _, c := range []struct {
		agent eval.Agent
		want  string
	}{
		{eval.Agent{Kind: eval.KindGeminiCLI, CLI: &eval.CLI{Purity: eval.PurityClean}}, "purity clean: gemini-cli has only default"},
		{eval.Agent{Kind: eval.KindCodex, CLI: &eval.CLI{Purity: eval.PurityBare}}, "purity bare"},
		{eval.Agent{Kind: eval.KindCopilot, CLI: &eval.CLI{Purity: eval.PurityBare}}, "purity bare"},
		{eval.Agent{Kind: eval.KindClaudeCode, Effort: "huge", CLI: &eval.CLI{}}, "low, medium"},
		{eval.Agent{Kind: eval.KindCodex, Effort: "max", CLI: &eval.CLI{}}, `effort "max"`},
		{eval.Agent{Kind: eval.KindCursor, BaseURL: "http://127.0.0.1:9", CLI: &eval.CLI{}}, "only Cursor's servers"},
		{eval.Agent{Kind: eval.KindOpenCode, Model: "gpt-5", CLI: &eval.CLI{}}, "provider/model"},
		{eval.Agent{Kind: eval.KindGoose, Model: "unheard/of", CLI: &eval.CLI{}}, "api_key_env"},
		{eval.Agent{Kind: eval.KindGoose, Model: "google/gemini-2.5-pro", BaseURL: "http://127.0.0.1:9", CLI: &eval.CLI{}}, "base_url"},
		{eval.Agent{Kind: eval.KindAider, Model: "gemini/gemini-2.5-pro", BaseURL: "http://127.0.0.1:9", CLI: &eval.CLI{}}, "base_url"},
		{eval.Agent{Kind: eval.KindClaudeCode, BaseURL: "https://models.example", CLI: &eval.CLI{}}, "models.example gets no key unless api_key_env"},
		{eval.Agent{Kind: eval.KindCodex, BaseURL: "http://api.openai.com/v1", CLI: &eval.CLI{}}, "api_key_env"}, // for all to read
		{eval.Agent{Kind: eval.KindAider, Model: "gpt-5.1", BaseURL: "https://api.openai.com@models.example", CLI: &eval.CLI{}}, "api_key_env"},
		{eval.Agent{Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"ask", "it"}}}, "{prompt}"},
		{eval.Agent{Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"ask", "{prompt}"}, Binary: "x"}}, "remove it"},
		{eval.Agent{Kind: eval.KindSimulated, CLI: &eval.CLI{}}, "not an agent program"},
	} {
		if _, err := setupOf(c.agent); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.agent.Kind, err, c.want)
		}
	}
}

// TestHosts: where a key is meant to go is an address that is known, never a name.
func TestHosts(t *testing.T) {
	for model, want := range map[string]string{
		"anthropic/claude-sonnet-4-5": "api.anthropic.com", "openrouter/a/b": "openrouter.ai", "mistral/devstral": "api.mistral.ai",
		"groq/llama": "api.groq.com", "deepseek/deepseek-chat": "api.deepseek.com", "xai/grok-4": "api.x.ai", "cerebras/qwen": "api.cerebras.ai",
		"together/qwen": "api.together.xyz", "togetherai/qwen": "api.together.xyz", "fireworks-ai/kimi": "api.fireworks.ai",
		"unheard/of": "", "collector.example/model": "",
	} {
		for _, kind := range []string{eval.KindOpenCode, eval.KindGoose, eval.KindAider} {
			if got := Host(eval.Agent{Kind: kind, Model: model, APIKeyEnv: "MY_KEY", CLI: &eval.CLI{}}); got != want {
				t.Errorf("%s of %s: %q, want %q", kind, model, got, want)
			}
		}
	}
}
