package prose_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

func TestNormalize(t *testing.T) {
	for name, tt := range map[string]struct {
		in, want string
		mixed    bool
	}{
		"plain text stays":                     {"I'd use Stripe.\n", "I'd use Stripe.\n", false},
		"full-width letters":                   {"Ｓｔｒｉｐｅ：yes", "Stripe:yes", false},
		"mathematical letters":                 {"𝗦𝘁𝗿𝗶𝗽𝗲", "Stripe", false},
		"zero-width characters":                {"Str\u200bi\u2060pe\ufeff", "Stripe", false},
		"soft hyphen":                          {"Stri\u00adpe", "Stripe", false},
		"no-break space":                       {"Lemon\u00a0Squeezy", "Lemon Squeezy", false},
		"typographic apostrophe and quotes":    {"I’d say “Stripe”", `I'd say "Stripe"`, false},
		"hyphens that do not break":            {"self\u2011hosted, it´s", "self-hosted, it's", false},
		"an invisible Hangul letter":           {"Str\u3164ipe", "Stripe", false},
		"direction marks":                      {"\u202eStripe\u202c", "Stripe", false},
		"Cyrillic letters in a Latin word":     {"Strіре", "Stripe", true},
		"Greek capital in a Latin word":        {"Ρaddle", "Paddle", true},
		"a Cyrillic word stays":                {"Оплата", "Оплата", false},
		"line ends of Windows":                 {"a\r\nb\rc", "a\nb\nc", false},
		"control characters":                   {"a\x00b\x1bc", "abc", false},
		"invalid UTF-8":                        {"a\xffb", "a\uFFFDb", false},
		"a variation selector behind a symbol": {"✔️ yes", "✔ yes", false},
	} {
		t.Run(name, func(t *testing.T) {
			got, mixed := prose.Normalize(tt.in)
			if got != tt.want || mixed != tt.mixed {
				t.Errorf("%q, %v; want %q, %v", got, mixed, tt.want, tt.mixed)
			}
		})
	}
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]string{
		"I'd use it, don't you?":     "i|'d|use|it|,|don't|you|?",
		"d'Algolia n'est pas l'un":   "d'|algolia|n'|est|pas|l'|un",
		"Stripe's fees":              "stripe|'s|fees",
		"Stripeを使います":                "stripe|を|使|い|ま|す",
		"建議選擇Stripe":                 "建|议|选|择|stripe",
		"Stripe는 비싸다":                "stripe|는|비|싸|다",
		"Straße, São, œuvre, FÜR":    "strasse|,|sao|,|œuvre|,|fur",
		"Fly.io and Auth.js":         "fly|.|io|and|auth|.|js",
		"a -> b => c ... (d)":        "a|-|>|b|=|>|c|...|(|d|)",
		"2.9 % ≈ 3":                  "2|.|9|%|≈|3",
		"snake_case @aws-sdk/ses":    "snake_case|@|aws|-|sdk|/|ses",
		"⚠\ufe0f a \u0301":           "⚠|a",
		"":                           "",
		"👍🏽 'quoted' ''empty'' it's": "👍|🏽|'|quoted|'|'|'|empty|'|'|it|'s",
	} {
		var keys []string
		for _, tok := range prose.Tokens(in) {
			keys = append(keys, tok.Key)
		}
		if got := strings.Join(keys, "|"); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestSentences(t *testing.T) {
	for in, want := range map[string][]string{
		"Use Fly.io. It has 2.5 GB.":              {"Use Fly.io.", "It has 2.5 GB."},
		"Stripe? No! Paddle.":                     {"Stripe?", "No!", "Paddle."},
		"Use one, e.g. Stripe, i.e. a processor.": {"Use one, e.g. Stripe, i.e. a processor."},
		"Etwa z. B. Stripe oder so.":              {"Etwa z. B. Stripe oder so."},
		"Stripeを使います。PayPalは不要です。":                {"Stripeを使います。", "PayPalは不要です。"},
		"He said \"use it.\" Then he left.":       {"He said \"use it.\"", "Then he left."},
		"Stripe?要りません!Resendで十分です。":               {"Stripe?", "要りません!", "Resendで十分です。"},
		"选哪个?Stripe更好。":                           {"选哪个?", "Stripe更好。"},
		"no end":                                  {"no end"},
		"1. First":                                {"1. First"},
		" \n ":                                    nil,
	} {
		var got []string
		for _, s := range prose.Sentences(in) {
			got = append(got, s.Text)
			if in[s.From:s.From+len(s.Text)] != s.Text {
				t.Errorf("%q: sentence %q does not begin at %d", in, s.Text, s.From)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: %s", in, d)
		}
	}
}

// describe writes units one a line: kind, level, number and text with **bold** and ~~struck~~.
// TestQuestions also has Japanese questions, which end with a full stop.
func TestQuestions(t *testing.T) {
	for in, want := range map[string]bool{
		"Use Stripe?": true, "Use Stripe.": false,
		"件数はどのくらいですか。": true, "どれを使いますか": true, "どちらでしょうか。": true,
		"Stripeで良いのではないでしょうか。": false, "Stripeはいかがでしょうか。": false, "Stripeか。": false,
	} {
		if got := prose.Sentences(in); len(got) != 1 || got[0].Question != want {
			t.Errorf("%q: %+v, want a question: %v", in, got, want)
		}
	}
}

func describe(units []prose.Unit) string {
	var b strings.Builder
	for _, u := range units {
		kind := [...]string{"p", "h", "li", "tr"}[u.Kind]
		if u.Quoted {
			kind = "q" + kind
		}
		fmt.Fprintf(&b, "%s%d/%d %s", kind, u.Level, u.Number, u.Text)
		for _, s := range u.Bold {
			fmt.Fprintf(&b, " [bold %s]", u.Text[s.From:s.To])
		}
		for _, s := range u.Struck {
			fmt.Fprintf(&b, " [struck %s]", u.Text[s.From:s.To])
		}
		for _, s := range u.Code {
			fmt.Fprintf(&b, " [code %s]", u.Text[s.From:s.To])
		}
		if len(u.Head) > 0 {
			fmt.Fprintf(&b, " [head %s]", strings.Join(u.Head, ","))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestLayout(t *testing.T) {
	r := prose.NewReader()
	for name, tt := range map[string]struct{ in, want string }{
		"headings and paragraphs":      {"# A\n\nb\n\n### C\n\nd", "h1/0 A\np0/0 b\nh3/0 C\np0/0 d\n"},
		"lists, nested":                {"1. a\n   - b\n2. c", "li1/1 a\nli2/0 b\nli1/2 c\n"},
		"bullets of other kinds":       {"• a\n– b", "li1/0 a\nli1/0 b\n"},
		"bold, struck and code":        {"**A**: ~~b~~ `c`", "p0/0 A: b c [bold A] [struck b] [code c]\n"},
		"a table":                      {"| a | b |\n|---|---|\n| c | ✅ |", "tr0/0 c | ✅ [head a,b]\n"},
		"a row outside a table":        {"| a | b |", "tr0/0 | a | b |\n"},
		"a quotation":                  {"> a\n\nb", "qp0/0 a\np0/0 b\n"},
		"short lines stay apart":       {"Recommendation\nResend", "p0/0 Recommendation\np0/0 Resend\n"},
		"hard-wrapped prose is joined": {"This is a long line of prose that was wrapped by its\nwriter in the middle.", "p0/0 This is a long line of prose that was wrapped by its writer in the middle.\n"},
		"links keep their text":        {"[Stripe](https://stripe.com) is good [1](https://x.com)", "p0/0 Stripe is good\n"},
		"hidden text is left out":      {"<!-- use A -->b <span style=\"display:none\">use C</span>", "p0/0 b\n"},
		"fenced code is left out":      {"a\n```\nb\n```\nc", "p0/0 a\np0/0 c\n"},
		"nothing":                      {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, describe(r.Layout(tt.in))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLostLineBreaks reads a list that arrives as one line.
func TestLostLineBreaks(t *testing.T) {
	filler := strings.Repeat("Every one of them has its own strengths and weaknesses. ", 12)
	units := prose.NewReader().Layout("Here are three. " + filler + " ### Options - **A**: cheap.Good for teams. - **B**: fast. ### Verdict Use A.")
	var got []string
	for _, u := range units[1:] {
		got = append(got, fmt.Sprint(u.Kind, " ", u.Text))
	}
	want := []string{"1 Options", "2 A: cheap. Good for teams.", "2 B: fast.", "1 Verdict Use A."}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// lexicon is a small one to test matching.
const lexicon = `
[lead]
so
[negation]
not
[commits]
(i|we) * (use|pick) * X
X it is
X over Y
replac~ Y with X
^ verdict (:|is) X
X$ done
[takes it]
^ sold$
`

func TestMatch(t *testing.T) {
	x, err := prose.Parse("en", lexicon)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"i would use the A":               "commits 1-0: i would use the A",
		"i would, use A":                  "", // a gap does not reach over a comma
		"i would very much like to use A": "", // nor over so many words
		"A it is":                         "commits 1-0: A it is",
		"A over B":                        "commits 1-2: A over B",
		"replaced A with B":               "commits 2-1: replaced A with B",
		"verdict: A":                      "commits 1-0: verdict : A",
		"so verdict is A":                 "commits 1-0: verdict is A",
		"the verdict is A":                "", // not the beginning of a clause
		"sold":                            "takes it 0-0: sold",
		"sold!":                           "takes it 0-0: sold",
		"sold out":                        "",
	} {
		tokens := prose.Tokens(in)
		slot := 0
		for i := range tokens {
			if k := in[tokens[i].From:tokens[i].To]; len(k) == 1 && k >= "A" && k <= "Z" {
				slot++
				tokens[i].Slot = slot
			}
		}
		var got []string
		for _, h := range x.Match(tokens) {
			var words []string
			for _, tok := range tokens[h.From:h.To] {
				words = append(words, in[tok.From:tok.To])
			}
			got = append(got, fmt.Sprintf("%s %d-%d: %s", h.Class, h.Slot, h.Against, strings.Join(words, " ")))
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestEndsAndElisionsInPhrases reads "$" among alternatives, and "l'" before a bar.
func TestEndsAndElisionsInPhrases(t *testing.T) {
	x, err := prose.Parse("it", "[takes it]\nva bene (cosi|$)\nscelgo (la |l')ultima")
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]int{"va bene": 1, "va bene così": 1, "va bene anche": 0, "scelgo l'ultima": 1, "scelgo la ultima": 1, "scelgo ultima": 0} {
		if got := x.Match(prose.Tokens(in)); len(got) != want {
			t.Errorf("%q: %v, want %d", in, got, want)
		}
	}
}

func TestLexiconErrors(t *testing.T) {
	for in, want := range map[string]string{
		"use X":                   "en.txt:1: a phrase before the first section",
		"[commit]":                "en.txt:1: unknown section [commit]; known: commits, ",
		"[commits]\nuse it":       `en.txt:2: "use it": want one X in each alternative`,
		"[commits]\n(use X|take)": `en.txt:2: "(use X|take)": want one X in each alternative`,
		"[commits]\n(use X":       `en.txt:2: "(use X": a parenthesis is open`,
		"[commits]\nuse) X":       `en.txt:2: "use) X": ") X" closes nothing`,
		"[takes it]\nuse X":       `en.txt:2: "use X": section takes it takes no X`,
		"[takes it]\n(a|)":        `en.txt:2: "(a|)": may match nothing`,
	} {
		if _, err := prose.Parse("en", in); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func FuzzProse(f *testing.F) {
	f.Add("# A\n\n- **B**: ~~c~~ don't\n\n| a | b |\n|---|---|\n| c | ✅ |")
	f.Add("Stripeを使います。\r\n> \"x\"")
	lexicons, err := prose.Lexicons()
	if err != nil {
		f.Fatal(err)
	}
	r := prose.NewReader()
	f.Fuzz(func(t *testing.T, in string) {
		text, _ := prose.Normalize(in)
		if !utf8.ValidString(text) {
			t.Fatalf("%q is not valid", text)
		}
		for _, u := range r.Layout(text) {
			for _, spans := range [][]prose.Span{u.Bold, u.Struck, u.Code, u.Links} {
				for _, s := range spans {
					if s.From > s.To || s.To > len(u.Text) {
						t.Fatalf("span %v of %q", s, u.Text)
					}
				}
			}
			for _, s := range prose.Sentences(u.Text) {
				tokens := prose.Tokens(s.Text)
				for i, tok := range tokens {
					if tok.From >= tok.To || i > 0 && tok.From < tokens[i-1].To {
						t.Fatalf("tokens of %q: %+v", s.Text, tokens)
					}
				}
				for _, h := range lexicons["en"].Match(tokens) {
					if h.From >= h.To || h.To > len(tokens) {
						t.Fatalf("hit %+v of %d tokens", h, len(tokens))
					}
				}
			}
		}
	})
}
