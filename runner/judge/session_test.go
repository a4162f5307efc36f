package judge_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/judge"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/provider/providertest"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestPrecisionOfAgreement measures pairs of judges with independent errors. Two errors
// agree only by chance, so that agreement is right far more often than one judge.
func TestPrecisionOfAgreement(t *testing.T) {
	const n = 400
	for _, test := range []struct {
		errors             float64
		precision, resolve float64 // at least
	}{{0, 1, 1}, {0.05, 0.99, 0.86}, {0.10, 0.985, 0.76}, {0.20, 0.96, 0.58}} {
		t.Run(fmt.Sprint(test.errors), func(t *testing.T) {
			w := newWorld(t, answers(n))
			a, b := serve(t, "gpt-judge", faithful("a", test.errors)), serve(t, "claude-judge", faithful("b", test.errors))
			report, sum := w.ask(100, a, b)
			right, resolved := w.precision()
			precision, share := float64(right)/float64(resolved), float64(resolved)/n
			t.Logf("errors of one judge %.0f %%: precision of the pair %.4f (%d of %d), resolved %.3f, %+v", 100*test.errors, precision, right, resolved, share, report)
			if precision < test.precision || share < test.resolve {
				t.Errorf("precision %.4f, resolved %.3f", precision, share)
			}
			if sum.Missing != 0 || report.Judged != n || report.Agreed+report.Disagreed != n || report.Resolved != resolved || report.Waiting != 0 {
				t.Errorf("%+v, %+v", sum, report)
			}
		})
	}
}

// TestAJudgedResult pins what a judgement makes of a result, and that the kept judgements
// make the same of it again.
func TestAJudgedResult(t *testing.T) {
	w := newWorld(t, answers(1))
	w.ask(1, serve(t, "gpt-judge", faithful("a", 0)), serve(t, "claude-judge", faithful("b", 0)))
	quote := "All told, Stripe carries the day for your shop."
	want := pick.Result{
		Kind: pick.Tool, Picked: "stripe", Shortlist: []string{"stripe"}, Method: pick.MethodJudge, Rule: "judges agree", Level: pick.LevelStatement,
		Extractor: pick.Version, Catalog: w.cat.Version,
		Evidence: []pick.Evidence{
			{Tool: "stripe", Level: pick.LevelStatement, Kind: "judge", Path: "claude-judge", Quote: quote},
			{Tool: "stripe", Level: pick.LevelStatement, Kind: "judge", Path: "gpt-judge", Quote: quote},
		},
	}
	if diff := cmp.Diff(want, w.results()[0]); diff != "" {
		t.Error(diff)
	}
	var kept judge.Kept
	w.scan(kept.Add)
	text := transcript.Transcript{FinalText: answer(0)}
	if diff := cmp.Diff(want, kept.Apply(w.reader, trialOf(0).ID, text, *w.rules())); diff != "" {
		t.Errorf("applied again: %s", diff)
	}
	for name, got := range map[string]pick.Result{
		"another transcript": kept.Apply(w.reader, trialOf(0).ID, transcript.Transcript{FinalText: answer(0) + "Or not."}, *w.rules()),
		"another trial":      kept.Apply(w.reader, trialOf(1).ID, text, *w.rules()),
		"another catalogue":  kept.Apply(w.without("paypal"), trialOf(0).ID, text, *w.rules()),
	} {
		if !got.Unresolved || got.Method == pick.MethodJudge {
			t.Errorf("%s: %+v", name, got)
		}
	}
	decided := pick.Result{Kind: pick.None, Method: pick.MethodStatement}
	if got := kept.Apply(w.reader, trialOf(0).ID, text, decided); !cmp.Equal(got, decided) {
		t.Errorf("the rules decide now: %+v", got)
	}
}

// without is the reader of the category without one tool.
func (w *world) without(slug string) *judge.Reader {
	category, _ := w.cat.Category("payments")
	other := *category
	other.Entries = nil
	for _, e := range category.Entries {
		if e.Tool.Slug != slug {
			other.Entries = append(other.Entries, e)
		}
	}
	if len(other.Entries) != len(category.Entries)-1 {
		w.t.Fatalf("no tool %s", slug)
	}
	return judge.New(&other)
}

