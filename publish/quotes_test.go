package publish_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
	"github.com/firstpick/firstpick/runner/transcript"
)

// quoted is an input of two trials: one picked alpha-one, with a key in its reason, and the
// other alpha-two.
func quoted(t *testing.T) publish.Input {
	t.Helper()
	run := testRun("alpha")
	trials := plan.New(&run.Eval)
	long := "I use\nAlpha One " + strings.Repeat("ö", 190) + " because"
	var recs []journal.Record
	for i, r := range []pick.Result{
		{Picked: "alpha-one", Evidence: []pick.Evidence{{Tool: "alpha-one", Level: 2, Kind: "statement", Quote: long}, {Tool: "alpha-one", Level: 2, Kind: "statement", Quote: "Create an account at Alpha One " + strings.Repeat("x", 220)}, {Tool: "alpha-one", Level: 1, Kind: "mention", Quote: "Alpha One"}}},
		{Picked: "alpha-two", Evidence: []pick.Evidence{
			{Tool: "alpha-two", Level: 2, Kind: "statement", Quote: "With " + apiKey + " Alpha Two"}, {Tool: "alpha-one", Level: 1, Kind: "mention", Quote: "Alpha One"},
			{Tool: "alpha-one", Level: 1, Kind: "rejection", Quote: "Alpha One is too slow"},
		}},
	} {
		r.Kind, r.Method, r.Shortlist = pick.Tool, pick.MethodStatement, []string{r.Picked}
		recs = append(recs, journal.Record{
			Kind: journal.KindResult, Trial: trials[i], At: run.CreatedAt.Add(time.Duration(i) * time.Minute), Attempt: 1, Result: &r,
			Answer: &journal.Answer{Model: "m", Transcript: transcript.Transcript{FinalText: "With " + apiKey + " Alpha Two. " + long + " Alpha One is too slow"}},
		})
	}
	return inputWith(t, run, recs...)
}

// TestQuotesOfExamples: examples quote what the trial files publish, and nothing else verifies.
func TestQuotesOfExamples(t *testing.T) {
	in := quoted(t)
	for level, want := range map[trialset.Level][3]string{
		trialset.Full: {"I use Alpha One " + strings.Repeat("ö", 183) + "…", "Alpha One is too slow", "With *** Alpha Two"}, trialset.Quotes: {"I use Alpha One " + strings.Repeat("ö", 183) + "…", "Alpha One is too slow", "With *** Alpha Two"}, trialset.None: {},
	} {
		in.Evidence = level
		_, id := build(t, in)
		s, err := in.Place.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := s.Report("alpha", "alpha-one")
		two, _ := s.Report("alpha", "alpha-two")
		if len(one.Examples) != 2 || len(two.Examples) != 2 {
			t.Fatalf("%s: %+v and %+v", level, one.Examples, two.Examples)
		}
		got := [3]string{one.Examples[0].Quote, one.Examples[1].Quote, regexp.MustCompile(`With .* Alpha`).ReplaceAllString(two.Examples[0].Quote, "With *** Alpha")}
		if got != want || strings.Contains(two.Examples[0].Quote, apiKey[:12]) || two.Examples[1].Quote != "" || len([]rune(got[0])) > 200 {
			t.Errorf("%s: %q, want %q; %q", level, got, want, two.Examples)
		}
	}
	in.Evidence = trialset.Quotes
	_, id := build(t, in)
	forged := forge(t, root(in), id, "reports/alpha/alpha-one.json", "too slow", "the best")
	if _, err := publish.Verify(t.Context(), root(in), forged, nil); !blames(err, "reports/alpha/alpha-one.json") {
		t.Errorf("a forged quote: %v", err)
	}
}

// TestSnapshotsWithoutQuotes: layout 2 had none, and verifies without them.
func TestSnapshotsWithoutQuotes(t *testing.T) {
	in := quoted(t)
	_, id := build(t, in)
	quote := regexp.MustCompile(`"quote":"[^"]*",`)
	reports, err := filepath.Glob(filepath.Join(root(in), id, "reports", "alpha", "*.json"))
	if err != nil || len(reports) < 2 {
		t.Fatal(reports, err)
	}
	for _, path := range reports {
		name := "reports/alpha/" + filepath.Base(path)
		for {
			data, err := os.ReadFile(filepath.Join(root(in), id, name))
			if err != nil {
				t.Fatal(err)
			}
			found := quote.FindString(string(data))
			if found == "" {
				break
			}
			id = forge(t, root(in), id, name, found, "")
		}
	}
	if _, err := publish.Verify(t.Context(), root(in), id, nil); !blames(err, "reports/alpha/alpha-one.json") {
		t.Errorf("layout 3 without quotes: %v", err)
	}
	id = forge(t, root(in), id, "manifest.json", `"schemaVersion":3`, `"schemaVersion":2`)
	if r, err := publish.Verify(t.Context(), root(in), id, nil); err != nil || r.Counts {
		t.Errorf("layout 2: %+v, %v", r, err)
	}
	if _, err := publish.LoadSigned(root(in), id, nil); err != nil {
		t.Error(err)
	}
}

func blames(err error, path string) bool {
	damage := (*publish.DamageError)(nil)
	return errors.As(err, &damage) && damage.Path == path
}
