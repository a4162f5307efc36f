package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
)

// An addOptions is what catalog add is given by flags or asked for.
type addOptions struct {
	*app
	category                   catalog.NewCategory
	categoryDomain             string
	member                     catalog.NewMember
	packages, imports, aliases []string
	exact                      bool
	require, forbid            string
	outside, dryRun            bool
}

func newCatalogAddCmd(env *Env) *cobra.Command {
	o := &addOptions{}
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Add a tool to a category of your catalogue folder",
		Long: `Add a tool, or with --outside a name that is known and does not compete, to the file of a
category in the folder of --catalog. On a terminal it asks for what the flags leave open, and
for nothing once they give the category, the slug, the name and one trace. The catalogue is
checked with the new entry before anything is written; an entry that exists is an error. A
category that the folder does not have is created.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.add()
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.category.Slug, "category", "", "slug of the category")
	f.StringVar(&o.category.Name, "category-name", "", "name of a new category")
	f.StringVar(&o.categoryDomain, "category-domain", "", "tree of a new category: dev-tools or saas")
	f.StringVar(&o.category.Summary, "summary", "", "a sentence about a new category")
	f.StringVar(&o.member.Slug, "slug", "", "slug of the tool")
	f.StringVar(&o.member.Name, "name", "", "name of the tool")
	f.BoolVar(&o.member.Ref, "ref", false, "the tool is defined in another category")
	f.BoolVar(&o.outside, "outside", false, "known, but does not compete")
	f.StringArrayVar(&o.member.Domains, "domain", nil, "host name of its site (repeatable)")
	f.StringArrayVar(&o.packages, "package", nil, "package as ECOSYSTEM:NAME (repeatable)")
	f.StringArrayVar(&o.imports, "import", nil, "imported name as ECOSYSTEM:NAME (repeatable)")
	f.StringArrayVar(&o.member.Hosts, "host", nil, "host of its API (repeatable)")
	f.StringArrayVar(&o.member.Env, "env", nil, "environment variable; a trailing * matches any rest (repeatable)")
	f.StringArrayVar(&o.member.Files, "file", nil, "glob of a config file (repeatable)")
	f.StringArrayVar(&o.member.BuiltOn, "built-on", nil, "slug of a member that it builds on (repeatable)")
	f.StringArrayVar(&o.aliases, "alias", nil, "another name in prose (repeatable)")
	f.BoolVar(&o.exact, "exact", false, "match the name only as written: for a common word")
	f.StringVar(&o.require, "require", "", "pattern that the paragraph of the name must match")
	f.StringVar(&o.forbid, "forbid", "", "pattern that the sentence of the name must not match")
	f.BoolVar(&o.dryRun, "dry-run", false, "print the entry and check it, without writing it")
	return cmd
}

func (o *addOptions) add() error {
	if o.cfg.Catalog == "" {
		return usageErr("firstpick catalog export DIR writes the built-in catalogue; then --catalog DIR", "the built-in catalogue cannot be changed: --catalog is missing")
	}
	files, err := readCatalogFiles(o.cfg.Catalog)
	if err != nil {
		return err
	}
	if err := files.check(); err != nil {
		return badInput(fmt.Errorf("the catalogue has errors already; nothing is written: %w", err))
	}
	if o.env.StdinIsTTY {
		if err := o.ask(files); err != nil {
			return err
		}
	}
	if err := o.complete(); err != nil {
		return err
	}
	name, changed, err := o.change(files)
	if err != nil {
		return err
	}
	before := files[name]
	files[name] = changed
	if err := files.check(); err != nil {
		return badInput(fmt.Errorf("nothing is written: %w", err))
	}
	line, err := o.member.Line()
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(o.env.Stdout, line)
	path := filepath.Join(o.cfg.Catalog, name)
	switch {
	case o.dryRun:
		_, _ = fmt.Fprintf(o.env.Stderr, "ok; nothing is written to %s (dry run)\n", path)
		return nil
	case before == nil:
		err = writeNew(path, changed)
	default:
		_, err = writeWhole(path, bytes.NewReader(changed))
	}
	if err != nil {
		return badInput(err)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "added %s to %s of %s\n", o.member.Slug, o.category.Slug, path)
	return nil
}

// complete checks the flags and builds the entry's names.
func (o *addOptions) complete() error {
	for flag, value := range map[string]string{"--category": o.category.Slug, "--slug": o.member.Slug} {
		if value == "" {
			return usageErr("firstpick catalog add --help", "%s is missing", flag)
		}
	}
	if !o.member.Ref && o.member.Name == "" {
		return usageErr("the name as people write it", "--name is missing")
	}
	for _, domain := range o.member.Domains {
		if !strings.Contains(domain, ".") || strings.ContainsAny(domain, "/: ") {
			return usageErr("such as acme.example, without https://", "--domain must be the name of a host (got %q)", domain)
		}
	}
	var err error
	if o.member.Packages, err = namesByEcosystem("--package", o.packages); err != nil {
		return err
	}
	if o.member.Imports, err = namesByEcosystem("--import", o.imports); err != nil {
		return err
	}
	if o.exact || o.require != "" || o.forbid != "" {
		if o.member.Name == "" {
			return usageErr("", "--exact, --require and --forbid are about --name, which is missing")
		}
		o.member.Aliases = append(o.member.Aliases, catalog.NewAlias{Text: o.member.Name, Exact: o.exact, Require: o.require, Forbid: o.forbid})
	}
	for _, a := range o.aliases {
		o.member.Aliases = append(o.member.Aliases, catalog.NewAlias{Text: a})
	}
	return nil
}

func namesByEcosystem(flag string, values []string) (map[catalog.Ecosystem][]string, error) {
	out := map[catalog.Ecosystem][]string{}
	for _, v := range values {
		eco, name, ok := catalog.CutPackage(v)
		if !ok {
			return nil, usageErr(fmt.Sprintf("write npm:%s; ecosystems: %v", v, catalog.Ecosystems()), "%s must be ECOSYSTEM:NAME (got %q)", flag, v)
		}
		out[eco] = append(out[eco], name)
	}
	return out, nil
}

// change returns the file of the category with the new entry.
func (o *addOptions) change(files catalogFiles) (name string, changed []byte, err error) {
	if name = files.of(o.category.Slug); name != "" {
		changed, err = catalog.Insert(files[name], o.member, o.outside)
		if err != nil {
			err = badInput(fmt.Errorf("%s: %w", name, err))
		}
		return name, changed, err
	}
	o.category.Domain = catalog.Domain(o.categoryDomain)
	switch {
	case o.outside:
		return "", nil, usageErr("add a tool first", "no category %s in %s: a category begins with a tool", o.category.Slug, o.cfg.Catalog)
	case o.category.Name == "" || o.category.Domain == "":
		return "", nil, o.noCategory(files)
	}
	if name = o.category.Slug + ".yaml"; files[name] != nil {
		return "", nil, usageErr("", "%s exists and holds another category", name)
	}
	changed, err = catalog.NewFile(o.category, o.member)
	return name, changed, err
}

// noCategory is the error of a category that the folder lacks.
func (o *addOptions) noCategory(files catalogFiles) error {
	var known []string
	for _, data := range files {
		known = append(known, catalog.FileSlug(data))
	}
	hint := "--category-name NAME --category-domain saas creates it"
	if near, ok := nearest.Close(o.category.Slug, known); ok {
		hint = near
	} else if len(files) == 0 {
		hint += "; the folder has no .yaml file: check the path of --catalog"
	}
	return usageErr(hint, "no category %q in %s", o.category.Slug, o.cfg.Catalog)
}

// catalogFiles holds the files of a catalogue folder by name.
type catalogFiles map[string][]byte

// readCatalogFiles reads the .yaml files of a folder; none if it does not exist.
func readCatalogFiles(dir string) (catalogFiles, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, badInput(err)
	}
	files := catalogFiles{}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, badInput(err)
		}
		files[filepath.Base(path)] = data
	}
	return files, nil
}

// check loads the files as a catalogue. No file is no error.
func (f catalogFiles) check() error {
	if len(f) == 0 {
		return nil
	}
	_, err := f.load()
	return err
}

// load loads the files as a catalogue, from a folder of their own.
func (f catalogFiles) load() (_ *catalog.Catalog, err error) {
	dir, err := os.MkdirTemp("", "firstpick-catalog-*")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for name, data := range f {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return nil, err
		}
	}
	return catalog.Load(os.DirFS(dir), ".")
}

// of returns the name of the file that holds a category; empty if absent.
func (f catalogFiles) of(category string) string {
	for name, data := range f {
		if catalog.FileSlug(data) == category {
			return name
		}
	}
	return ""
}

// described reports whether the flags name the tool and a trace of it.
func (o *addOptions) described() bool {
	traces := [][]string{o.member.Domains, o.packages, o.imports, o.member.Hosts, o.member.Env, o.member.Files, o.aliases}
	traced := slices.ContainsFunc(traces, func(of []string) bool { return len(of) > 0 })
	return o.member.Slug != "" && (o.member.Ref || o.member.Name != "" && traced)
}

// ask reads what the flags leave open from the terminal. An empty answer leaves a key out.
// Flags that describe the tool are an answer to all that may be left out.
func (o *addOptions) ask(files catalogFiles) error {
	described := o.described()
	in := bufio.NewReader(io.LimitReader(o.env.Stdin, maxExplained))
	question := func(text string) (string, error) {
		_, _ = fmt.Fprintf(o.env.Stderr, "%s: ", text)
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) && line == "" {
			return "", usageErr("", "the answers ended; nothing is written")
		} else if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimSpace(line), nil
	}
	one := func(to *string, text string) (err error) {
		if *to == "" {
			*to, err = question(text)
		}
		return err
	}
	many := func(to *[]string, text string) error {
		if len(*to) > 0 {
			return nil
		}
		line, err := question(text)
		*to = strings.Fields(strings.ReplaceAll(line, ",", " "))
		return err
	}
	if err := one(&o.category.Slug, "category (slug)"); err != nil {
		return err
	}
	if files.of(o.category.Slug) == "" {
		if err := errors.Join(one(&o.category.Name, "new category: name"), one(&o.categoryDomain, "new category: dev-tools or saas")); err != nil {
			return err
		}
		if !described {
			if err := one(&o.category.Summary, "new category: a sentence"); err != nil {
				return err
			}
		}
	}
	if described {
		return nil
	}
	if err := errors.Join(one(&o.member.Slug, "tool (slug)"), one(&o.member.Name, "name")); err != nil {
		return err
	}
	return errors.Join(
		many(&o.member.Domains, "host names of its site"), many(&o.packages, "packages, as npm:stripe pypi:stripe"),
		many(&o.imports, "imported names that do not follow from the packages, as pypi:sklearn"), many(&o.member.Hosts, "hosts of its API"),
		many(&o.member.Env, "environment variables, as STRIPE_*"), many(&o.member.Files, "config files"),
		one(&o.require, "if the name is a common word: a pattern that its paragraph must match"),
	)
}
