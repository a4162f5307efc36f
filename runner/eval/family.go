package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Family returns the key of the prompt's text. Prompts whose texts differ in white
// space, case or Unicode form (NFKC) alone have the same key: an agent is asked the same
// by both, so they are one prompt to the statistics. Where the text is not known, as in
// some imports, it is empty.
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
