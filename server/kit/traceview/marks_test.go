package traceview

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstpick/firstpick/publish/trialset"
)

func quotesOf(texts ...string) []quote {
	var out []quote
	for i, text := range texts {
		out = append(out, quote{i + 1, "tool", &trialset.Evidence{Kind: "mention", Quote: text}})
	}
	return out
}

// draw writes pieces so that a test can read them: [12:both] is marked by 1 and 2.
func draw(pieces []Piece) string {
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
			if all != Visible(text) {
				t.Errorf("%q became %q", text, all)
			}
			for i, q := range []string{one, two} {
				if q != "" && strings.Contains(text, q) && marked[i+1] != Visible(q) {
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

// TestMarkup: signs are hidden, what they mean is a look, and all pieces together are the text.
func TestMarkup(t *testing.T) {
	for text, want := range map[string]string{
		"run:\n```sh\nnpm i x\n```\ndone": "run:\n{block npm}{block  i x\n}done",
		"```\na\n```\nb\n  ```go\nc":      "{block a\n}b\n{block c}",
		"use **npm** now":                 "use {bold npm} now",
		"## The `npm` one\nand `x` **y**": "{bold The `}{bold npm}{bold ` one}\nand {code x} {bold y}",
		"a ** b, 2*3, ` and **":           "a {bold  b, 2*3, ` and }",
		"not **closed, not `closed":       "not **closed, not `closed",
		"no ``` fence":                    "no ``` fence",
		"#hash, ####### seven":            "#hash, ####### seven",
		"``` \n":                          "",
		"****":                            "****",
	} {
		got, whole := "", ""
		for _, p := range markProse(text, quotesOf("npm"), markup(text)) {
			whole += p.Text
			switch p.Look {
			case Plain:
				got += p.Text
			case Hidden:
			default:
				got += "{" + string(p.Look) + " " + p.Text + "}"
			}
		}
		if got != want || whole != text {
			t.Errorf("%q: %q, want %q; whole %q", text, got, want, whole)
		}
	}
}
