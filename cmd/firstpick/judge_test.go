package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/runner/transcript"
)

const (
	judgedRun = "judged-1"
	// A reply of providertest's usage costs 1200 * 1 + 60 * 10 micro-dollars.
	judgeUSD = 0.0018
)

// A judged is a folder with a run whose answers are all unresolved, and two judges.
type judged struct {
	t    *testing.T
	dir  string
	a, b *providertest.Server
	// byRules means that the rules themselves leave the answers unresolved.
	byRules bool
}

// newJudged makes a run of n answers. Its eval has the judges among its agents.
func newJudged(t *testing.T, n int, delay func() time.Duration) *judged {
	t.Helper()
	read := func(q providertest.Request) providertest.Step {
		m := regexp.MustCompile(`(?m)^(\d+)\. Stripe$`).FindStringSubmatch(q.System)
		return providertest.Step{Text: fmt.Sprintf(`{"choice": %s, "quote": "Stripe carries the day."}`, m[1]), Delay: delay()}
	}
	w := &judged{t: t, dir: t.TempDir(), a: providertest.New(read), b: providertest.New(read)}
	t.Cleanup(w.a.Close)
	t.Cleanup(w.b.Close)
	source := fmt.Sprintf(`name: judged
category: payments
prompts:
  - {id: p1, text: Take payments for my shop.}
agents:
  - {name: gpt, kind: openai-chat, base_url: %q, model: gpt-fake, max_tokens: 100, price: {input_per_mtok: 1, output_per_mtok: 10}}
  - {name: gpt-2, kind: openai-chat, base_url: %q, model: gpt-other, price: {input_per_mtok: 1, output_per_mtok: 10}}
  - {name: claude, kind: anthropic, base_url: %q, model: claude-fake, max_tokens: 100, price: {input_per_mtok: 1, output_per_mtok: 10}}
  - {name: ollama-2, kind: openai-chat, base_url: %q, model: llama-fake}
  - {name: made, kind: simulated, truth: {stripe: 1}}
`, w.a.URL+"/v1", w.a.URL+"/v1", w.b.URL, w.b.URL+"/v1")
	ev, err := eval.Parse("judged.yaml", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	run := journal.Run{ID: judgedRun, Eval: *ev, Planned: n, CreatedAt: time.Unix(1, 0), Catalog: cat.Version, Extractor: pick.Version}
	j, err := journal.Create(w.runs(), run)
	if err != nil {
		t.Fatal(err)
	}
	category, _ := cat.Category("payments")
	rules := pick.New(category, cat.Version)
	var records []journal.Record
	for i := range n {
		said := transcript.Transcript{FinalText: fmt.Sprintf("This is case %d.\nBraintree is too expensive.\nStripe carries the day.\nPaddle is fast.", i)}
		read := rules.Extract(said)
		if w.byRules = read.Unresolved; !w.byRules { // rules that leave nothing unresolved
			read = pick.Result{Kind: pick.Ambiguous, Unresolved: true, Extractor: pick.Version, Catalog: cat.Version}
		}
		trial := plan.Trial{ID: fmt.Sprintf("%020d", i), Eval: "judged", Category: "payments", PromptID: "p1", Agent: "made", Template: "none", Repeat: i + 1}
		records = append(records, journal.Record{
			Kind: journal.KindResult, Trial: trial, At: time.Unix(1, 0), Attempt: 1,
			Answer: &journal.Answer{Transcript: said}, Result: &read,
		})
	}
	if err := errors.Join(j.Append(t.Context(), records...), j.Close()); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *judged) runs() string { return filepath.Join(w.dir, ".firstpick", "runs") }

// judge is the command about the run.
func (w *judged) judge(args ...string) *exec.Cmd {
	return firstpick(w.t, w.dir, append([]string{"extract", "judge", judgedRun}, args...)...)
}

// stored returns the number of results by judge and trial, and how many trials are decided.
func (w *judged) stored() (results map[string]int, decided int) {
	w.t.Helper()
	results = map[string]int{}
	_, err := journal.Scan(w.runs(), judgedRun, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Judgement != nil && r.Judgement.Step == journal.KindResult {
			results[r.Judgement.Judge+" "+strings.TrimLeft(r.Trial.ID, "0")]++
		}
		if r.Kind == journal.KindExtraction && r.Result.Method == pick.MethodJudge && r.Result.Picked == "stripe" {
			decided++
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return results, decided
}

// sent returns the number of requests by judge and trial.
func (w *judged) sent() map[string]int {
	out := map[string]int{}
	for name, s := range map[string]*providertest.Server{"gpt": w.a, "claude": w.b} {
		for _, q := range s.Requests() {
			m := regexp.MustCompile(`case (\d+)\.`).FindStringSubmatch(q.Prompt)
			out[name+" "+strings.TrimLeft(m[1], "0")]++
		}
	}
	return out
}

// TestKilledJudgesContinue kills the command ten times while it asks. No stored judgement
// is lost or asked for again, and the budget counts what the kills may have cost.
func TestKilledJudgesContinue(t *testing.T) {
	if testing.Short() {
		t.Skip("kills the command ten times: some seconds")
	}
	const n, kills, budget = 150, 10, 5.0
	w := newJudged(t, n, func() time.Duration { return time.Duration(10+rand.IntN(40)) * time.Millisecond })
	args := []string{"--with", "gpt,claude", "--max-cost", fmt.Sprint(budget), "--concurrency", "4"}
	frozen := map[string]int{} // requests sent for what is stored, at the time of the kill
	for k := range kills {
		before := len(w.sent())
		cmd := w.judge(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); len(w.sent()) < before+8 && time.Since(began) < time.Minute; time.Sleep(time.Millisecond) { // until it got somewhere
		}
		time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond) // the moment of the kill is the test
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		results, _ := w.stored()
		sent := w.sent()
		for key := range frozen {
			if results[key] != 1 {
				t.Fatalf("kill %d: the judgement %s was stored and is there %d times", k+1, key, results[key])
			}
		}
		for key := range results {
			if _, ok := frozen[key]; !ok {
				frozen[key] = sent[key]
			}
		}
	}
	inFlight := len(w.sent()) - len(frozen)
	out := must(t, w.judge(args...))
	results, decided := w.stored()
	sent := w.sent()
	for key, count := range frozen {
		if sent[key] != count {
			t.Errorf("%s was stored, and asked for again", key)
		}
	}
	charged := 0.0
	for _, count := range sent {
		charged += float64(count) * judgeUSD
	}
	report := w.report("--with", "gpt,claude", "--dry-run")
	t.Logf("%d kills left %d of %d judgements stored and %d requests without one; charged %.4f, counted %.4f to %.4f USD\n%s", kills, len(frozen), 2*n, inFlight, charged, report.SpentUSD, report.AtMostUSD, out)
	if len(results) != 2*n || decided != n || report.Resolved != n || report.Estimate.Requests != 0 {
		t.Errorf("%d judgements, %d decided, %+v", len(results), decided, report)
	}
	if len(frozen) == 0 || len(frozen) == 2*n {
		t.Error("no kill hit the work")
	}
	if charged > report.AtMostUSD+1e-9 || report.AtMostUSD > budget {
		t.Errorf("charged %.4f, counted %.4f to %.4f, budget %g", charged, report.SpentUSD, report.AtMostUSD, budget)
	}
}

// TestJudgementsApplyAgain extracts a judged run again, without a model.
func TestJudgementsApplyAgain(t *testing.T) {
	w := newJudged(t, 5, func() time.Duration { return 0 })
	if !w.byRules {
		t.Skip("the rules decide these answers")
	}
	must(t, w.judge("--with", "gpt,claude"))
	w.a.Close()
	w.b.Close()
	if out := must(t, firstpick(t, w.dir, "extract", "--run", judgedRun)); !strings.Contains(out, "5 trials: 0 outcomes changed, 0 more in the evidence only") {
		t.Errorf("applied again: %s", out)
	}
	// A newer extraction without the judgements is replaced by one with them.
	j, err := journal.Open(w.runs(), judgedRun)
	if err != nil {
		t.Fatal(err)
	}
	trial := plan.Trial{ID: fmt.Sprintf("%020d", 3), Eval: "judged", Category: "payments", PromptID: "p1", Agent: "made", Template: "none", Repeat: 4}
	lost := journal.Record{Kind: journal.KindExtraction, Trial: trial, At: time.Unix(2, 0), Result: &pick.Result{Kind: pick.None}}
	if err := errors.Join(j.Append(t.Context(), lost), j.Close()); err != nil {
		t.Fatal(err)
	}
	if out := must(t, firstpick(t, w.dir, "extract", "--run", judgedRun)); !strings.Contains(out, "5 trials: 1 outcome changed") {
		t.Errorf("after another extraction: %s", out)
	}
	if _, decided := w.stored(); decided != 6 {
		t.Errorf("%d decisions", decided)
	}
	if out := must(t, firstpick(t, w.dir, "why", trial.ID, "--run", judgedRun)); !strings.Contains(out, "decided  judge") || strings.Count(out, "Stripe carries the day.") < 2 {
		t.Errorf("why: %s", out)
	}
}

type judgeReport struct {
	Judged, Resolved, Waiting int
	SpentUSD                  float64 `json:"spent_usd"`
	AtMostUSD                 float64 `json:"at_most_usd"`
	Estimate                  struct {
		Requests    int
		ExpectedUSD *float64 `json:"expected_usd"`
		WorstUSD    *float64 `json:"worst_usd"`
	}
}

func (w *judged) report(args ...string) (r judgeReport) {
	w.t.Helper()
	cmd := w.judge(append(args, "--json")...)
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		w.t.Fatalf("%s: %v", out, err)
	}
	return r
}

// TestTwoJudgingsAtOnce starts the command while it runs already: the lock of the run lets
// one work.
func TestTwoJudgingsAtOnce(t *testing.T) {
	free := make(chan struct{})
	w := newJudged(t, 3, func() time.Duration {
		<-free
		return 0
	})
	first := w.judge("--with", "gpt,claude")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for began := time.Now(); len(w.sent()) == 0 && time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
	}
	out, err := w.judge("--with", "gpt,claude").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "is being written by another process (PID "+strconv.Itoa(first.Process.Pid)+")") {
		t.Errorf("a second one: %v\n%s", err, out)
	}
	close(free)
	if err := first.Wait(); err != nil {
		t.Error(err)
	}
	results, decided := w.stored()
	sent := w.sent()
	if len(results) != 6 || len(sent) != 6 || decided != 3 || len(w.a.Requests())+len(w.b.Requests()) != 6 {
		t.Errorf("%v, %v, %d decided", results, sent, decided)
	}
}

