package eval

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// Lint checks an eval against its category: no prompt names a tool of it, no two prompts
// have the same text, and every tool that a simulated agent picks exists. A prompt that
// names a tool steers the answer; a repeated text is not a second prompt.
func (e *Eval) Lint(c *catalog.Category) []error {
	var errs []error
	for _, entry := range c.Entries {
		names := namesOf(entry)
		for _, p := range e.Prompts {
			if word := named(p.Text, names); word != "" {
				errs = append(errs, e.fail(p.line, "prompt %q names %s (%q): prompts stay unbranded", p.ID, entry.Tool.Name, word))
			}
		}
	}
	for _, pair := range repeated(e.Prompts) {
		at := ""
		if pair[0].line > 0 {
			at = fmt.Sprintf(" on line %d", pair[0].line)
		}
		errs = append(errs, e.fail(pair[1].line, "prompt %q has the text of prompt %q%s: the same text counts as one prompt; use repeats to ask it more often", pair[1].ID, pair[0].ID, at))
	}
	for i, a := range e.Agents {
		for slug := range a.Truth {
			if _, ok := c.Entry(slug); !ok && !slices.Contains([]string{"diy", "none", "refused"}, slug) {
				errs = append(errs, e.fail(e.Line(fmt.Sprintf("agents.%d.truth", i)), "agent %q: %q is not a tool of category %s", a.Name, slug, c.Slug))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// fail adds file and line if they are known: a resumed run was not read from a file.
func (e *Eval) fail(line int, format string, args ...any) error {
	if line == 0 {
		return fmt.Errorf(format, args...)
	}
	return &strictyaml.Error{File: e.file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// namesOf returns patterns that match the names of a tool in a prompt. They ignore the
// catalogue's context conditions: an ambiguous word is better left out of a prompt.
func namesOf(e catalog.Entry) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, a := range e.Aliases {
		pattern := `(?:^|[^\pL\pN])(` + regexp.QuoteMeta(a.Text) + `)(?:$|[^\pL\pN])`
		if !a.Exact {
			pattern = "(?i)" + pattern
		}
		out = append(out, regexp.MustCompile(pattern))
	}
	return out
}

// named returns the word by which a prompt names a tool.
func named(text string, names []*regexp.Regexp) string {
	for _, name := range names {
		if m := name.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}
