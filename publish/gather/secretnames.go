package gather

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// dropSecrets removes names of tools that were read from a secret: those that the answer has
// and the redacted answer has not. A name is in lower case and without marks, so it no longer
// has the shape of the secret.
func (p *Policy) dropSecrets(e *trialset.Entry, r *pick.Result, answer, redacted *transcript.Transcript) {
	before, after := allLetters(answer), allLetters(redacted)
	secret := func(name string) bool {
		key := letters(name)
		if key == "" || p.known[name] {
			return false
		}
		return strings.Contains(before, key) && !strings.Contains(after, key)
	}
	for _, name := range []*string{&e.Picked, &r.Say, &r.FirstNamed} {
		if secret(*name) {
			*name = ""
		}
	}
	r.Shortlist, r.Rejected = slices.DeleteFunc(slices.Clone(r.Shortlist), secret), slices.DeleteFunc(slices.Clone(r.Rejected), secret)
	r.Evidence = slices.Clone(r.Evidence)
	for i := range r.Evidence {
		if secret(r.Evidence[i].Tool) {
			r.Evidence[i].Tool = ""
		}
	}
}

// allLetters returns the letters of all texts of a transcript.
func allLetters(t *transcript.Transcript) string {
	var b strings.Builder
	anyText(t, func(text string) bool {
		b.WriteString(letters(text))
		b.WriteByte('\n')
		return false
	})
	return b.String()
}

// letters returns the letters and digits of a text in lower case.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
