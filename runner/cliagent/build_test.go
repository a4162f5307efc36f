package cliagent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/eval"
)

// built asks an agent that is a shell script, with a command after it.
func built(ctx context.Context, t *testing.T, d Deps, script string, b *eval.Builds) agent.Reply {
	t.Helper()
	a := eval.Agent{Name: "sh", Kind: eval.KindCommand, APIKeyEnv: "ASK_KEY", CLI: &eval.CLI{WallS: 60, StallS: 60, DiskMB: 20, Builds: b}}
	a.CLI.Command = []string{"sh", "-c", script, "{prompt}"}
	r, _, err := ask(ctx, t, a, d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestBuilds runs a command in the work folder after the agent: its result is kept, and
// nothing that it writes is part of the answer.
func TestBuilds(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		exit    int
		ended   string
		output  string
	}{
		"passes":            {"cat made && echo built > out", 0, "", "by the agent\n"},
		"fails":             {"echo first; echo second >&2; exit 3", 3, "", "first\nsecond\n"},
		"cannot be found":   {"no-such-program", 127, "", "not found\n"},
		"keeps its end":     {"i=0; while [ $i -lt 9000 ]; do echo line $i; i=$((i+1)); done", 0, "", "line 8999\n"},
		"sees no key":       {"env", 0, "", ""},
		"takes too long":    {"sleep 60 & sleep 60", -1, "wall", ""},
		"writes too much":   {"i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done; sleep 60", -1, "disk", ""},
		"kills its shell":   {"kill -9 $$", -1, "", ""},
		"shows what it saw": {"echo " + testKey, 0, "", "[redacted"},
	} {
		t.Run(name, func(t *testing.T) {
			d := deps(t)
			timeout := 60
			if c.ended == "wall" {
				timeout = 1
			}
			r := built(t.Context(), t, d, "echo by the agent > made; echo I used Stripe.", &eval.Builds{Command: c.command, TimeoutS: timeout})
			b := r.Build
			if b == nil {
				t.Fatalf("no result, notes %v", r.Notes)
			}
			if b.Exit != c.exit || b.Ended != c.ended || !strings.Contains(b.Output, c.output) || len(b.Output) > maxBuildOutput {
				t.Errorf("exit %d, ended %q, output %.200q; want %d, %q, %q", b.Exit, b.Ended, b.Output, c.exit, c.ended, c.output)
			}
			if strings.Contains(b.Output, testKey) || name == "sees no key" && (strings.Contains(b.Output, "ASK_KEY") || !strings.Contains(b.Output, "CI=1")) {
				t.Errorf("output %q", b.Output)
			}
			if len(r.Transcript.Diff) != 1 || r.Transcript.Diff[0].Path != "made" || r.Transcript.FinalText != "I used Stripe." {
				t.Errorf("the answer holds what the build wrote: %+v", r.Transcript)
			}
			empty(t, d)
		})
	}
}

// TestBuildIsInTheSandbox sees that the command has the agent's sandbox, and no network where
// the agent had none.
func TestBuildIsInTheSandbox(t *testing.T) {
	try := func(ctx context.Context, argv []string) error {
		return exec.CommandContext(ctx, argv[0], argv[1:]...).Run()
	} //nolint:gosec // a sandbox
	d := deps(t)
	box, err := sandbox.Detect(t.Context(), sandbox.Config{LookPath: exec.LookPath, Try: try, Home: os.Getenv("HOME"), Root: d.Root, Superuser: os.Geteuid() == 0})
	if err != nil || box.Warning() != "" {
		if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "bwrap") {
			t.Fatal("FIRSTPICK_REQUIRE names bwrap: ", err, box.Warning())
		}
		t.Skip(box.Warning(), err)
	}
	d.Sandbox = box
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := &eval.Builds{Command: "cat " + outside + " && echo it saw; ls /sys/class/net 2>/dev/null; cat /proc/net/dev; ls"}
	a := eval.Agent{Name: "sh", Kind: eval.KindCommand, CLI: &eval.CLI{Network: "off", Builds: b, Command: []string{"sh", "-c", "echo x > made; echo done", "{prompt}"}}}
	r, _, err := ask(t.Context(), t, a, d)
	if err != nil {
		t.Fatal(err)
	}
	if r.Build == nil || strings.Contains(r.Build.Output, "it saw") || !strings.Contains(r.Build.Output, "made") {
		t.Fatalf("build %+v, notes %v", r.Build, r.Notes)
	}
	for line := range strings.Lines(r.Build.Output) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok && !strings.Contains(line, "|") && !strings.Contains(line, "/") && name != "lo" {
			t.Errorf("the build has the network device %s", name)
		}
	}
}

// TestInterruptedBuild keeps the answer and leaves the result open.
func TestInterruptedBuild(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d := deps(t)
	d.Clock = process.Clock{Now: time.Now, After: time.After}
	began := filepath.Join(t.TempDir(), "began")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(began); err == nil {
				stop()
			}
			<-time.After(10 * time.Millisecond)
		}
	}()
	r := built(ctx, t, d, "echo x > made; echo I used Stripe.", &eval.Builds{Command: "echo x > " + began + "; sleep 60"})
	if r.Build != nil || r.Transcript.FinalText != "I used Stripe." || len(r.Notes) != 1 || r.Notes[0] != "no result of builds: the run was interrupted" {
		t.Errorf("build %+v, notes %v, answer %+v", r.Build, r.Notes, r.Transcript)
	}
	empty(t, d)
}
