package cliagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/eval"
)

// write writes a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEnvironment: a program sees its own variables and those that the eval names.
func TestEnvironment(t *testing.T) {
	a := spec(t, eval.KindClaudeCode, fakeCLI{Env: true, Code: 1})
	a.CLI.Env = []string{"REGION", "CLOUD_TOKEN", "NOT_SET"}
	p, err := New(a, deps(t))
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Ask(t.Context(), task("hi", &heard{}))
	var infra *agent.InfraError
	if !errors.As(err, &infra) {
		t.Fatal(err)
	}
	seen := string(infra.Raw)
	for _, want := range []string{"REGION=paris", "CLOUD_TOKEN=[redacted", "ANTHROPIC_API_KEY=[redacted", "HOME=", "CI=1", "TERM=dumb", "/home/.claude"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%s is not in %s", want, seen)
		}
	}
	for _, not := range []string{testKey, "NOT_SET", "GOPATH", "OLDPWD"} {
		if strings.Contains(seen, not) {
			t.Errorf("%s is in %s", not, seen)
		}
	}
	if env := p.Profile().Manifest.Env; !slices.Contains(env, "CLOUD_TOKEN") || slices.Contains(env, "NOT_SET") || slices.Contains(env, testKey) {
		t.Errorf("manifest: %v", env)
	}
}

func TestProfile(t *testing.T) {
	a := spec(t, eval.KindClaudeCode, fakeCLI{})
	a.MaxConcurrency, a.CLI.TrialCostUSD, a.WebSearch, a.Model = 3, 0.5, ptr(false), "claude-sonnet-4-5"
	d := deps(t)
	d.Templates = []string{"shop"}
	p, err := New(a, d)
	if err != nil {
		t.Fatal(err)
	}
	f := p.Profile()
	if f.Lane.Start != 2 || f.Lane.Max != 3 || !f.Lane.Probe || !f.Paid || f.MemoryMB != 300 {
		t.Errorf("%+v", f)
	}
	if !strings.HasPrefix(f.Lane.Key, "api.anthropic.com/") || !strings.HasSuffix(f.Lane.Key, "/claude-sonnet-4-5") || strings.Contains(f.Lane.Key, testKey) {
		t.Errorf("lane %q", f.Lane.Key)
	}
	m := f.Manifest
	if m.Version != "1.2.3" || len(m.Binary) != 64 || m.Web != "off" || m.Network != "on" || m.Auth != "key in ANTHROPIC_API_KEY" || len(m.Templates["shop"]) != 64 ||
		m.Parameters["trial_cost_usd"] != "0.5" || !slices.Contains(m.Args, "{prompt}") {
		t.Errorf("%+v", m)
	}
	if strings.Contains(fmt.Sprint(m), testKey) {
		t.Error("the manifest holds the key")
	}
	if worst := p.Worst(agent.Task{}); worst == nil || *worst != 0.5 {
		t.Errorf("worst %v", worst)
	}
	if err := p.(agent.Checker).Check(t.Context()); err != nil {
		t.Error(err)
	}
	empty(t, d)
}

func TestWorst(t *testing.T) {
	a := spec(t, eval.KindCodex, fakeCLI{})
	p, err := New(a, deps(t))
	if err != nil || p.Worst(agent.Task{}) != nil {
		t.Errorf("a program without a bound: %v", err)
	}
	a.Price = &eval.Price{}
	if p, err = New(a, deps(t)); err != nil || p.Worst(agent.Task{}) == nil || *p.Worst(agent.Task{}) != 0 {
		t.Errorf("a model that costs nothing: %v", err)
	}
}

// TestPaid: a command that is handed a key in any way may cost money.
func TestPaid(t *testing.T) {
	for env, paid := range map[string]bool{"REGION": false, "CLOUD_TOKEN": true} {
		a := eval.Agent{Name: "sh", Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"sh", "-c", "ask", "{prompt}"}, Env: []string{env}}}
		if p, err := New(a, deps(t)); err != nil || p.Profile().Paid != paid {
			t.Errorf("%s: paid %t, %v", env, !paid, err)
		}
	}
}

