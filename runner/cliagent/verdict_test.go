package cliagent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/limiter"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A behaviour is what a program does, and what the verdict must be.
type behaviour struct {
	kind, what string
	fake       fakeCLI // Stdout, Stderr and Report name captures
	change     func(*eval.Agent)

	reason      string // of a failure; empty for an answer
	retry, lane bool
	stop        transcript.Stop
	final       string // is in the final text
	cmd         string // is in a command
	cost        bool   // is known
	signals     int    // at least, of limits
	// within bounds the time, where waiting for the program would take longer.
	within time.Duration
}

func seconds(wall, stall int) func(*eval.Agent) {
	return func(a *eval.Agent) { a.CLI.WallS, a.CLI.StallS = wall, stall }
}

const soon = 20 * time.Second // less than the minute of a pause

func behaviours() []behaviour {
	claude, codex, gemini, opencode, copilot := eval.KindClaudeCode, eval.KindCodex, eval.KindGeminiCLI, eval.KindOpenCode, eval.KindCopilot
	return []behaviour{
		{kind: claude, what: "answers", fake: fakeCLI{Stdout: "claude.jsonl"}, final: "Stripe", cmd: "npm install stripe", cost: true},
		{kind: codex, what: "answers", fake: fakeCLI{Stdout: "codex.jsonl", Stderr: "codex.stderr.txt"}, final: "Stripe", cmd: "npm install stripe", cost: true},
		{kind: gemini, what: "answers", fake: fakeCLI{Stdout: "gemini.jsonl", Stderr: "gemini.stderr.txt"}, final: "Stripe", cmd: "npm install stripe", cost: true},
		{kind: opencode, what: "answers", fake: fakeCLI{Stdout: "opencode.jsonl"}, final: "Stripe", cmd: "npm install stripe", cost: true},
		{kind: copilot, what: "answers", fake: fakeCLI{Stdout: "copilot.jsonl", Report: "copilot.usage.json"}, final: "Stripe", cmd: "npm install stripe", cost: true},

		{kind: claude, what: "hangs after its result", fake: fakeCLI{Stdout: "claude.jsonl", End: "hang"}, final: "Stripe", within: soon, cost: true},
		{kind: codex, what: "hangs after its result", fake: fakeCLI{Stdout: "codex.jsonl", End: "stubborn"}, final: "Stripe", within: soon, cost: true},
		{kind: gemini, what: "hangs after its result", fake: fakeCLI{Stdout: "gemini.jsonl", End: "hang"}, final: "Stripe", within: soon, cost: true},
		{kind: copilot, what: "hangs after its result", fake: fakeCLI{Stdout: "copilot.jsonl", End: "hang"}, final: "Stripe", within: soon},

		{kind: claude, what: "401, retries", fake: fakeCLI{Stdout: "claude_401.jsonl", Pause: "api_retry"}, reason: agent.ReasonAuth, lane: true, within: soon},
		{kind: codex, what: "401, retries", fake: fakeCLI{Stdout: "codex_401.jsonl", Pause: "Reconnecting"}, reason: agent.ReasonAuth, lane: true, within: soon},
		{kind: gemini, what: "401", fake: fakeCLI{Stdout: "gemini_401.jsonl", Stderr: "gemini_401.stderr.txt", Code: 145}, reason: agent.ReasonAuth, lane: true},
		{kind: opencode, what: "401", fake: fakeCLI{Stdout: "opencode_401.jsonl", Code: 1}, reason: agent.ReasonAuth, lane: true},
		{kind: copilot, what: "401", fake: fakeCLI{Stdout: "copilot_401.jsonl", Code: 1}, reason: agent.ReasonAuth, lane: true},

		{kind: claude, what: "429 to the end", fake: fakeCLI{Stdout: "claude_429.jsonl", Code: 1}, reason: agent.ReasonRateLimited, retry: true, signals: 7},
		{kind: codex, what: "429 to the end", fake: fakeCLI{Stdout: "codex_429.jsonl", Code: 1}, reason: agent.ReasonRateLimited, retry: true, signals: 5},
		{kind: gemini, what: "429 to the end", fake: fakeCLI{Stdout: "gemini_429.jsonl", Stderr: "gemini_429.stderr.txt", Code: 1}, reason: agent.ReasonRateLimited, retry: true, signals: 4},
		{kind: opencode, what: "429 to the end", fake: fakeCLI{Stdout: "opencode_429.jsonl", Code: 1}, reason: agent.ReasonRateLimited, retry: true},
		{kind: copilot, what: "429 to the end", fake: fakeCLI{Stdout: "copilot_429.jsonl", Code: 1}, reason: agent.ReasonRateLimited, retry: true, signals: 5},

		{kind: claude, what: "reaches its turns", fake: fakeCLI{Stdout: "claude_maxturns.jsonl", Code: 1}, stop: transcript.StopTurns, cost: true},
		{kind: claude, what: "reaches its budget", fake: fakeCLI{Stdout: "claude_budget.jsonl", Code: 1}, stop: transcript.StopCost, cost: true},
		{kind: opencode, what: "costs too much on the way", fake: fakeCLI{Stdout: "opencode.jsonl", Pause: `"reason":"tool-calls"`},
			change: func(a *eval.Agent) { a.CLI.TrialCostUSD = 0.000001 }, stop: transcript.StopCost, cmd: "npm install stripe", within: soon, cost: true},

		{kind: claude, what: "crashes before an answer", fake: fakeCLI{Stdout: "claude.jsonl", Lines: 1, End: "kill"}, reason: agent.ReasonCrashed, retry: true},
		{kind: codex, what: "crashes before an answer", fake: fakeCLI{Stdout: "codex.jsonl", Lines: 2, End: "kill"}, reason: agent.ReasonCrashed, retry: true},
		{kind: gemini, what: "crashes before an answer", fake: fakeCLI{Stdout: "gemini.jsonl", Lines: 1, Code: 1}, reason: agent.ReasonCrashed, retry: true},
		{kind: claude, what: "crashes after a command", fake: fakeCLI{Stdout: "claude.jsonl", Lines: 4, End: "kill"}, stop: transcript.StopIncomplete, cmd: "npm install stripe"},
		{kind: claude, what: "crashes after a command that changed nothing", fake: fakeCLI{Stdout: "claude.jsonl", Lines: 4, End: "kill", Write: map[string]string{}}, reason: agent.ReasonCrashed, retry: true},

		{kind: claude, what: "never says a word", fake: fakeCLI{End: "hang"}, change: seconds(60, 1), reason: agent.ReasonStalled, retry: true, within: soon},
		{kind: codex, what: "never says a word", fake: fakeCLI{End: "hang"}, change: seconds(1, 60), reason: agent.ReasonTimeout, retry: true, within: soon},
		{kind: claude, what: "stalls after a command", fake: fakeCLI{Stdout: "claude.jsonl", Lines: 4, End: "hang"}, change: seconds(60, 1), stop: transcript.StopTime, cmd: "npm install stripe", within: soon},
		{kind: claude, what: "works too long", fake: fakeCLI{Stdout: "claude.jsonl", Lines: 4, End: "hang"}, change: seconds(2, 60), stop: transcript.StopTime, cmd: "npm install stripe", within: soon},
		{kind: claude, what: "waits for its provider too long", fake: fakeCLI{Stdout: "claude_429.jsonl", End: "hang"}, change: seconds(2, 60), reason: agent.ReasonRateLimited, retry: true, signals: 7, within: soon},
		{kind: gemini, what: "writes without end", fake: fakeCLI{Stdout: "gemini.jsonl", Lines: 1, End: "endless"}, change: seconds(2, 60), reason: agent.ReasonTimeout, retry: true, within: soon},
		{kind: claude, what: "writes one line of 200 MB", fake: fakeCLI{Stdout: "claude.jsonl", End: "long line"}, final: "Stripe", cost: true},

		{kind: eval.KindCommand, what: "answers", fake: fakeCLI{Stdout: "codex.last.txt"}, final: "Stripe"},
		{kind: eval.KindCommand, what: "answers as codex does", fake: fakeCLI{Stdout: "codex.jsonl"}, change: func(a *eval.Agent) { a.CLI.Format = eval.KindCodex }, final: "Stripe", cmd: "npm install stripe", cost: true},
		{kind: eval.KindCommand, what: "crashes", fake: fakeCLI{Code: 3}, reason: agent.ReasonCrashed, retry: true},
	}
}