// TestPromptsAndPricesAreKept reads from the journal what was sent, answered and charged.
func TestPromptsAndPricesAreKept(t *testing.T) {
	w := newWorld(t, answers(3))
	a, b := serve(t, "gpt-judge", faithful("a", 0)), serve(t, "claude-judge", faithful("b", 0))
	report, _ := w.ask(1, a, b)
	sent := map[string]bool{}
	for _, m := range []model{a, b} {
		for _, q := range m.server.Requests() {
			sent["[system]\n"+q.System+"\n\n[user]\n"+q.Prompt] = true
		}
	}
	steps, manifests := map[journal.Kind]int{}, map[string]bool{}
	usd := 0.0
	w.scan(func(r journal.Record) {
		if r.Kind == journal.KindManifest {
			manifests[r.Manifest.Agent+" "+r.Manifest.Model] = true
		}
		if r.Judgement == nil {
			return
		}
		steps[r.Judgement.Step]++
		if r.Judgement.Step == journal.KindAsked && r.AtMostUSD == nil {
			t.Error("a request without its worst case")
		}
		if r.Judgement.Step != journal.KindResult {
			return
		}
		usd += *r.Answer.CostUSD
		prompt, err := journal.ReadRaw(w.root, runID, *r.Judgement.Prompt)
		if err != nil || !sent[string(prompt)] {
			t.Errorf("prompt %.80q: %v", prompt, err)
		}
		if raw, err := journal.ReadRaw(w.root, runID, *r.Raw); err != nil || !strings.Contains(string(raw), "choice") {
			t.Errorf("raw answer %.80q: %v", raw, err)
		}
	})
	if steps[journal.KindAsked] != 6 || steps[journal.KindResult] != 6 || len(sent) != 6 {
		t.Errorf("%v of %d requests", steps, len(sent))
	}
	if !manifests["judge gpt-judge gpt-judge"] || !manifests["judge claude-judge claude-judge"] {
		t.Errorf("manifests %v", manifests)
	}
	if fmt.Sprintf("%.6f", usd) != fmt.Sprintf("%.6f", 6*answerUSD) || fmt.Sprintf("%.6f", report.SpentUSD) != fmt.Sprintf("%.6f", usd) {
		t.Errorf("spent %.6f, report %+v", usd, report)
	}
}

// TestNothingIsAskedTwice runs sessions again: with the same judges, with others, and
// after one of a pair was lost.
func TestNothingIsAskedTwice(t *testing.T) {
	w := newWorld(t, answers(20))
	a := serve(t, "gpt-judge", faithful("a", 0.5))
	broken := serve(t, "claude-broken", providertest.Always(providertest.Step{Do: providertest.Unauthorized}))
	report, sum := w.ask(1, a, broken)
	if report.Waiting != 20 || sum.Missing != 20 || sum.Closed["judge claude-broken"] == "" {
		t.Fatalf("%+v, %+v", report, sum)
	}
	b := serve(t, "claude-judge", faithful("b", 0.5))
	report, _ = w.ask(1, a, b)
	if report.Waiting != 0 || report.Judged != 20 || report.Disagreed == 0 || report.Resolved == 0 {
		t.Fatalf("%+v", report)
	}
	c, d := serve(t, "gemini-judge", faithful("c", 0)), serve(t, "mistral-judge", faithful("d", 0))
	again, _ := w.ask(1, c, d)
	if !cmp.Equal(again, report) || len(c.server.Requests())+len(d.server.Requests()) != 0 {
		t.Errorf("what two judges disagreed on was asked again: %+v", again)
	}
	for name, m := range map[string]model{"a": a, "b": b} {
		if counts := asked(m); len(counts) != 20 || len(m.server.Requests()) != 20 {
			t.Errorf("%s was asked %v", name, counts)
		}
	}
}