// TestNotStarted: what keeps a program from running is told by Check and by Ask, and
// it closes the lane.
func TestNotStarted(t *testing.T) {
	missing := eval.Agent{Name: "c", Kind: eval.KindCodex, Model: "m", CLI: &eval.CLI{Binary: "no-such-program"}}
	old := spec(t, eval.KindCodex, fakeCLI{})
	old.CLI.Version = "2.0.0"
	broken := spec(t, eval.KindCodex, fakeCLI{})
	broken.CLI.Binary = write(t, "neither a program nor a script")
	if err := os.Chmod(broken.CLI.Binary, 0o700); err != nil { //nolint:gosec // it shall look like a program
		t.Fatal(err)
	}
	for want, a := range map[string]eval.Agent{"npm install -g @openai/codex": missing, "the eval requires 2.0.0": old, "reinstall it": broken} {
		p, err := New(a, deps(t))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.(agent.Checker).Check(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check: %v, want %q", err, want)
		}
		_, err = p.Ask(t.Context(), task("hi", &heard{}))
		var infra *agent.InfraError
		if !errors.As(err, &infra) || infra.Reason != agent.ReasonNotStarted || !infra.Lane || !strings.Contains(err.Error(), want) {
			t.Errorf("ask: %v, want %q", err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	cost := spec(t, eval.KindCodex, fakeCLI{})
	cost.CLI.TrialCostUSD = 1
	network := spec(t, eval.KindClaudeCode, fakeCLI{})
	network.CLI.Network = "off"
	nokey := spec(t, eval.KindClaudeCode, fakeCLI{})
	nokey.APIKeyEnv = "NOT_SET"
	home := spec(t, eval.KindClaudeCode, fakeCLI{})
	home.CLI.Env = []string{"REGION", "HOME"}
	for want, a := range map[string]eval.Agent{"set price": cost, "needs a sandbox": network, "NOT_SET": nokey, "HOME is set for each trial": home} {
		if _, err := New(a, deps(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	d := deps(t)
	d.Root = "trials"
	if _, err := New(spec(t, eval.KindCodex, fakeCLI{}), d); err == nil {
		t.Error("a relative root is taken")
	}
}

// TestPrompts: any text reaches the program as one argument, or is refused.
func TestPrompts(t *testing.T) {
	echo := eval.Agent{Name: "echo", Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"printf", "%s", "{prompt}"}}}
	p, err := New(echo, deps(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, prompt := range []string{"-rf --help", "/help", "two\nlines 'and' \"quotes\" $HOME `id` {home} {prompt}", strings.Repeat("long ", 25_000) + "end", "日本語"} {
		r, err := p.Ask(t.Context(), task(prompt, &heard{}))
		if err != nil || strings.TrimSpace(r.Transcript.FinalText) != strings.TrimSpace(prompt) {
			t.Errorf("%.40q became %.40q, %v", prompt, r.Transcript.FinalText, err)
		}
	}
	for _, prompt := range []string{strings.Repeat("x", 200<<10), "zero\x00byte"} {
		_, err := p.Ask(t.Context(), task(prompt, &heard{}))
		var infra *agent.InfraError
		if !errors.As(err, &infra) || infra.Reason != agent.ReasonBadRequest || infra.Retry || infra.Lane {
			t.Errorf("%.20q: %v", prompt, err)
		}
	}
	slash := &program{setup: setup{commands: "/!"}}
	if slash.guarded("/help") != " /help" || slash.guarded("help /") != "help /" || slash.guarded("") != "" {
		t.Error("a prompt may be taken for a command")
	}
}

// TestManyAtOnce: trials of one agent at the same time share nothing.
func TestManyAtOnce(t *testing.T) {
	d := deps(t)
	d.Binaries = &Binaries{}
	f := fakeCLI{Stdout: capture(t, "claude.jsonl"), Write: map[string]string{"package.json": `{"dependencies": {"stripe": "1"}}`}}
	p, err := New(spec(t, eval.KindClaudeCode, f), d)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := p.Ask(t.Context(), task("hi", &heard{}))
			if err != nil || len(r.Transcript.Diff) != 1 || !strings.Contains(r.Transcript.FinalText, "Stripe") {
				t.Errorf("%+v, %v", r.Transcript, err)
			}
		})
	}
	all.Wait()
	empty(t, d)
}

// TestCaches: what a program puts into an empty home when it starts is in every
// trial's home, and nothing that a trial does to it reaches another.
func TestCaches(t *testing.T) {
	script := `#!/bin/sh
if [ "$1" = --version ]; then mkdir -p "$HOME/.cache/copilot/pkg"; echo code > "$HOME/.cache/copilot/pkg/main"; echo 1.0.0; exit; fi
printf '{"type":"assistant.message","data":{"content":"%s"}}\n' "$(cat "$HOME/.cache/copilot/pkg/main")"
echo spoiled > "$HOME/.cache/copilot/pkg/main"
printf '{"type":"result","exitCode":0,"data":{}}\n'
`
	path := write(t, script)
	if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	a := eval.Agent{Name: "c", Kind: eval.KindCopilot, Model: "m", CLI: &eval.CLI{Binary: path}}
	d := deps(t)
	for _, cold := range []bool{false, true} {
		d.Cold = cold
		p, err := New(a, d)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r, err := p.Ask(t.Context(), task("hi", &heard{}))
			if cold == (strings.TrimSpace(r.Transcript.FinalText) == "code") {
				t.Errorf("cold %t: %q, %v", cold, r.Transcript.FinalText, err)
			}
		}
	}
}

// TestSandboxed: a program in the sandbox works in its folders and sees no others.
func TestSandboxed(t *testing.T) {
	d := deps(t)
	box, err := sandbox.Detect(t.Context(), sandbox.Config{
		LookPath: exec.LookPath, Home: os.Getenv("HOME"), Superuser: os.Getuid() == 0,
		Try: func(ctx context.Context, argv []string) error {
			return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
		},
	})
	if err != nil || box.Warning() != "" {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "bwrap") {
			t.Fatal("FIRSTPICK_REQUIRE names bwrap: ", err, box.Warning())
		}
		t.Skip(err, box.Warning())
	}
	secret := write(t, "a secret of another run")
	d.Sandbox, d.Hide = box, []string{filepath.Dir(secret), filepath.Dir(d.Root)}
	script := `echo "asked $0"; cat "$1" || echo hidden; echo text > made.txt; echo text > "$HOME/kept" && echo text > "$TMPDIR/kept" && echo written; echo text > /usr/kept || echo refused`
	a := eval.Agent{Name: "sh", Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"sh", "-c", script, "{prompt}", secret}, Network: "off"}}
	p, err := New(a, d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Ask(t.Context(), task("hi", &heard{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"asked hi", "hidden", "written", "refused"} {
		if !strings.Contains(r.Transcript.FinalText, want) {
			t.Errorf("%q is not in %q", want, r.Transcript.FinalText)
		}
	}
	if strings.Contains(r.Transcript.FinalText, "a secret") || len(r.Transcript.Diff) != 1 || r.Transcript.Diff[0].Path != "made.txt" {
		t.Errorf("%+v", r.Transcript)
	}
	if m := p.Profile().Manifest; m.Network != "off" || m.Sandbox != box.Name() {
		t.Errorf("network %s, sandbox %s", m.Network, m.Sandbox)
	}
}
