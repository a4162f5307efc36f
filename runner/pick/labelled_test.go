package pick_test

import (
	"reflect"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestLabelledAnswers scores sets of answers apart: seen was read while the rules were written
// and unseen never; fresh, plain and varied were written by others after most rules, and their
// misses read then; held was scored and never read. A floor is somewhat below what the rules
// reach: where it is low, they are.
func TestLabelledAnswers(t *testing.T) {
	type floors struct{ pick, words, recall, diy, shortlist, unresolved float64 }
	c := builtIn(t)
	for set, want := range map[string]floors{
		"seen":   {pick: .98, words: .98, recall: .92, diy: .9, shortlist: .93, unresolved: .06},
		"unseen": {pick: .97, words: .94, recall: .84, diy: .7, shortlist: .89, unresolved: .05},
		"fresh":  {pick: .97, words: .96, recall: .88, diy: .85, shortlist: .88, unresolved: .06},
		"plain":  {pick: .96, words: .96, recall: .92, diy: .88, shortlist: .92, unresolved: .04},
		"varied": {pick: .93, words: .93, recall: .85, diy: .87, shortlist: .86, unresolved: .07},
		"held":   {pick: .92, words: .92, recall: .65, diy: .55, shortlist: .82, unresolved: .1},
	} {
		t.Run(set, func(t *testing.T) {
			cases := caseSet(t, set)
			extractors := map[string]*pick.Extractor{}
			s, err := pick.Score(cases, func(category string, in transcript.Transcript) (pick.Result, error) {
				if extractors[category] == nil {
					extractors[category] = extractor(t, c, category)
				}
				return extractors[category].Extract(in), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			m, words := s.Measures, s.ByLayer["statement"]
			for name, r := range map[string]struct {
				pick.Ratio
				floor float64
			}{
				"pick precision": {m.PickPrecision, want.pick}, "pick precision of statements": {words.PickPrecision, want.words},
				"pick recall": {m.PickRecall, want.recall}, "DIY precision": {m.DIYPrecision, want.diy}, "DIY recall": {m.DIYRecall, want.diy},
				"shortlist precision": {m.ShortlistPrecision, want.shortlist}, "shortlist recall": {m.ShortlistRecall, want.shortlist},
			} {
				if r.Of == 0 || float64(r.N)/float64(r.Of) < r.floor {
					t.Errorf("%s %d of %d, want %.2f", name, r.N, r.Of, r.floor)
				}
			}
			if u := m.Unresolved; float64(u.N)/float64(u.Of) > want.unresolved {
				t.Errorf("unresolved %d of %d, want at most %.2f", u.N, u.Of, want.unresolved)
			}
			t.Logf("%d cases, pick precision %d of %d, recall %d of %d, rejected recall %d of %d", m.Cases,
				m.PickPrecision.N, m.PickPrecision.Of, m.PickRecall.N, m.PickRecall.Of, m.RejectedRecall.N, m.RejectedRecall.Of)
		})
	}
}

func caseSet(t *testing.T, set string) []pick.Case {
	t.Helper()
	return readCases(t, "testdata/cases/"+set+".jsonl")
}

// TestReadingIsRepeatable reads answers again: the order of a map must not decide.
func TestReadingIsRepeatable(t *testing.T) {
	c := builtIn(t)
	for _, set := range []string{"seen", "fresh", "plain", "held"} {
		for _, k := range caseSet(t, set) {
			cat, ok := c.Category(k.Category)
			if !ok {
				continue
			}
			x := pick.New(cat, c.Version)
			first := x.Extract(k.Input)
			for range 4 {
				if again := x.Extract(k.Input); !reflect.DeepEqual(again, first) {
					t.Fatalf("%s: %+v, then %+v", k.ID, first, again)
				}
			}
		}
	}
}