// TestTheBudgetHolds ends sessions by their budget: what the models charge stays below it,
// and a higher one continues.
func TestTheBudgetHolds(t *testing.T) {
	const n = 40
	w := newWorld(t, answers(n))
	a, b := serve(t, "gpt-judge", faithful("a", 0)), serve(t, "claude-judge", faithful("b", 0))
	charged := func() float64 { return float64(len(a.server.Requests())+len(b.server.Requests())) * answerUSD }
	before := 0
	for _, limit := range []float64{0.012, 0.04, 0.08} {
		report, sum := w.ask(limit, a, b)
		if charged() > limit || report.SpentUSD > limit {
			t.Errorf("limit %g: charged %g, spent %g", limit, charged(), report.SpentUSD)
		}
		if sum.Stopped != runner.StoppedBudget || report.Judged <= before || report.Judged+report.Waiting != n {
			t.Errorf("limit %g: %+v, %+v", limit, sum, report)
		}
		if onlyOne := len(a.server.Requests()) + len(b.server.Requests()) - 2*report.Judged; onlyOne > 16 {
			t.Errorf("limit %g: %d requests for answers that only one judge read", limit, onlyOne)
		}
		before = report.Judged
	}
	report, sum := w.ask(1, a, b)
	if sum.Stopped != "" || report.Resolved != n || len(a.server.Requests()) != n || len(b.server.Requests()) != n {
		t.Errorf("without a limit: %+v, %+v", sum, report)
	}
}

// TestProvidersInTrouble gives every request a refusal for the rate or a server's error
// before its answer.
func TestProvidersInTrouble(t *testing.T) {
	for name, trouble := range map[string]providertest.Step{
		"rate limits":   {Do: providertest.Limited, Style: providertest.Silent},
		"server errors": {Do: providertest.ServerError},
		"half a body":   {Do: providertest.CutBody},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, answers(6))
			troubled := func(inner providertest.Script) providertest.Script {
				var n atomic.Int32
				return func(q providertest.Request) providertest.Step {
					if n.Add(1)%3 == 1 {
						return trouble
					}
					return inner(q)
				}
			}
			a, b := serve(t, "gpt-judge", troubled(faithful("a", 0))), serve(t, "claude-judge", troubled(faithful("b", 0)))
			report, sum := w.ask(1, a, b)
			if right, resolved := w.precision(); right != 6 || resolved != 6 || sum.Missing+sum.Excluded != 0 {
				t.Errorf("%d of %d right: %+v, %+v", right, resolved, sum, report)
			}
		})
	}
}

// TestOneVendorDoesNotDecide keeps judgements of two models of one vendor, then of others.
func TestOneVendorDoesNotDecide(t *testing.T) {
	w := newWorld(t, nil)
	text := transcript.Transcript{FinalText: answer(0)}
	var kept judge.Kept
	add := func(vendor, picked string) pick.Result {
		v := &pick.Result{Kind: pick.Tool, Picked: picked}
		of := &journal.Judgement{Step: journal.KindResult, Judge: vendor + "-x", Vendor: vendor, Binding: w.reader.Binding(text)}
		kept.Add(journal.Record{Kind: journal.KindJudgement, Trial: trialOf(0), Judgement: of, Result: v})
		return kept.Apply(w.reader, trialOf(0).ID, text, *w.rules())
	}
	for i, test := range []struct{ vendor, picked, rule string }{
		{"openai", "stripe", "last"}, {"openai", "stripe", "last"}, {"anthropic", "adyen", pick.RuleJudgesDisagree}, {"google", "stripe", pick.RuleJudgesDisagree},
	} {
		if r := add(test.vendor, test.picked); !r.Unresolved || r.Rule != test.rule {
			t.Errorf("judgement %d: %+v", i+1, r)
		}
	}
}

// TestBindingsHoldTheOptions checks every category.
func TestBindingsHoldTheOptions(t *testing.T) {
	w := newWorld(t, nil)
	for _, c := range w.cat.Categories {
		if judge.New(c).Binding(transcript.Transcript{}) == judge.New(&catalog.Category{Slug: c.Slug}).Binding(transcript.Transcript{}) {
			t.Errorf("%s: the binding ignores the options", c.Slug)
		}
	}
}
