package trialstore

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A model keeps in Go what the journals under root say.
type model struct {
	root     string
	rng      *rand.Rand
	runs     map[string]journal.Run
	trials   map[string]map[string]journal.Record // by run and trial
	excluded map[string]map[string]bool
	clock    int64
}

func (m *model) result() *pick.Result {
	tools := []string{"django", "fastapi", "flask", "tornado"}
	tool := func() string { return tools[m.rng.IntN(len(tools))] }
	return []*pick.Result{
		{Kind: pick.Tool, Picked: tool(), Shortlist: []string{"flask", "tornado"}, Method: pick.MethodAction, Rule: "one tool", FirstNamed: tool()},
		{Kind: pick.Tool, Picked: tool(), Method: pick.MethodStatement, Rule: "commits", Say: tool()},
		{Kind: pick.DIY, Method: pick.MethodJudge, Rule: pick.RuleJudgesAgree, Shortlist: []string{"django"}},
		{Kind: pick.Ambiguous, Unresolved: true, Rule: pick.RuleJudgesDisagree, FirstNamed: tool()},
		{Kind: pick.Refused, Method: pick.MethodGiven},
		{Kind: pick.None},
	}[m.rng.IntN(6)]
}

// group counts one trial as SQL does.
func group(rec journal.Record) analytics.Group {
	r, t := rec.Result, rec.Trial
	g := analytics.Group{
		Prompt: t.Eval + "/" + t.PromptID, Agent: t.Agent, Template: t.Template, Outcome: r.Kind, Picked: r.Picked,
		Shortlist: r.Shortlist, FirstNamed: r.FirstNamed, Trials: 1, LastAt: micro(rec.At),
	}
	count := func(n *int, yes bool) {
		if yes {
			*n = 1
		}
	}
	read, agreed := r.Judged()
	count(&g.Mismatched, r.Mismatch())
	count(&g.Unresolved, r.Unresolved)
	count(&g.UnresolvedUnknown, !r.ReportsUnresolved())
	if count(&g.FirstUnknown, !r.ReportsFirstNamed()); g.FirstUnknown > 0 {
		g.FirstNamed = ""
	}
	count(&g.Judged, read)
	count(&g.Agreed, agreed)
	g.DecidedBy.Add(r.Layer(), 1)
	return g
}

// write adds records to the journal of a run, made if needed: results, also of trials
// that have one, exclusions and extractions.
func (m *model) write(t *testing.T, id string, n int) {
	t.Helper()
	r, known := m.runs[id]
	if !known {
		e := eval.Eval{Name: "e" + id[1:], Category: "c" + id[2:], Agents: []eval.Agent{{Name: "a", Kind: eval.KindCodex}}}
		r = journal.Run{ID: id, Eval: e, Planned: 40, CreatedAt: time.Unix(1e9+m.clock, 0)}
		m.runs[id], m.trials[id], m.excluded[id] = r, map[string]journal.Record{}, map[string]bool{}
		j, err := journal.Create(m.root, r)
		if err := errors.Join(err, j.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var recs []journal.Record
	for range n {
		m.clock++
		k := m.rng.IntN(40)
		rec := journal.Record{
			Kind: journal.KindResult, At: time.Unix(1e9+m.clock, 1500), Answer: &journal.Answer{}, Result: m.result(),
			Trial: plan.Trial{ID: fmt.Sprintf("%s-%020d", id, k), Eval: r.Eval.Name, Category: r.Eval.Category, PromptID: fmt.Sprint("p", k%5), Agent: fmt.Sprint("a", k%3), Template: "none", Repeat: k},
		}
		was, answered := m.trials[id][rec.Trial.ID]
		switch {
		case m.rng.IntN(6) == 0:
			rec.Kind, rec.Answer, rec.Result, rec.Reason = journal.KindExcluded, nil, nil, "network"
			m.excluded[id][rec.Trial.ID] = true
		case answered && m.rng.IntN(2) == 0:
			rec.Kind, rec.Answer = journal.KindExtraction, nil
			was.Result = rec.Result
			m.trials[id][rec.Trial.ID] = was
		case !answered:
			m.trials[id][rec.Trial.ID] = rec
		}
		recs = append(recs, rec)
	}
	j, err := journal.Open(m.root, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(t.Context(), recs...), j.Close()); err != nil {
		t.Fatal(err)
	}
}

func (m *model) remove(t *testing.T, id string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(m.root, id)); err != nil {
		t.Fatal(err)
	}
	delete(m.runs, id)
}

// check compares all that the store counts with the journals.
func (m *model) check(t *testing.T, s *Store) {
	t.Helper()
	if n, lines, err := s.CheckMargins(t.Context(), m.root); n != len(m.runs) || len(lines) > 0 || err != nil {
		t.Errorf("%d runs of %d, %v, %v", n, len(m.runs), lines, err)
	}
	var margins int
	if err := s.db.QueryRowContext(t.Context(), `select count(*) from margin`).Scan(&margins); margins != len(m.runs) || err != nil {
		t.Errorf("%d margins of %d runs, %v", margins, len(m.runs), err)
	}
	rows, err := s.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, byRun := map[string][]analytics.Group{}, map[string][]analytics.Group{}
	var ids []string
	extracted := map[string]int{}
	for id, r := range m.runs {
		ids = append(ids, id)
		extracted[id] = 0
		for _, rec := range m.trials[id] {
			want[r.Eval.Category], byRun[id] = append(want[r.Eval.Category], group(rec)), append(byRun[id], group(rec))
			if rec.Result.Method != pick.MethodGiven {
				extracted[id]++
			}
		}
	}
	for _, row := range rows {
		missed := 0
		for id := range m.excluded[row.ID] {
			if _, answered := m.trials[row.ID][id]; !answered {
				missed++
			}
		}
		var sum analytics.Cell
		for _, g := range byRun[row.ID] {
			sum.Trials, sum.Unresolved, sum.UnresolvedUnknown = sum.Trials+1, sum.Unresolved+g.Unresolved, sum.UnresolvedUnknown+g.UnresolvedUnknown
			if g.LastAt.After(sum.LastAt) {
				sum.LastAt = g.LastAt
			}
		}
		reported := sum.Trials > 0 && sum.UnresolvedUnknown == 0
		if row.Valid != sum.Trials || row.Excluded != missed || !row.LastAt.Equal(sum.LastAt) || (row.Unresolved != nil) != reported || reported && *row.Unresolved != sum.Unresolved {
			t.Errorf("%+v; want %d valid, %d excluded, last at %v, %d unresolved", row, sum.Trials, missed, sum.LastAt, sum.Unresolved)
		}
	}
	counts, err := s.Counts(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range counts {
		if d := cmp.Diff(analytics.Cells(want[c.Category]), c.Cells); d != "" {
			t.Errorf("category %s (-journals +store):\n%s", c.Category, d)
		}
	}
	got, err := s.Extracted(t.Context(), slices.Collect(maps.Values(m.runs)))
	if d := cmp.Diff(extracted, got); d != "" || err != nil {
		t.Errorf("extracted (-journals +store):\n%s, %v", d, err)
	}
}
