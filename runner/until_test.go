package runner_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// opinion answers by the trial's id, and fails for one in sixteen.
func opinion(_ context.Context, t agent.Task) (agent.Reply, error) {
	if t.Trial.ID[0] == '0' {
		return agent.Reply{}, infra("malformed", false)
	}
	tool := "flask"
	if t.Trial.ID[0] > 'b' {
		tool = "django"
	}
	return agent.Reply{Result: &pick.Result{Kind: pick.Tool, Picked: tool}}, nil
}

// after decides once a number of families prefer flask to django.
func after(families int) func([]runner.Choice) (journal.Verdict, bool) {
	wins := 0
	return func(family []runner.Choice) (journal.Verdict, bool) {
		lead := 0
		for _, c := range family {
			lead += strings.Compare(c.Picked, "dz") // flask +1, django -1
		}
		if lead > 0 {
			wins++
		}
		return journal.Verdict{Met: true, Text: fmt.Sprintf("flask leads in %d", wins)}, wins >= families
	}
}

// newStopping returns a bench with a stopping rule: 12 families, of which some have two
// phrasings, in waves of 3.
func newStopping(t *testing.T, ask script) *bench {
	t.Helper()
	b := &bench{root: t.TempDir(), log: &log{}}
	e := &eval.Eval{Name: "web", Category: "web", Seed: 3, Repeats: 2, Templates: []string{"none"}, Agents: []eval.Agent{{Name: "a", Kind: eval.KindOpenAIChat}, {Name: "b", Kind: eval.KindOpenAIChat}}}
	for i := range 16 {
		e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprint("p", i), Text: fmt.Sprint("Ask ", i), Family: fmt.Sprint("f", i%12)})
	}
	run := journal.Run{ID: "r1", Eval: *e, Planned: e.Trials(), Until: &journal.Until{Rule: "lead", Families: 12, Wave: 3}}
	j, err := journal.Create(b.root, run)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	c := newClock()
	b.trials = run.Trials()
	b.Runner = &runner.Runner{
		Eval: e, Agents: map[string]agent.Agent{"a": priced{ask, 0.01}, "b": priced{ask, 0.01}}, Journal: j, Sinks: []runner.Sink{b.log}, Concurrency: 4, Now: c.Now, Sleep: c.Sleep,
	}
	return b
}

