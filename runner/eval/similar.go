package eval

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
)

const (
	// shingleWords is the length of a shingle in words.
	shingleWords = 3
	// maxResemblance is the resemblance from which two prompts count as one task. A
	// sentence of 20 words with three of them replaced, apart from each other, has 0.33;
	// the built-in prompts of a category stay below half of the limit (TestMargin).
	maxResemblance = 0.3
	// maxFamilyResemblance is the same for two phrasings of one task.
	maxFamilyResemblance = 0.9
)

// similar returns an error for each prompt that resembles an earlier one too much, with
// the most similar of them. Equal texts are left to Lint.
func (e *Eval) similar() (errs []error) {
	sets := make([][]uint64, len(e.Prompts))
	for i, p := range e.Prompts {
		sets[i] = shingles(p.Text)
		nearest, most := -1, 0.0
		for j, earlier := range e.Prompts[:i] {
			r := resemblance(sets[i], sets[j])
			if r > most && r >= limit(p, earlier) && p.TextKey() != earlier.TextKey() {
				nearest, most = j, r
			}
		}
		if nearest >= 0 {
			near := e.Prompts[nearest]
			advice := "ask for another task, or give both the same family"
			if p.FamilyName() == near.FamilyName() {
				advice = "phrase it differently, or use repeats to ask it more often"
			}
			errs = append(errs, e.fail(p.line, "prompt %q nearly repeats prompt %q%s (similarity %.2f, limit %.2f): %s",
				p.ID, near.ID, onLine(near), most, limit(p, near), advice))
		}
	}
	return errs
}

func limit(a, b Prompt) float64 {
	if a.FamilyName() == b.FamilyName() {
		return maxFamilyResemblance
	}
	return maxResemblance
}

// resemblance returns the share of common shingles, |A ∩ B| / |A ∪ B|, from 0 to 1
// (Broder 1997, On the resemblance and containment of documents). The sets are sorted.
func resemblance(a, b []uint64) float64 {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			common, i, j = common+1, i+1, j+1
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	if union := len(a) + len(b) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
}

// shingles returns the sorted hashes of every sequence of shingleWords words in a text,
// without case and punctuation. A shorter text is one shingle.
func shingles(text string) []uint64 {
	words := wordsOf(text)
	if len(words) == 0 {
		return nil
	}
	var set []uint64
	for i := 0; i == 0 || i+shingleWords <= len(words); i++ {
		h := fnv.New64a()
		_, _ = h.Write([]byte(strings.Join(words[i:min(i+shingleWords, len(words))], " ")))
		set = append(set, h.Sum64())
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// wordsOf returns the words of a text without case, Unicode form and punctuation.
func wordsOf(text string) []string {
	return strings.FieldsFunc(folded(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}