// TestVerdicts runs every behaviour as a real process. With -v it prints the table.
func TestVerdicts(t *testing.T) {
	for _, b := range behaviours() {
		t.Run(strings.ReplaceAll(b.kind+" "+b.what, " ", "_"), func(t *testing.T) {
			t.Parallel()
			f := b.fake
			f.Stdout, f.Stderr, f.Report = capture(t, f.Stdout), capture(t, f.Stderr), capture(t, f.Report)
			if f.Write == nil {
				f.Write = map[string]string{"package.json": `{"dependencies": {"stripe": "^17.0.0"}}`, "key.txt": testKey}
			}
			a := spec(t, b.kind, f)
			a.Price = &eval.Price{InputPerMTok: 1, OutputPerMTok: 2}
			if b.change != nil {
				b.change(&a)
			}
			d := deps(t)
			began := time.Now()
			r, h, err := ask(t.Context(), t, a, d)
			took := time.Since(began)
			if b.within > 0 && took > b.within {
				t.Errorf("took %s", took)
			}
			empty(t, d)
			limited := 0
			for _, s := range h.signals {
				if s.Verdict == limiter.Limited {
					limited++
				}
			}
			if limited < b.signals {
				t.Errorf("%d signals of limits, want %d", limited, b.signals)
			}
			t.Logf("| %s | %s | %s |", b.kind, b.what, b.check(t, r, err))
		})
	}
}

