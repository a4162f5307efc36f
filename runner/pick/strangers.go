package pick

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/pick/prose"
)

// strangers finds names that the catalogue does not know, by their spelling: capitals
// within a word, or a capital where the language has none. Words that taken marks are
// names already.
func (r *reading) strangers(s *sentence, taken []bool) []mention {
	var out []mention
	titled := s.titled() && r.language != "de"
	for i := 0; i < len(s.tokens); i++ {
		if taken[i] || !s.tokens[i].Word {
			continue
		}
		if t := r.short[s.tokens[i].Key]; t != nil && s.capital(i) && !r.around.says(s.tokens[i].Key) {
			out = append(out, mention{t, i, i + 1, false})
			continue
		}
		kind := r.spelling(s, i)
		if kind == plainWord || kind == capitalised && titled {
			continue
		}
		end := i + 1
		for end < len(s.tokens) && end < i+3 && !taken[end] && s.tokens[end].Word && (r.spelling(s, end) != plainWord || s.initials(end)) && s.tokens[end].From == s.tokens[end-1].To+1 {
			end++
		}
		if end+1 < len(s.tokens) && !taken[end] && !taken[end+1] && s.tokens[end].Key == "." && s.tokens[end].To == s.tokens[end+1].From && s.tokens[end].From == s.tokens[end-1].To && s.tokens[end+1].Word { // "Pagar.me"
			end += 2
		}
		text := s.Text[s.tokens[i].From:s.tokens[end-1].To]
		if kind == capitalised && end == i+1 && !s.coded(s.tokens[i].From, s.tokens[i].To) && r.around.says(s.tokens[i].Key) {
			continue // a word of the language
		}
		t := r.stranger(text)
		if t.unknown && s.coded(s.tokens[i].From, s.tokens[i].To) && s.pathed(s.tokens[i]) {
			continue
		}
		if t.unknown && kind == brand {
			t.brand = true
		}
		out = append(out, mention{t, i, end, false})
		i = end - 1
	}
	return out
}

// noteShort notes the words behind the first of a name, by which the message may call it again.
func (r *reading) noteShort(s *sentence, named []mention) {
	for _, m := range named {
		for i := m.from + 1; i < m.to; i++ {
			t := s.tokens[i]
			if !t.Word || t.To-t.From < 5 || common()[t.Key] || !s.capital(i) {
				continue
			}
			if old, known := r.short[t.Key]; known && old != m.target {
				r.short[t.Key] = nil
			} else {
				r.short[t.Key] = m.target
			}
		}
	}
}

// capital reports whether a word has a capital first.
func (s *sentence) capital(i int) bool {
	first, _ := utf8.DecodeRuneInString(s.Text[s.tokens[i].From:])
	return unicode.IsUpper(first)
}

// titled reports whether most words have a capital, as in a title: then it marks no name.
func (s *sentence) titled() bool {
	long, upper := 0, 0
	for _, t := range s.tokens {
		if t.Word && t.To-t.From > 3 {
			long++
			if first, _ := utf8.DecodeRuneInString(s.Text[t.From:]); unicode.IsUpper(first) {
				upper++
			}
		}
	}
	return s.unit.Kind == prose.Heading || upper > 1 && 2*upper > long && long-upper < 3
}

type spelling int

const (
	plainWord spelling = iota
	capitalised
	brand
)

// spelling returns how far a word looks like a name.
func (r *reading) spelling(s *sentence, i int) spelling {
	t := s.tokens[i]
	word := s.Text[t.From:t.To]
	first, _ := utf8.DecodeRuneInString(word)
	if !unicode.Is(unicode.Latin, first) || len(word) < 3 || common()[t.Key] || strings.HasPrefix(s.Text[t.To:], "-") || strings.HasSuffix(s.Text[:t.From], "-") {
		return plainWord
	}
	upper, lower, inner := 0, 0, false
	for j, c := range word {
		if unicode.IsUpper(c) {
			upper++
			inner = inner || j > 0 && lower > 0
		} else if unicode.IsLower(c) {
			lower++
		}
	}
	switch {
	case s.coded(t.From, t.To) && (inner || strings.HasPrefix(s.Text[t.To:], "(")):
		return plainWord // a function or variable
	case inner, upper > 0 && lower > 0 && strings.HasSuffix(s.Text[:t.From], "node."):
		return brand
	case lower == 0 && (len(word) < 5 || s.shouts()): // an abbreviation
		return plainWord
	case unicode.IsUpper(first) && !s.opens(i) && (r.language != "de" || i > 0 && r.has(prose.NameCue, s.tokens[i-1].Key)):
		return capitalised
	case s.coded(t.From, t.To):
		return capitalised
	default:
		return plainWord
	}
}

