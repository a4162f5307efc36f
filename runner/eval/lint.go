package eval

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// Lint checks an eval against its category: no prompt names a tool of it, and
// what a simulated agent picks exists. A prompt that names a tool steers the
// answer, whatever it says about it.
func (e *Eval) Lint(c *catalog.Category) []error {
	var errs []error
	for _, p := range e.Prompts {
		for _, entry := range c.Entries {
			if word := named(p.Text, entry); word != "" {
				errs = append(errs, fmt.Errorf("%sprompt %q names %s (%q): prompts stay unbranded",
					e.place(p), p.ID, entry.Tool.Name, word))
			}
		}
	}
	for _, a := range e.Agents {
		for slug := range a.Truth {
			if _, ok := c.Entry(slug); !ok && !slices.Contains([]string{"diy", "none", "refused"}, slug) {
				errs = append(errs, fmt.Errorf("agent %q: %q is no tool of category %s", a.Name, slug, c.Slug))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// place names the prompt's line where it is known: a run that is resumed was
// not read from a file.
func (e *Eval) place(p Prompt) string {
	if p.line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", e.file, p.line)
}

// named returns the word by which a prompt names a tool. Conditions of context
// do not count here: a doubtful word is better left out of a prompt.
func named(text string, e catalog.Entry) string {
	for _, a := range e.Aliases {
		pattern := `(?:^|[^\pL\pN])(` + regexp.QuoteMeta(a.Text) + `)(?:$|[^\pL\pN])`
		if !a.Exact {
			pattern = "(?i)" + pattern
		}
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}