// TestJudgeCommand pins exit codes and what is printed.
func TestJudgeCommand(t *testing.T) {
	w := newJudged(t, 4, func() time.Duration { return 0 })
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"one judge", []string{"--with", "gpt"}, 2, "--with needs two models, got 1"},
		{"one vendor", []string{"--with", "gpt,gpt-2"}, 2, "gpt-fake and gpt-other are both of openai"},
		{"one vendor by two sellers", []string{"--with", "gpt,openai:gpt-5"}, 2, "are both of openai"},
		{"an agent that is no model", []string{"--with", "gpt,made"}, 2, "agent made is of kind simulated"},
		{"an unknown judge", []string{"--with", "gpt,claud"}, 2, "did you mean claude?"},
		{"no key", []string{"--with", "gpt,google:gemini-3.5-flash"}, 2, "GEMINI_API_KEY"},
		{"no price", []string{"--with", "gpt,google:gemini-unknown", "--dry-run"}, 0, "expected unknown"},
		{"no price under a budget", []string{"--with", "gpt,ollama-2"}, 2, "judge ollama-2: a budget needs a known maximum cost per request"},
		{"no budget", []string{"--with", "gpt,claude", "--max-cost", "0"}, 2, "--max-cost must be above 0"},
		{"a dry run", []string{"--with", "gpt,claude", "--dry-run"}, 0, "4 of 4 answers unresolved by the rules; 8 requests to gpt and claude: expected 0.0"},
		{"too small a budget", []string{"--with", "gpt,claude", "--max-cost", "0.012"}, 4, "the budget was reached; "},
		{"another budget", []string{"--with", "gpt,claude"}, 0, "judged 4 = agreed 4 + disagreed 0 (0 with an invalid judgement)\nresolved 4 of 4 unresolved answers\nspent 0.0144 USD"},
		{"counts", nil, 0, "judged 4 = agreed 4 + disagreed 0 (0 with an invalid judgement)\nresolved 4 of 4 unresolved answers\nspent 0.0144 USD"},
		{"again", []string{"--with", "gpt,claude"}, 0, "0 requests to gpt and claude"},
	} {
		out, err := w.judge(test.args...).CombinedOutput()
		var exit *exec.ExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		}
		if code != test.code || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s", test.name, code, test.code, test.want, out)
		}
	}
	if n := len(w.a.Requests()) + len(w.b.Requests()); n != 8 {
		t.Errorf("%d requests", n)
	}
	board := strings.Join(strings.Fields(must(t, firstpick(t, w.dir, "rank", "--run", judgedRun, "--json"))), "")
	if want := `"judge":{"judged":4,"agreed":4,"resolved":4}`; !strings.Contains(board, want) {
		t.Errorf("the board lacks %s: %s", want, board)
	}
	cmd := firstpick(t, w.dir, "extract", "judge", "no-run", "--with", "gpt,claude")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "no run no-run") {
		t.Errorf("%v: %s", err, out)
	}
}
