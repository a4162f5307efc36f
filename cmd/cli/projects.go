package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/incumbent"
)

// projects are the projects that the trials of an eval begin with.
type projects struct {
	load func(name string) (fs.FS, error)
	own  map[string]fs.FS // the user's own templates by name
	all  []string         // of the eval
}

// projects reads the user's own templates and sets their digests in the eval.
func (a *app) projects(ctx context.Context, ev *eval.Eval, cat *catalog.Catalog) (*projects, error) {
	p := &projects{own: map[string]fs.FS{}, all: ev.Templates}
	git, _ := exec.LookPath("git") // a folder needs none
	for i, s := range ev.Sources {
		tree, digest, err := s.Load(ctx, git, filepath.Join(a.cfg.Data, "work"))
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("template %s: no folder %s", s.Name, s.Dir+s.Git)
			}
			return nil, badInput(ev.At("templates", err))
		}
		p.own[s.Name], ev.Sources[i].Digest = tree, digest
	}
	p.load = incumbent.Loader(func(name string) (fs.FS, error) {
		if tree, ok := p.own[name]; ok {
			return tree, nil
		}
		return templates.Load(name)
	}, cat)
	return p, nil
}

// lint checks the user's own templates.
func (p *projects) lint(ev *eval.Eval, category *catalog.Category) error {
	var errs []error
	for _, s := range ev.Sources {
		errs = append(errs, ev.LintProject(category, s.Name, p.own[s.Name])...)
	}
	return errors.Join(errs...)
}

// names returns the built-in templates and those of the eval.
func (p *projects) names() []string {
	out := templates.Names()
	for _, name := range p.all {
		template, tool := incumbent.Split(name)
		if (tool.Slug != "" || p.own[template] != nil) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}
