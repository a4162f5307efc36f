package eval

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/incumbent"
)

// parseIncumbent reads the slug of a tool, or a mapping of tool and version.
func parseIncumbent(n *strictyaml.Node) *incumbent.Tool {
	if n.Scalar() {
		return &incumbent.Tool{Slug: validName(n, "incumbent")}
	}
	k := n.Keys("tool", "version")
	t := &incumbent.Tool{Slug: require(n, k, "tool"), Version: k["version"].String()}
	if t.Version != "" && !incumbent.ValidVersion(t.Version) {
		k["version"].Fail("version: want an exact version such as 17.0.0 or v1.2.3 (got %q)", t.Version)
		t.Version = "" // one error is enough
	}
	return t
}

// withIncumbent returns the templates, each followed by its condition with the incumbent.
func withIncumbent(n *strictyaml.Node, templates []string, t incumbent.Tool) []string {
	var out []string
	for _, name := range templates {
		out = append(out, name)
		if name == NoTemplate || name == "" {
			continue
		}
		condition := t.Condition(name)
		if !namePattern.MatchString(condition) {
			n.Fail("incumbent: %q is not a valid name of a project: want letters, digits and . _ / : -, at most 100", condition)
		}
		out = append(out, condition)
	}
	if len(out) == len(templates) {
		n.Fail("incumbent: want a template that a tool can be installed in, such as templates: [none, nextjs-saas]")
	}
	return out
}

// lintIncumbent returns an error for each project that the incumbent cannot be installed in.
func (e *Eval) lintIncumbent(c *catalog.Category) (errs []error) {
	if e.Incumbent == nil {
		return nil
	}
	fail := func(format string, args ...any) {
		errs = append(errs, e.fail(e.Line("incumbent"), format, args...))
	}
	entry, ok := c.Entry(e.Incumbent.Slug)
	if !ok {
		fail("incumbent: %q is not a tool of category %s%s", e.Incumbent.Slug, c.Slug, meant(c, e.Incumbent.Slug))
		return errs
	}
	for _, condition := range e.Templates {
		name, tool := incumbent.Split(condition)
		if tool.Slug == "" || e.own(name) {
			continue // LintProject checks one's own
		}
		files, err := templates.Load(name)
		if err == nil {
			err = e.installable(entry, files)
		}
		if err != nil {
			fail("incumbent in template %s: %v", name, err)
		}
	}
	return errs
}

// installable returns an error if the incumbent cannot be installed in a project, or the
// category would not know its package. incumbent.Loader installs that of the home category.
func (e *Eval) installable(entry catalog.Entry, files fs.FS) error {
	home, ok := entry.Tool.Home.Entry(entry.Tool.Slug)
	if !ok {
		home = entry
	}
	_, dep, err := e.Incumbent.Install(files, home)
	if err == nil && !slices.Contains(entry.Packages[dep.Ecosystem], dep.Package) {
		err = fmt.Errorf("category %s does not know the package %s of %s", e.Category, dep.Package, entry.Tool.Name)
	}
	return err
}
