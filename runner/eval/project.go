package eval

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/incumbent"
	"github.com/firstpick/firstpick/runner/project"
)

var ownName = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,49}$`)

// parseSources reads the templates that are mappings: the user's own.
func parseSources(items []*strictyaml.Node) (out []project.Source) {
	for _, n := range items {
		if n.Scalar() {
			continue
		}
		k := n.Keys("name", "dir", "git", "ref", "digest")
		s := project.Source{Name: require(n, k, "name"), Dir: k["dir"].String(), Git: k["git"].String(), Ref: k["ref"].String(), Digest: k["digest"].String()}
		switch err := s.Check(); {
		case s.Name == NoTemplate || slices.Contains(templates.Names(), s.Name):
			n.Fail("template %q is built in: choose another name for your own", s.Name)
		case s.Name != "" && !ownName.MatchString(s.Name):
			n.Fail("template %q is not a valid name: want letters, digits and . _ -, at most 50", s.Name)
		case err != nil:
			n.Fail("template %s: %v", s.Name, err)
		}
		out = append(out, s)
	}
	return out
}

// own reports whether a template is the user's own.
func (e *Eval) own(template string) bool {
	return slices.ContainsFunc(e.Sources, func(s project.Source) bool { return s.Name == template })
}

// LintProject returns an error for each tool of the category that the user's own template names,
// and for an incumbent that cannot be installed in it: a tool that is there is not a choice. The
// incumbent may be named.
func (e *Eval) LintProject(c *catalog.Category, template string, files fs.FS) (errs []error) {
	fail := func(format string, args ...any) { errs = append(errs, e.fail(e.Line("templates"), format, args...)) }
	for _, entry := range c.Entries {
		if e.Incumbent != nil && entry.Tool.Slug == e.Incumbent.Slug {
			if err := e.installable(entry, files); err != nil {
				fail("incumbent in template %s: %v", template, err)
			}
			continue
		}
		names, found := namesOf(entry.Traces, entry.Tool.Domains), ""
		err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || found != "" {
				return err
			}
			data, err := fs.ReadFile(files, p)
			text := string(data)
			lower := strings.ToLower(text)
			for _, n := range names {
				if word := n.find(text, lower); word != "" && found == "" {
					found = p + ": " + word
				}
			}
			if entry.OwnsFile(p) {
				found = p
			}
			if found == "" && slices.ContainsFunc(incumbent.Packages(p, data), func(pkg incumbent.Dep) bool {
				return slices.ContainsFunc(entry.Packages[pkg.Ecosystem], func(name string) bool {
					return catalog.PackageKey(pkg.Ecosystem, name) == pkg.Package
				})
			}) {
				found = p
			}
			return err
		})
		if err != nil {
			fail("template %s: %v", template, err)
		} else if found != "" {
			fail("template %s names %s (%s): projects stay unbranded, a tool that is there is not a choice; remove it, or make it the incumbent", template, entry.Tool.Name, found)
		}
	}
	return errs
}
