package pick_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func labelled(t testing.TB) []pick.Case {
	t.Helper()
	return readCases(t, "testdata/cases.jsonl")
}

func readCases(t testing.TB, path string) []pick.Case {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	cases, err := pick.ReadCases(f)
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestLabelledCases holds outcome, pick, shortlist, rejected and say to what
// people labelled.
func TestLabelledCases(t *testing.T) {
	c := builtIn(t)
	for _, k := range labelled(t) {
		t.Run(k.ID+" "+k.Note, func(t *testing.T) {
			r := extractor(t, c, k.Category).Extract(k.Input)
			got := pick.Gold{Outcome: r.Kind, Shortlist: r.Shortlist, Rejected: r.Rejected}
			if r.Picked != "" {
				got.Picked = &r.Picked
			}
			if r.Say != "" {
				got.Say = &r.Say
			}
			for _, list := range []*[]string{&got.Shortlist, &got.Rejected} {
				if *list == nil {
					*list = []string{}
				}
			}
			if d := cmp.Diff(k.Gold, got); d != "" {
				t.Errorf("label and result differ (-label +result):\n%s", d)
			}
		})
	}
}

// TestOrderAndNoiseChangeNothing permutes the catalogue's entries and adds prose
// that has nothing to do with the choice.
func TestOrderAndNoiseChangeNothing(t *testing.T) {
	c := builtIn(t)
	for _, k := range labelled(t) {
		cat, _ := c.Category(k.Category)
		turned := *cat
		turned.Entries = slices.Clone(cat.Entries)
		slices.Reverse(turned.Entries)
		turned.Outside = slices.Clone(cat.Outside)
		slices.Reverse(turned.Outside)
		want := pick.New(cat, c.Version).Extract(k.Input)
		if d := cmp.Diff(want, pick.New(&turned, c.Version).Extract(k.Input)); d != "" {
			t.Errorf("%s: the order of the catalogue shows: %s", k.ID, d)
		}
		noisy := k.Input
		noisy.FinalText += "\n\nThe weather was fine that day."
		got := pick.New(cat, c.Version).Extract(noisy)
		if got.Kind != want.Kind || got.Picked != want.Picked {
			t.Errorf("%s: unrelated prose turns %s:%s into %s:%s", k.ID, want.Kind, want.Picked, got.Kind, got.Picked)
		}
	}
}

// TestWithoutItsEvidenceThereIsNoPick takes every word and file that names the
// pick away.
func TestWithoutItsEvidenceThereIsNoPick(t *testing.T) {
	c := builtIn(t)
	for _, k := range labelled(t) {
		x := extractor(t, c, k.Category)
		r := x.Extract(k.Input)
		if r.Kind != pick.Tool {
			continue
		}
		in := transcript.Transcript{FinalText: k.Input.FinalText}
		cat, _ := c.Category(k.Category)
		entry, _ := cat.Entry(r.Picked)
		for _, a := range entry.Aliases {
			in.FinalText = strings.ReplaceAll(in.FinalText, a.Text, "")
		}
		if got := x.Extract(in); got.Kind == pick.Tool && got.Picked == r.Picked {
			t.Errorf("%s: still %s without its evidence", k.ID, r.Picked)
		}
	}
}

func TestCasesThatAreNotCases(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"empty":           {"", "no labelled case"},
		"not JSON":        {"{\n", "line 1: not a labelled case"},
		"unknown field":   {`{"id":"a","category":"c","gold":{"outcome":"tool"},"x":1}`, `unknown field "x"`},
		"unknown outcome": {`{"id":"a","category":"c","gold":{"outcome":"yes"}}`, `gold outcome "yes" is unknown`},
		"twice": {
			`{"id":"a","category":"c","gold":{"outcome":"none"}}` + "\n" + `{"id":"a","category":"c","gold":{"outcome":"none"}}`,
			`line 2: duplicate id "a", first on line 1`,
		},
	} {
		if _, err := pick.ReadCases(strings.NewReader(tt.in)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

func TestScoreCountsWhatDiffers(t *testing.T) {
	x := "x"
	cases := []pick.Case{
		{ID: "1", Gold: pick.Gold{Outcome: pick.Tool, Picked: &x, Shortlist: []string{"x", "y"}}},
		{ID: "2", Gold: pick.Gold{Outcome: pick.None}},
	}
	s, err := pick.Score(cases, func(string, transcript.Transcript) (pick.Result, error) {
		return pick.Result{Kind: pick.Tool, Picked: "x", Shortlist: []string{"x"}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Accuracy != .5 || *s.PickPrecision != .5 || *s.PickRecall != 1 || *s.ShortlistRecall != .5 || s.DIYPrecision != nil {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff([]pick.Miss{{ID: "2", Want: "none", Got: "tool:x", Layer: "undecided"}}, s.Misses); d != "" {
		t.Error(d)
	}
}

func FuzzReadCases(f *testing.F) {
	f.Add(`{"id":"a","category":"c","input":{},"gold":{"outcome":"none"}}`)
	f.Fuzz(func(t *testing.T, in string) {
		cases, err := pick.ReadCases(strings.NewReader(in))
		if err == nil && len(cases) == 0 {
			t.Error("nothing read and nothing said")
		}
	})
}
