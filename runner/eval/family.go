package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Family returns the key of the prompt's text. Texts that differ only in white space,
// case or Unicode form (NFKC) have the same key and count as one prompt in the
// statistics. It is empty if the text is unknown, as in some imports.
func (p Prompt) Family() string {
	text := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(p.Text)))
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// repeated returns the prompts that have the text of an earlier one, each with that one.
func repeated(prompts []Prompt) (pairs [][2]Prompt) {
	first := map[string]Prompt{}
	for _, p := range prompts {
		key := p.Family()
		if earlier, ok := first[key]; ok && key != "" {
			pairs = append(pairs, [2]Prompt{earlier, p})
			continue
		}
		first[key] = p
	}
	return pairs
}
