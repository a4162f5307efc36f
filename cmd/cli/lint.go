package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

func newLintCmd(env *Env) *cobra.Command {
	var f format
	var categories bool
	cmd := &cobra.Command{
		Use:   "lint [EVAL.yaml...]",
		Short: "Check the catalogue and eval files, and that prompts name no tool",
		Long:  "Check the catalogue and the given eval files, or those in evals/. A prompt that names a tool of its category steers the answer and is an error.",
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
			return a.lint(cat, args)
		},
	}
	f.flags(cmd)
	cmd.Flags().BoolVar(&categories, "categories", false, "list the catalogue's categories")
	return cmd
}

func (a *app) lint(cat *catalog.Catalog, files []string) error {
	if len(files) == 0 {
		files, _ = filepath.Glob(filepath.Join("evals", "*.yaml"))
	}
	var errs []error
	for _, file := range files {
		errs = append(errs, lintEval(cat, file))
	}
	if err := errors.Join(errs...); err != nil {
		return badInput(err)
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "ok: %d categories, %d tools, %d eval files\n", len(cat.Categories), len(cat.Tools), len(files))
	return nil
}

func lintEval(cat *catalog.Catalog, file string) error {
	ev, err := readEval(file)
	if err != nil {
		return err
	}
	category, ok := cat.Category(ev.Category)
	if !ok {
		return fmt.Errorf("%s: %w", file, unknownCategory(cat, ev.Category))
	}
	return errors.Join(ev.Lint(category)...)
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
