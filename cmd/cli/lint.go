package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

func newLintCmd(env *Env) *cobra.Command {
	var f format
	var categories bool
	cmd := &cobra.Command{
		Use:   "lint [EVAL.yaml...]",
		Short: "Check the catalogue and eval files, and that prompts name no tool and differ",
		Long: `Check the catalogue and the given eval files, or those in evals/.

Errors are prompts that name a tool of their category, or another product in the catalogue,
by name, package or host, and prompts that nearly repeat another. Prompts are compared by
their sequences of three words; prompts of one family may be alike. Warnings are words that
lead the answer without naming a tool. Your own project templates are read, and must name
no tool of the category but the incumbent.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			cat, err := a.catalog()
			if err != nil {
				return badInput(err)
			}
			if categories {
				return a.listCategories(cat, f)
			}
			return a.lint(cmd.Context(), cat, args)
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&categories, "categories", false, "list the catalogue's categories")
	return cmd
}

func (a *app) lint(ctx context.Context, cat *catalog.Catalog, files []string) error {
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join("evals", "*.yaml"))
	}
	if len(files) == 0 && a.cfg.Catalog == "" {
		return usageErr("firstpick init writes an example; or name the files: firstpick lint FILE.yaml", "no eval files in evals/")
	}
	var errs []error
	var small []string
	for _, file := range files {
		families, warnings, err := a.lintEval(ctx, cat, file)
		if families < analytics.MinFamilies {
			small = append(small, fmt.Sprintf("%s has %s; below %d a board is an early result", file, familyCount(families), analytics.MinFamilies))
		}
		errs = append(errs, err)
		for _, warning := range warnings {
			_, _ = fmt.Fprintf(a.env.Stderr, "warning: %s\n", printableText(warning.Error()))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return badInput(err)
	}
	for _, text := range small {
		a.note("%s", text)
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "ok: %d categories, %d tools, %s\n", len(cat.Categories), len(cat.Tools), counted(len(files), "eval file"))
	if len(files) > 0 {
		a.env.next("firstpick run " + files[0])
	}
	return nil
}

// lintEval returns the number of prompt families of an eval file, its warnings, and its
// errors joined.
func (a *app) lintEval(ctx context.Context, cat *catalog.Catalog, file string) (families int, warnings []error, err error) {
	ev, err := readEval(file)
	if err != nil {
		return 0, nil, err
	}
	category, ok := cat.Category(ev.Category)
	if !ok {
		return 0, nil, inEval(file, unknownCategory(cat, ev.Category))
	}
	errs, warnings := ev.LintStrict(category)
	projects, err := a.projects(ctx, ev, cat)
	if err == nil {
		err = projects.lint(ev, category)
	}
	return len(plan.Families(ev)), warnings, errors.Join(append(errs, err)...)
}

// inEval puts the line of the category before an error about it.
func inEval(file string, err error) error {
	text, _ := os.ReadFile(file) // it was read before
	return usageErr(hintOf(err), "%s:%d: %w", file, lineOf(text, "category"), err)
}

func familyCount(n int) string {
	if n == 1 {
		return "1 prompt family"
	}
	return fmt.Sprintf("%d prompt families", n)
}

// counted returns a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lintForRun returns what a run would refuse, and else the number of problems that
// lintEval finds.
func lintForRun(cat *catalog.Catalog, ev *eval.Eval) (doubts int, err error) {
	category, ok := cat.Category(ev.Category)
	if !ok {
		return 0, unknownCategory(cat, ev.Category)
	}
	if err := errors.Join(ev.Lint(category)...); err != nil {
		return 0, badInput(err)
	}
	errs, warnings := ev.LintStrict(category)
	return len(errs) + len(warnings), nil
}

func (a *app) listCategories(cat *catalog.Catalog, f format) error {
	type item struct {
		Slug   string         `json:"slug"`
		Name   string         `json:"name"`
		Domain catalog.Domain `json:"domain"`
		Study  string         `json:"study,omitempty"`
		Tools  []string       `json:"tools"`
	}
	items := []item{}
	t := table{header: []string{"category", "name", "domain", "study", "tools"}}
	for _, c := range cat.Categories {
		it := item{c.Slug, c.Name, c.Domain, c.Study, []string{}}
		for _, e := range c.Entries {
			it.Tools = append(it.Tools, e.Tool.Slug)
		}
		items = append(items, it)
		t.add(c.Slug, c.Name, string(c.Domain), dash(c.Study), fmt.Sprint(len(c.Entries)))
	}
	if f.json {
		return printJSON(a.env, map[string]any{"categories": items})
	}
	return t.print(a.env, f)
}
