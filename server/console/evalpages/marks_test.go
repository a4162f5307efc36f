package evalpages

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/eval"
)

func quotesOf(texts ...string) []quote {
	var out []quote
	for i, text := range texts {
		out = append(out, quote{i + 1, "tool", &trialset.Evidence{Kind: "mention", Quote: text}})
	}
	return out
}

// draw writes pieces so that a test can read them: [12:both] is marked by 1 and 2.
func draw(pieces []piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if len(p.Marks) == 0 {
			b.WriteString(p.Text)
			continue
		}
		b.WriteString("[")
		for _, m := range p.Marks {
			b.WriteString(string(rune('0' + m.Number)))
			if m.First {
				b.WriteString("'")
			}
		}
		b.WriteString(":" + p.Text + "]")
	}
	return b.String()
}

func TestMarks(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		quotes []string
		want   string
	}{
		"none":             {"all of it", nil, "all of it"},
		"one":              {"I use Birch here.", []string{"Birch"}, "I use [1':Birch] here."},
		"two apart":        {"a b c", []string{"c", "a"}, "[2':a] b [1':c]"},
		"one in the other": {"I use Birch here.", []string{"use Birch", "Birch"}, "I [1':use ][12':Birch] here."},
		"across":           {"abcdef", []string{"abcd", "cdef"}, "[1':ab][12':cd][2:ef]"},
		"the same twice":   {"Birch", []string{"Birch", "Birch"}, "[1'2':Birch]"},
		"not there":        {"Birch", []string{"Cedar", ""}, "Birch"},
		"all":              {"Birch", []string{"Birch"}, "[1':Birch]"},
		"nothing":          {"", []string{"Birch"}, ""},
		"a sequence":       {"a\x1b[31mb", []string{"\x1b[31m"}, "a[1':⟨U+001B⟩[31m]b"},
	} {
		if got := draw(markText(c.text, quotesOf(c.quotes...))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// FuzzMarks holds that pieces are the text, and that every quote that is in it is
// marked from its beginning to its end.
func FuzzMarks(f *testing.F) {
	f.Add("I use Birch here.", "Birch", "use")
	f.Add("aaaa", "aa", "a")
	f.Add("\x1b\u202e\xff", "\xff", "")
	f.Fuzz(func(t *testing.T, text, one, two string) {
		pieces := markText(text, quotesOf(one, two))
		all, marked := "", map[int]string{}
		for _, p := range pieces {
			all += p.Text
			for _, m := range p.Marks {
				marked[m.Number] += p.Text
			}
		}
		if utf8.ValidString(text) && utf8.ValidString(one) && utf8.ValidString(two) {
			if all != visible(text) {
				t.Errorf("%q became %q", text, all)
			}
			for i, q := range []string{one, two} {
				if q != "" && strings.Contains(text, q) && marked[i+1] != visible(q) {
					t.Errorf("%q marks %q in %q", q, marked[i+1], text)
				}
			}
		}
		if strings.ContainsFunc(all, hides) || !utf8.ValidString(all) {
			t.Errorf("%q shows %q", text, all)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		kept string
		left int
	}{{"abc", 3, "abc", 0}, {"abcd", 3, "abc", 1}, {"aéé", 2, "a", 4}, {"ééé", 4, "éé", 2}, {"é", 1, "", 2}} {
		if kept, left := cut(c.text, c.most); kept != c.kept || left != c.left {
			t.Errorf("%q to %d: %q and %d left, want %q and %d", c.text, c.most, kept, left, c.kept, c.left)
		}
	}
}

// Every beginning is an eval that can be stored as it is: it parses, and no prompt
// names a tool.
func TestBeginningsAreEvals(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cat.Categories {
		e, err := eval.Parse(c.Slug, []byte(Beginning(c)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, err := range e.Lint(c) {
			t.Error(err)
		}
		uncommented := strings.ReplaceAll(Beginning(c), "  # - {name", "  - {name")
		if all, err := eval.Parse(c.Slug, []byte(uncommented)); err != nil || len(all.Agents) != 4 {
			t.Errorf("%s with the agents that are commented out: %v", c.Slug, err)
		}
	}
}

func TestWords(t *testing.T) {
	for usd, want := range map[float64]string{0: "$0", 0.00001: "under $0.0001", 0.0123: "$0.0123", 0.1: "$0.10", 12.345: "$12.35", 1234567.5: "$1,234,567.50"} {
		if got := money(usd); got != want {
			t.Errorf("%v is %s, want %s", usd, got, want)
		}
	}
	for usd, want := range map[float64]string{0: "0.01", 0.001: "0.01", 2.43: "2.43", 2.431: "2.44", 10: "10.00"} {
		if got := up(usd); got != want {
			t.Errorf("a budget for %v is %s, want %s", usd, got, want)
		}
	}
	if got := between(0.754, 0.58, 0.872); got != "75.4% (58–87.2%)" {
		t.Error(got)
	}
	for diff, want := range map[float64]string{0: "0", 0.0001: "0", -0.0001: "0", 0.243: "+24.3", -0.11: "−11", 1: "+100"} {
		if got := points(diff); got != want {
			t.Errorf("%v is %s, want %s", diff, got, want)
		}
	}
	for text, want := range map[string]string{"timeout: no answer": "timeout: no answer", "not_asked": "not run before the end", "new_thing: x": "new thing: x", "": ""} {
		if got := reason(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