// pathed reports whether a word of code is part of the name of a file: src/app.ts.
func (s *sentence) pathed(t prose.Token) bool {
	from := strings.LastIndexAny(s.Text[:t.From], " `") + 1
	to := strings.IndexAny(s.Text[t.To:], " `")
	if to < 0 {
		to = len(s.Text) - t.To
	}
	name := strings.TrimRight(s.Text[from:t.To+to], ".,;:")
	return manifest.Kind(name) != "" || codeFile.MatchString(name)
}

// codeFile matches the names of files that are code or data. Products are called like those of JavaScript.
var codeFile = lazyregexp.MustCompile(`(?i)\.(?:[cm]?tsx?|jsx|py|rb|go|rs|php|java|kt|cs|sql|sh|json|ya?ml|toml|ini|env|css|html|md|txt|csv|xml|log)$`)

// initials reports whether a word is of two to four capitals: "UI".
func (s *sentence) initials(i int) bool {
	word := s.Text[s.tokens[i].From:s.tokens[i].To]
	return len(word) > 1 && len(word) < 5 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// shouts reports whether most long words are in capitals, which then mark no name.
func (s *sentence) shouts() bool {
	long, upper := 0, 0
	for _, t := range s.tokens {
		if word := s.Text[t.From:t.To]; t.Word && len(word) > 2 {
			long++
			if word == strings.ToUpper(word) {
				upper++
			}
		}
	}
	return upper > 1 && 3*upper > long
}

// opens reports whether the word at i begins a clause that goes on: its capital says nothing
// then.
func (s *sentence) opens(i int) bool {
	if i > 0 && (s.tokens[i-1].Word || !s.tokens[i-1].IsMark(".!?:–—-(")) {
		return false
	}
	return i == 0 || i+1 < len(s.tokens) && s.tokens[i+1].Word
}

// common are capitalised words that are no choice of a tool: languages, protocols,
// platforms and what answers write with a capital.
var common = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(commonWords) {
		out[w] = true
	}
	return out
})

const commonWords = `
api apis sdk sdks id ids sql nosql http https rest json yaml xml html css url urls uri dns tls ssl ssh smtp imap cpu gpu ram ssd aws gcp
python javascript typescript java kotlin swift rust ruby php golang node nodejs deno bun react vue angular svelte nextjs nuxt linux ubuntu debian windows
macos ios android docker kubernetes github gitlab google amazon microsoft azure apple oauth saml scim oidc jwt sso mfa gdpr dsgvo rgpd soc hipaa pci
europe european germany german france french spain spanish italy italian japan japanese china chinese korea korean brazil india american english usa
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
the this that these those there then when what which who why how where here note summary option options step total cost price pros cons
yes not and but for with you your our its they them their have has had was were are can could would should will let because since while
crud orm saas paas iaas cli gui ide csv pdf sms mau dau mvp sla faq eur usd gbp utc crm cms cdn spa ssr spf dkim dmarc otlp odbc jdbc tcp udp wal
enterprise team business pro plus free premium starter tie draw both either neither none equal unentschieden gleichstand egalite empate pareggio standard basic cloud open source self hosted serverless postgres
internet intranet team-plan backend frontend devops readme markdown makefile dockerfile procfile
`

func nameSlug(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		default:
			return '-'
		}
	}, strings.ToLower(name)), "-")
}

// stranger returns the target of a name that names.find does not find: a rival where only the
// case of its letters differs, otherwise one of its own.
func (r *reading) stranger(text string) *target {
	slug := nameSlug(text)
	if t := r.names.bySlug[slug]; t != nil {
		return t
	}
	if r.unknown[slug] == nil {
		r.unknown[slug] = &target{slug: slug, outside: true, unknown: true}
	}
	return r.unknown[slug]
}
