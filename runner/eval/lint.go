package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/incumbent"
)

// Lint checks what a run depends on: no prompt names a tool of the category, no two
// prompts have the same text, and every tool that a simulated agent picks exists.
// Templates exist if an agent works in one. The incumbent is a tool of the category with
// a package for each project. A prompt that names a tool steers the answer; a repeated
// text is not a second prompt.
func (e *Eval) Lint(c *catalog.Category) []error {
	var errs []error
	for _, entry := range c.Entries {
		errs = append(errs, e.branded(entry.Tool.Name, aliasesOf(entry.Traces))...)
	}
	return sorted(append(errs, e.consistent(c)...))
}

// LintStrict checks the quality of prompts beyond Lint, and reports its errors too. Also
// errors are packages, API hosts and domains of the category's tools, names of its known
// outsiders, and near-duplicates. Warnings are leading words. A run refuses none of
// these, so that evals from before these checks still run.
func (e *Eval) LintStrict(c *catalog.Category) (errs, warnings []error) {
	for _, entry := range c.Entries {
		errs = append(errs, e.branded(entry.Tool.Name, namesOf(entry.Traces, entry.Tool.Domains))...)
	}
	for _, o := range c.Outside {
		errs = append(errs, e.branded(o.Name, namesOf(o.Traces, nil))...)
	}
	errs = append(append(errs, e.consistent(c)...), e.similar()...)
	_, warnings = e.lintBuilds()
	return sorted(errs), sorted(append(warnings, e.leading(c)...))
}

// consistent returns errors for repeated texts, for simulated picks that do not exist, and
// for an incumbent or a build that no trial can have.
func (e *Eval) consistent(c *catalog.Category) (errs []error) {
	errs, _ = e.lintBuilds()
	errs = append(errs, e.lintTemplates()...)
	errs = append(errs, e.lintIncumbent(c)...)
	for _, pair := range repeated(e.Prompts) {
		errs = append(errs, e.fail(pair[1].line, "prompt %q has the text of prompt %q%s: the same text counts as one prompt; use repeats to ask it more often", pair[1].ID, pair[0].ID, onLine(pair[0])))
	}
	for i, a := range e.Agents {
		for slug := range a.Truth {
			if _, ok := c.Entry(slug); !ok && !slices.Contains([]string{"diy", "none", "refused"}, slug) {
				errs = append(errs, e.fail(e.Line(fmt.Sprintf("agents.%d.truth", i)), "agent %q: %q is not a tool of category %s%s", a.Name, slug, c.Slug, meant(c, slug)))
			}
		}
	}
	return errs
}

// meant returns what follows an unknown tool: the ones that were probably meant.
func meant(c *catalog.Category, slug string) string {
	var known []string
	for _, entry := range c.Entries {
		known = append(known, entry.Tool.Slug)
	}
	if near, ok := nearest.Close(slug, known); ok {
		return "; " + near
	}
	return ""
}

// lintTemplates returns an error for each template that does not exist, if an agent works in one.
func (e *Eval) lintTemplates() (errs []error) {
	if !slices.ContainsFunc(e.Agents, func(a Agent) bool { return a.IsProgram() }) {
		return nil
	}
	for _, condition := range e.Templates {
		name, _ := incumbent.Split(condition)
		if name == NoTemplate || name == "" || e.own(name) || slices.Contains(templates.Names(), name) {
			continue
		}
		if fail := e.fail(e.Line("templates"), "template %q is unknown; %s", name, nearest.Hint(name, templates.Names())); !slices.ContainsFunc(errs, func(err error) bool { return err.Error() == fail.Error() }) {
			errs = append(errs, fail)
		}
	}
	return errs
}

// branded returns an error for each prompt that has one of the names of a product.
func (e *Eval) branded(product string, names []name) (errs []error) {
	for _, p := range e.Prompts {
		lower := strings.ToLower(p.Text)
		for _, n := range names {
			if word := n.find(p.Text, lower); word != "" {
				errs = append(errs, e.fail(p.line, "prompt %q names %s (%q): prompts stay unbranded, a name steers the answer; describe the task without it", p.ID, product, word))
				break
			}
		}
	}
	return errs
}

// fail adds file and line if they are known: a resumed run was not read from a file.
func (e *Eval) fail(line int, format string, args ...any) error {
	if line == 0 {
		return fmt.Errorf(format, args...)
	}
	return &strictyaml.Error{File: e.file, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// At adds the file and the line of a key to an error, if they are known.
func (e *Eval) At(key string, err error) error {
	if line := e.Line(key); line > 0 {
		return fmt.Errorf("%s:%d: %w", e.file, line, err)
	}
	return err
}

func onLine(p Prompt) string {
	if p.line == 0 {
		return ""
	}
	return fmt.Sprintf(" on line %d", p.line)
}

func sorted(errs []error) []error {
	sorting.Func(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// repeated returns the prompts that have the text of an earlier one, each with that one.
func repeated(prompts []Prompt) (pairs [][2]Prompt) {
	first := map[string]Prompt{}
	for _, p := range prompts {
		key := p.TextKey()
		if earlier, ok := first[key]; ok && key != "" {
			pairs = append(pairs, [2]Prompt{earlier, p})
			continue
		}
		first[key] = p
	}
	return pairs
}