// start starts or resumes the run with a rule, as the program does.
func (b *bench) start(t *testing.T, ctx context.Context, families int) (runner.Summary, journal.Run, error) {
	t.Helper()
	run, err := journal.ReadRun(b.root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	done, err := runner.Replay(b.root, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if b.Until = nil; run.Until.Stopped == nil {
		b.Until = &runner.Until{Families: run.Families(), Wave: run.Until.Wave, Look: after(families)}
	}
	s, runErr := b.Run(ctx, run.Trials(), done)
	if s.Planned != s.Valid+s.Excluded+s.Missing {
		t.Fatalf("the sum is wrong: %+v", s)
	}
	if run, err = journal.ReadRun(b.root, "r1"); err != nil {
		t.Fatal(err)
	}
	return s, run, runErr
}

// asked returns the families of the journal's trials in the order of their last record, and
// the number of trials.
func (b *bench) asked(t *testing.T) (families []string, trials int) {
	t.Helper()
	seen := map[string]bool{}
	_, err := journal.Scan(b.root, "r1", journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind != journal.KindManifest {
			families = slices.DeleteFunc(families, func(f string) bool { return f == r.Trial.Family })
			families, seen[r.Trial.ID] = append(families, r.Trial.Family), true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return families, len(seen)
}

// finished checks a run that its rule has ended.
func (b *bench) finished(t *testing.T, s runner.Summary, run journal.Run) {
	t.Helper()
	if s.Missing != 0 || s.Stopped != "" || run.Until.Stopped == nil || s.Planned != run.Planned || run.Planned != len(run.Trials()) || len(run.Notes) != 1 {
		t.Fatalf("%+v\n%+v, %d trials", s, run, len(run.Trials()))
	}
	families, trials := b.asked(t)
	if trials != run.Planned || len(families) != run.Until.Stopped.Asked {
		t.Fatalf("%d trials of %d families were asked; planned are %d, of %+v", trials, len(families), run.Planned, run.Until.Stopped)
	}
}

func TestAStoppingRuleEndsTheRunAfterAWave(t *testing.T) {
	b := newStopping(t, opinion)
	s, run, err := b.start(t, t.Context(), 4)
	if err != nil || s.Decided == nil || s.Excluded == 0 {
		t.Fatalf("%+v, %v", s, err)
	}
	b.finished(t, s, run)
	if d := cmp.Diff(&journal.Stopped{Verdict: journal.Verdict{Met: true, Text: "flask leads in 4"}, After: 5, Asked: 6}, s.Decided); d != "" || !cmp.Equal(s.Decided, run.Until.Stopped) {
		t.Fatalf("%s, stored %+v", d, run.Until.Stopped)
	}
	families, before := b.asked(t)
	var plan []string
	for _, f := range run.Families() {
		plan = append(plan, f[0].Family)
	}
	slices.Sort(plan[:3])
	slices.Sort(families[:3])
	if !slices.Equal(plan[:3], families[:3]) {
		t.Errorf("a family of the second wave ended before the first wave: %v", families)
	}
	if s, _, err = b.start(t, t.Context(), 4); err != nil || s.Planned != run.Planned || s.Missing != 0 {
		t.Fatalf("resumed: %+v, %v", s, err)
	}
	if _, after := b.asked(t); after != before {
		t.Fatalf("a finished run asked %d more trials", after-before)
	}
}

func TestARuleThatStaysOpenRunsThePlan(t *testing.T) {
	b := newStopping(t, opinion)
	s, run, err := b.start(t, t.Context(), 100)
	if err != nil || s.Decided != nil || s.Planned != len(b.trials) || s.Missing != 0 || s.Stopped != "" || run.Until.Stopped != nil || run.Planned != s.Planned {
		t.Fatalf("%+v, %+v, %v", s, run.Until, err)
	}
}

// TestResumedRunsStopAtTheSameFamily ends runs early at many places: by interruption, and by
// a budget.
func TestResumedRunsStopAtTheSameFamily(t *testing.T) {
	straight := newStopping(t, opinion)
	_, want, err := straight.start(t, t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < want.Planned+3; cut += 5 {
		for _, budget := range []bool{false, true} {
			b := newStopping(t, opinion)
			ctx, cancel := context.WithCancel(t.Context())
			b.Concurrency = 1 + cut%7
			if budget {
				b.MaxCostUSD = 0.01 * float64(cut)
			} else {
				b.log.fail = func(e runner.Event) error {
					if e.Done >= cut {
						cancel()
					}
					return nil
				}
			}
			if _, _, err := b.start(t, ctx, 4); err != nil {
				t.Fatal(err)
			}
			cancel()
			b.log.fail, b.MaxCostUSD, b.Concurrency = nil, 0, 5
			s, run, err := b.start(t, t.Context(), 4)
			if err != nil {
				t.Fatal(err)
			}
			b.finished(t, s, run)
			if !reflect.DeepEqual(run, want) {
				t.Fatalf("cut after %d, budget %v: %+v, %+v without the cut", cut, budget, run.Until.Stopped, want.Until.Stopped)
			}
		}
	}
}

func TestAClosedAgentLeavesTheRuleOpen(t *testing.T) {
	b := newStopping(t, opinion)
	b.Agents["b"] = script(func(context.Context, agent.Task) (agent.Reply, error) { return agent.Reply{}, infra("auth", false) })
	s, run, err := b.start(t, t.Context(), 4)
	families, _ := b.asked(t)
	if err != nil || run.Until.Stopped != nil || s.Missing == 0 || s.Stopped != runner.StoppedIncomplete || s.Reasons["auth"] == 0 || len(families) != 3 {
		t.Fatalf("%+v, %+v, %v, %v", s, run.Until, families, err)
	}
	b.Agents["b"] = priced{script(opinion), 0.01}
	s, run, err = b.start(t, t.Context(), 4)
	if err != nil {
		t.Fatal(err)
	}
	b.finished(t, s, run)
}

// A stubborn journal does not store the stop.
type stubborn struct{ runner.Journal }

func (stubborn) Stop(journal.Stopped) error { return io.ErrShortWrite }

func TestAVerdictThatCannotBeStoredIsReachedAgain(t *testing.T) {
	b := newStopping(t, opinion)
	whole := b.Journal
	b.Journal = stubborn{whole}
	if s, run, err := b.start(t, t.Context(), 4); !errors.Is(err, io.ErrShortWrite) || s.Decided != nil || run.Until.Stopped != nil {
		t.Fatalf("%+v, %+v, %v", s, run.Until, err)
	}
	b.Journal = whole
	s, run, err := b.start(t, t.Context(), 4)
	if err != nil || run.Until.Stopped.After != 5 {
		t.Fatalf("%+v, %v", run.Until, err)
	}
	b.finished(t, s, run)
}

// TestFamiliesThatHaveBegunAreFinished decides by fewer families than an earlier start has
// begun, as it happens when excluded trials are tried again.
func TestFamiliesThatHaveBegunAreFinished(t *testing.T) {
	b := newStopping(t, opinion)
	ctx, cancel := context.WithCancel(t.Context())
	b.log.fail = func(e runner.Event) error {
		if e.Done >= 40 {
			cancel()
		}
		return nil
	}
	if _, _, err := b.start(t, ctx, 100); err != nil {
		t.Fatal(err)
	}
	b.log.fail = nil
	begun, before := b.asked(t)
	s, run, err := b.start(t, t.Context(), 1)
	if err != nil || len(begun) <= 6 || run.Until.Stopped.After > 3 || run.Until.Stopped.Asked < len(begun) || run.Planned < before {
		t.Fatalf("%d families begun, %+v, %v", len(begun), run.Until.Stopped, err)
	}
	b.finished(t, s, run)
}
