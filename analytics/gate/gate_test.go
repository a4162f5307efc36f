package gate

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/runner/pick"
)

func TestParseRefuses(t *testing.T) {
	for rule, want := range map[string]string{
		"":                                     "no metric at its beginning; want METRIC",
		"pickRate(stripe)":                     `nothing follows "pickRate(stripe)"; want METRIC`,
		"pickRate(stripe) low => 1":            `cannot read "=> 1" after "pickRate(stripe) low"; want METRIC`,
		"pickRate(stripe) low >= -1":           `cannot read "-1" after "pickRate(stripe) low >="; want METRIC`,
		"stripe >= 0.1 now":                    `no metric "stripe"`,
		"pikRate(stripe) >= 0.1":               `no metric "pikRate"`,
		"pickRate >= 0.1":                      "of which tool",
		"coverage(stripe) >= 0.1":              "of a whole category",
		"coverage low >= 0.1":                  "has no interval",
		"firstNamedRate(stripe) low >= 0.1":    "has no interval",
		"pickRate(stripe) low >= 25":           "write 25% for percent",
		"pickRate(stripe) low >= 250%":         "a share from 0 to 1",
		"rank(stripe) high <= 3%":              "rank is not a share",
		"drop(stripe) < 0.1":                   "a drop against what",
		"pickRate(stripe) vs current":          "only drop(TOOL)",
		"drop vs current":                      "of which tool",
		"pickRate(stripe) low >= 0.25 or else": `cannot read "or else" after "pickRate(stripe) low >= 0.25"; want METRIC`,
	} {
		if _, err := Parse(rule); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", rule, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"pickRate(stripe) low >= 25%", "payments: drop(x) vs 4f1c", "coverage>=.9", "night(a) since 2026-01-02", "rank( a )high<=3", "::()vs"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		if err != nil {
			return
		}
		if math.IsNaN(r.Limit) || r.Limit < 0 || (r.Metric == drop) != (r.Baseline != "") || (r.Metric == drop || r.Metric == night) == (r.Op != "") {
			t.Errorf("%q was read as %+v", s, r)
		}
		again, err := Parse(r.Text)
		if err != nil || again != r {
			t.Errorf("%q: read again as %+v, %v", s, again, err)
		}
	})
}

func TestParseFile(t *testing.T) {
	rules, err := ParseFile("g.yaml", []byte("rules:\n  - coverage >= 95%\n  - drop(stripe) vs current\n"))
	if err != nil || len(rules) != 2 || rules[0].Limit != 0.95 || rules[1].Baseline != "current" {
		t.Errorf("got %+v, %v", rules, err)
	}
	for in, want := range map[string]string{
		"rules:\n  - coverage >= 95%\n  - cover\n": "g.yaml:3: rule \"cover\"",
		"rules:\n  - payments: trials >= 3\n":      "g.yaml:2: want a rule as a text; one with a colon",
		"rule: []\n":                               "unknown key",
		"rules: []\n":                              "no rules",
		"":                                         "g.yaml",
	} {
		if _, err := ParseFile("g.yaml", []byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte("rules:\n  - coverage >= 95%\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if rules, err := ParseFile("g.yaml", data); (err == nil) != (len(rules) > 0) {
			t.Errorf("%d rules and %v", len(rules), err)
		}
	})
}

// cellsOf makes five trials a prompt, so many of which picked stripe.
func cellsOf(picks ...int) analytics.Measurement {
	var cells []analytics.Group
	for i, n := range picks {
		p := fmt.Sprint("p", i)
		cells = append(cells, analytics.Group{Prompt: p, Agent: "a", Outcome: pick.Tool, Picked: "stripe", Trials: n},
			analytics.Group{Prompt: p, Agent: "a", Outcome: pick.DIY, Trials: 5 - n})
	}
	return analytics.Measurement{Cells: analytics.Cells(cells)}
}