// check compares and tells what happened.
func (b behaviour) check(t *testing.T, r agent.Reply, err error) string {
	t.Helper()
	var infra *agent.InfraError
	if errors.As(err, &infra) != (err != nil) {
		t.Fatalf("an error of no class: %v", err)
	}
	if err != nil {
		if infra.Reason != b.reason || infra.Retry != b.retry || infra.Lane != b.lane {
			t.Errorf("%v (retry %t, lane %t), want %q", err, infra.Retry, infra.Lane, b.reason)
		}
		if strings.Contains(err.Error()+string(infra.Raw), testKey) {
			t.Errorf("the key is shown: %v", err)
		}
		if b.fake.Stdout != "" && len(infra.Raw) == 0 {
			t.Error("what came was not kept")
		}
		return fmt.Sprintf("no answer: %s, retry %t, lane %t, after %s", infra.Reason, infra.Retry, infra.Lane, infra.After)
	}
	tr := r.Transcript
	if b.reason != "" || tr.Stop != b.stop || !strings.Contains(tr.FinalText, b.final) {
		t.Errorf("an answer: %q, stop %q; want %q, stop %q, reason %q", tr.FinalText, tr.Stop, b.final, b.stop, b.reason)
	}
	if b.cmd != "" && (len(tr.Commands) == 0 || !strings.Contains(tr.Commands[0].Cmd, b.cmd)) {
		t.Errorf("commands %v, want %q", tr.Commands, b.cmd)
	}
	if b.cost != (r.CostUSD != nil) || b.cost && *r.CostUSD <= 0 {
		t.Errorf("cost %v, usage %v", r.CostUSD, r.Usage)
	}
	if len(tr.Diff) != 2 || tr.Diff[0].Path != "key.txt" || len(tr.Diff[1].AddedDeps) != 1 {
		t.Errorf("diff %+v", tr.Diff)
	}
	if strings.Contains(fmt.Sprint(tr)+string(r.Raw), testKey) {
		t.Error("the key is shown")
	}
	if len(r.Raw) == 0 || r.Model == "" && b.kind != eval.KindCommand || r.At.IsZero() {
		t.Errorf("raw %d bytes, model %q, at %s", len(r.Raw), r.Model, r.At)
	}
	return fmt.Sprintf("answer, stop %q, %d commands", tr.Stop, len(tr.Commands))
}

// TestLongWait: a program that announces a wait beyond a minute is ended, and the
// runner is told how long to wait.
func TestLongWait(t *testing.T) {
	line := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":300000,"error_status":%s,"error":"rate_limit"}` + "\n"
	for status, reason := range map[string]string{"429": agent.ReasonRateLimited, "529": agent.ReasonServer} {
		a := spec(t, eval.KindClaudeCode, fakeCLI{Stdout: write(t, fmt.Sprintf(line, status)), End: "hang"})
		_, _, err := ask(t.Context(), t, a, deps(t))
		var infra *agent.InfraError
		if !errors.As(err, &infra) || infra.Reason != reason || infra.After != 5*time.Minute || !infra.Retry {
			t.Errorf("status %s: %#v", status, err)
		}
	}
}

// TestInterrupted: a run that ends takes the program with it.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	line := `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":10,"error_status":429,"error":"rate_limit"}` + "\n"
	d := deps(t)
	p, err := New(spec(t, eval.KindClaudeCode, fakeCLI{Stdout: write(t, line), End: "hang"}), d)
	if err != nil {
		t.Fatal(err)
	}
	q := task("hi", &heard{})
	q.Signal = func(limiter.Signal) { cancel() } // it runs by now
	if _, err := p.Ask(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	empty(t, d)
}

// TestInterruptedAfterAnswer: an answer that is there when a run ends is kept.
func TestInterruptedAfterAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	text, err := os.ReadFile(capture(t, "claude.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"retry_delay_ms":10,"error_status":429,"error":"rate_limit"}` + "\n"
	a := spec(t, eval.KindClaudeCode, fakeCLI{Stdout: write(t, string(text)+retry), End: "hang"})
	a.CLI.GraceS = 60
	p, err := New(a, deps(t))
	if err != nil {
		t.Fatal(err)
	}
	q := task("hi", &heard{})
	q.Signal = func(limiter.Signal) { cancel() }
	r, err := p.Ask(ctx, q)
	if err != nil || !strings.Contains(r.Transcript.FinalText, "Stripe") || r.CostUSD == nil {
		t.Errorf("%q, %v", r.Transcript.FinalText, err)
	}
}
