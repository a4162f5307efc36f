package trialstore_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// How a result was read reaches the cells, from the journal and from a Parquet file, and
// follows a later extraction.
func TestCellsCountHowTrialsWereRead(t *testing.T) {
	listed := []pick.Evidence{{Tool: "flask", Level: pick.LevelCode, Kind: "listed", Quote: "flask"}}
	cases := map[string]struct {
		result pick.Result
		want   analytics.Group // of one trial
	}{
		"a statement": {
			pick.Result{Kind: pick.Tool, Picked: "flask", Method: pick.MethodStatement, Rule: "commits", FirstNamed: "django"},
			analytics.Group{FirstNamed: "django", DecidedBy: analytics.DecidedBy{Statement: 1}},
		},
		"an action without a message": {
			pick.Result{Kind: pick.Tool, Picked: "flask", Method: pick.MethodAction, Rule: "one tool"},
			analytics.Group{DecidedBy: analytics.DecidedBy{Actions: 1}},
		},
		"a judge": {
			pick.Result{Kind: pick.DIY, Method: pick.MethodJudge, Rule: pick.RuleJudgesAgree, FirstNamed: "flask"},
			analytics.Group{FirstNamed: "flask", Judged: 1, Agreed: 1, DecidedBy: analytics.DecidedBy{Judge: 1}},
		},
		"judges that disagree": {
			pick.Result{Kind: pick.Ambiguous, Unresolved: true, Rule: pick.RuleJudgesDisagree},
			analytics.Group{Unresolved: 1, Judged: 1, DecidedBy: analytics.DecidedBy{Undecided: 1}},
		},
		"a structured answer": {
			pick.Result{Kind: pick.DIY, Method: pick.MethodStructured, Rule: "choice"},
			analytics.Group{DecidedBy: analytics.DecidedBy{Structured: 1}},
		},
		"unresolved, whatever was tried last": {
			pick.Result{Kind: pick.Ambiguous, Method: pick.MethodStatement, Unresolved: true, Rule: "lone mention", FirstNamed: "flask"},
			analytics.Group{Unresolved: 1, FirstNamed: "flask", DecidedBy: analytics.DecidedBy{Undecided: 1}},
		},
		"a listing has no message to name a tool in": {
			pick.Result{Kind: pick.Tool, Picked: "flask", Method: pick.MethodAction, Rule: "one tool", Evidence: listed},
			analytics.Group{FirstUnknown: 1, DecidedBy: analytics.DecidedBy{Actions: 1}},
		},
		"an import reports nothing more": {
			pick.Result{Kind: pick.Tool, Picked: "flask", Method: pick.MethodGiven},
			analytics.Group{UnresolvedUnknown: 1, FirstUnknown: 1, DecidedBy: analytics.DecidedBy{Given: 1}},
		},
		"an earlier extractor reports nothing more": {
			pick.Result{Kind: pick.None},
			analytics.Group{UnresolvedUnknown: 1, FirstUnknown: 1, DecidedBy: analytics.DecidedBy{Undecided: 1}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			r := testRun("r1", "web", "web-frameworks", start)
			rec := records(r)[0]
			rec.Result = &tc.result
			writeRun(t, root, r, []journal.Record{rec})
			tc.want.Prompt, tc.want.Agent, tc.want.Template, tc.want.Trials, tc.want.LastAt = "web/"+rec.Trial.PromptID, rec.Trial.Agent, "none", 1, micro(rec.At)
			tc.want.Outcome, tc.want.Picked = tc.result.Kind, tc.result.Picked
			s := openStore(t, "")
			sync(t, s, root)
			same(t, "cells", cells(t, s, "web-frameworks"), analytics.Cells([]analytics.Group{tc.want}))
			path := filepath.Join(t.TempDir(), "trials.parquet")
			if err := s.WriteParquet(t.Context(), path, nil, nil); err != nil {
				t.Fatal(err)
			}
			back, err := trialstore.OpenParquet(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = back.Close() }()
			same(t, "cells of the file", cells(t, back, "web-frameworks"), analytics.Cells([]analytics.Group{tc.want}))

			// Read again by rules that decide.
			again := journal.Record{Kind: journal.KindExtraction, Trial: rec.Trial, At: start, Result: &pick.Result{Kind: pick.None, Method: pick.MethodStatement, Rule: "no need", FirstNamed: "django"}}
			addTo(t, root, "r1", []journal.Record{again})
			sync(t, s, root)
			tc.want.Outcome, tc.want.Picked, tc.want.FirstNamed, tc.want.DecidedBy = pick.None, "", "django", analytics.DecidedBy{Statement: 1}
			tc.want.Unresolved, tc.want.UnresolvedUnknown, tc.want.FirstUnknown, tc.want.Judged, tc.want.Agreed = 0, 0, 0, 0, 0
			same(t, "cells of the extraction", cells(t, s, "web-frameworks"), analytics.Cells([]analytics.Group{tc.want}))
		})
	}
}

func TestUnresolvedTrialsAreFound(t *testing.T) {
	root := t.TempDir()
	r := testRun("r1", "web", "web-frameworks", start)
	recs := records(r)[:3]
	recs[0].Result = &pick.Result{Kind: pick.Ambiguous, Rule: "lone mention", Unresolved: true}
	recs[1].Result = &pick.Result{Kind: pick.Ambiguous, Method: pick.MethodStatement, Rule: "two commitments"}
	writeRun(t, root, r, recs)
	s := openStore(t, "")
	sync(t, s, root)
	runs, err := s.Runs(t.Context())
	if err != nil || runs[0].Unresolved != nil {
		t.Errorf("runs %+v, %v: the third trial does not report it", runs, err)
	}
	addTo(t, root, "r1", []journal.Record{{Kind: journal.KindExtraction, Trial: recs[2].Trial, At: start, Result: &pick.Result{Kind: pick.Ambiguous, Rule: "lone mention", Unresolved: true}}})
	sync(t, s, root)
	if runs, err = s.Runs(t.Context()); err != nil || runs[0].Unresolved == nil || *runs[0].Unresolved != 2 {
		t.Errorf("runs %+v, %v", runs, err)
	}
	for outcome, want := range map[string][]bool{trialstore.Unresolved: {true, true}, "ambiguous": {true, false, true}, "": {true, false, true}} {
		rows, err := s.Trials(t.Context(), trialstore.Filter{Outcome: outcome})
		if err != nil {
			t.Fatal(err)
		}
		var got []bool
		for _, row := range rows {
			got = append(got, row.Unresolved)
		}
		if !slices.Equal(got, want) {
			t.Errorf("outcome %q: unresolved %v, want %v", outcome, got, want)
		}
	}
}
