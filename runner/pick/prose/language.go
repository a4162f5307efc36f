package prose

import (
	"cmp"
	"maps"
	"slices"
	"unicode"
)

// Languages returns the languages of a text, the main one first: by script, then by the
// share of common words. A text without any sign is taken for English.
func Languages(lexicons map[string]*Lexicon, tokens []Token) []string {
	score := map[string]int{}
	names := slices.Sorted(maps.Keys(lexicons))
	for _, t := range tokens {
		if !t.Word {
			continue
		}
		r := []rune(t.Key)[0]
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			score["ja"] += 3
		case unicode.Is(unicode.Hangul, r):
			score["ko"] += 2
		case unicode.Is(unicode.Han, r):
			score["zh"]++
		default:
			for _, n := range names {
				if lexicons[n].Has(Common, t.Key) {
					score[n]++
				}
			}
		}
	}
	if score["ja"] > 0 {
		score["ja"] += score["zh"]
	}
	order := slices.SortedFunc(maps.Keys(score), func(a, b string) int { return cmp.Or(cmp.Compare(score[b], score[a]), cmp.Compare(a, b)) })
	order = slices.DeleteFunc(order, func(n string) bool { return lexicons[n] == nil || 3*score[n] < score[order[0]] })
	if len(order) == 0 {
		return []string{"en"}
	}
	return order
}