func measured() Subject {
	unresolved, first, coverage := 3, 0.7, 0.96
	return Subject{
		Board: analytics.Board{
			Category: "payments", NTrials: 30, NPrompts: 6, NFamilies: 6, Coverage: &coverage, SayDoMismatchRate: 0.1, BoardDetail: &analytics.BoardDetail{}, Unresolved: &unresolved,
			Tools: []analytics.Standing{
				{Slug: "stripe", Rank: 1, RankLow: 1, RankHigh: 2, PickRate: 0.6, CILow: 0.31, CIHigh: 0.83, ShortlistRate: 0.8, DefaultRate: 0.4, FirstNamedRate: &first, Detail: &analytics.Detail{}},
				{Slug: "paddle", Rank: 2, RankLow: 1, RankHigh: 5},
			},
		},
		Measurement: cellsOf(3, 3, 3, 2, 4, 3),
		Baselines: map[string]Baseline{
			"same": {Measurement: cellsOf(3, 3, 3, 2, 4, 3)}, "better": {Measurement: cellsOf(5, 5, 4, 4, 5, 5), Notes: []string{"the extractor differs"}},
			"worse": {Measurement: cellsOf(0, 1, 0, 0, 1, 0)}, "one": {Measurement: cellsOf(5)},
		},
	}
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		want Status
		says string
	}{
		"pickRate(stripe) low >= 0.25":            {Met, "60.0% (31.0%–83.0%)"},
		"pickRate(stripe) low >= 35%":             {Failed, "its lower end is 31.0%, not >= 35.0%"},
		"pickRate(stripe) high < 0.9":             {Met, "its upper end is 83.0%"},
		"pickRate(stripe) >= 0.6":                 {Met, "it is 60.0%"},
		"pickRate(stripe) > 0.6":                  {Failed, "not > 60.0%"},
		"shortlistRate(stripe) <= 0.8":            {Met, "80.0%"},
		"defaultRate(stripe) >= 0.5":              {Failed, "40.0%"},
		"rank(stripe) high <= 3":                  {Met, "1 (1–2)"},
		"rank(paddle) high <= 3":                  {Failed, "its upper end is 5, not <= 3"},
		"coverage >= 95%":                         {Met, "96.0%"},
		"trials >= 31":                            {Failed, "it is 30, not >= 31"},
		"payments: prompts >= 6":                  {Met, "6"},
		"mismatchRate < 0.05":                     {Failed, "10.0%"},
		"firstNamedRate(stripe) >= 75%":           {Failed, "it is 70.0%, not >= 75.0%"},
		"firstNamedRate(paddle) >= 0":             {Undecided, "the trials do not report it"},
		"unresolvedRate <= 10%":                   {Met, "10.0%"},
		"auth: trials >= 1":                       {Undecided, "no trials of that"},
		"pickRate(clerk) >= 0":                    {Undecided, "no trials of that"},
		"drop(stripe) vs same":                    {Met, "no drop is shown"},
		"drop(stripe) vs worse":                   {Met, "6 prompts paired"},
		"drop(stripe) vs better":                  {Failed, "the pick rate dropped; the extractor differs"},
		"drop(stripe) vs one":                     {Undecided, "too few prompts"},
		"drop(stripe) vs elsewhere":               {Undecided, "does not have this category"},
		"payments: pickRate( stripe ) low>=0.300": {Met, "31.0%"},
	}
	for text, tt := range tests {
		r, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := Check([]Rule{r}, []Subject{measured()})
		if len(got) != 1 || got[0].Status != tt.want || !strings.Contains(got[0].Measured+" "+got[0].Why, tt.says) {
			t.Errorf("%s: got %+v, want %s with %q", text, got, tt.want, tt.says)
		}
	}
}

// From always to never is no drop that may pass because there is nothing to test with.
func TestADropWithoutASpreadIsUndecided(t *testing.T) {
	was := cellsOf(5, 5, 5, 5, 5, 5)
	for i := range was.Cells {
		was.Cells[i].Prompt = "another " + was.Cells[i].Prompt
	}
	s := measured()
	s.Measurement, s.Baselines = cellsOf(0, 0, 0, 0, 0, 0), map[string]Baseline{"b": {Measurement: was}}
	r, err := Parse("drop(stripe) vs b")
	if err != nil {
		t.Fatal(err)
	}
	if got := Check([]Rule{r}, []Subject{s}); got[0].Status != Undecided || !strings.Contains(got[0].Why, "no variance") {
		t.Errorf("got %+v", got[0])
	}
}

// Twenty tools that did not change fail by chance, unless they are corrected for
// one another.
func TestManyDropsAreCorrectedTogether(t *testing.T) {
	s := measured()
	s.Baselines = map[string]Baseline{"b": {Measurement: cellsOf(4, 4, 4, 2, 4, 4)}} // p is about 0.025 alone
	alone, err := Parse("drop(stripe) vs b")
	if err != nil {
		t.Fatal(err)
	}
	rules := []Rule{alone}
	if got := Check(rules, []Subject{s}); got[0].Status != Failed {
		t.Fatalf("alone: %+v", got[0])
	}
	for i := range 10 {
		slug := fmt.Sprint("tool", i)
		s.Board.Tools = append(s.Board.Tools, analytics.Standing{Slug: slug})
		r, err := Parse("drop(" + slug + ") vs b")
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	if got := Check(rules, []Subject{s}); got[0].Status != Met {
		t.Errorf("among eleven: %+v", got[0])
	}
}

func report(t *testing.T) Report {
	t.Helper()
	var rules []Rule
	for _, text := range []string{"pickRate(stripe) low >= 0.25", "rank(paddle) high <= 3", "auth: trials >= 1"} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, r)
	}
	return Report{Verdicts: Check(rules, []Subject{measured()}), Missing: 2}
}

func TestJUnit(t *testing.T) {
	var buf bytes.Buffer
	if err := report(t).JUnit(&buf); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(buf.Bytes(), &doc); err != nil {
		t.Fatalf("%v in %s", err, buf.String())
	}
	failures, errs := 0, 0
	for _, c := range doc.Cases {
		if c.Failure != nil {
			failures++
		}
		if c.Error != nil {
			errs++
		}
	}
	if doc.Tests != 4 || len(doc.Cases) != 4 || doc.Failures != 1 || failures != 1 || doc.Errors != 2 || errs != 2 {
		t.Errorf("counts do not agree: %+v", doc)
	}
	if !strings.Contains(buf.String(), `name="pickRate(stripe) low &gt;= 0.25"`) {
		t.Errorf("the rule's name is not there: %s", buf.String())
	}
}

func TestMarkdown(t *testing.T) {
	var buf bytes.Buffer
	r := report(t)
	r.Verdicts[0].Rule = "a|b`c\n"
	if err := r.Markdown(&buf); err != nil {
		t.Fatal(err)
	}
	want := `### Gate: 1 of 3 rules met, 1 failed, 1 undecided, 2 trials missing

| | category | rule | measured | verdict |
| --- | --- | --- | --- | --- |
| ✅ | payments | ` + "`a\\|b'c `" + ` | 60.0% (31.0%–83.0%) | met: its lower end is 31.0% |
| ❌ | payments | ` + "`rank(paddle) high <= 3`" + ` | 2 (1–5) | failed: its upper end is 5, not &lt;= 3 |
`
	if got := buf.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s", got)
	}
}
