package docs

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/setup"
)

//go:embed pages/*.md pages/verify.py
var files embed.FS

// How to add a page: write pages/NAME.md. It is served at /docs/NAME, and listed in
// the navigation, in the index and in llms.txt. It begins with a front matter;
// its title follows:
//
//	---
//	group: how-to     # tutorial, how-to, explanation or reference
//	order: 40         # its place in the group; the smallest is first
//	description: One sentence for lists, with a full stop.
//	keywords: budget price   # optional: what people type who look for it
//	---
//	# Control the cost
//
// Use {{.Base}}/docs/NAME.md for links to other pages.

// A docGroup is a part of the documentation, after Diátaxis.
type docGroup struct{ name, title string }

func docGroups() []docGroup {
	return []docGroup{{"tutorial", "Tutorial"}, {"how-to", "How to"}, {"explanation", "Explanation"}, {"reference", "Reference"}}
}

// A frontMatter is the head of a page's file.
type frontMatter struct {
	Group       string `yaml:"group"`
	Order       int    `yaml:"order"`
	Description string `yaml:"description"`
	Keywords    string `yaml:"keywords"`
}

// A draft is a page that is not written yet.
type draft struct {
	frontMatter
	path, title string
	write       func(*filler) (string, error)
}

func (d draft) place() int {
	return slices.IndexFunc(docGroups(), func(g docGroup) bool { return g.name == d.Group })
}

func (d draft) groupTitle() string { return docGroups()[d.place()].title }

// drafts returns all pages in reading order.
func drafts(c Config, api *api) ([]draft, error) {
	out, err := filePages()
	if err != nil {
		return nil, err
	}
	add := func(group string, order int, path, title, description string, write func(*filler) (string, error)) {
		out = append(out, draft{frontMatter{Group: group, Order: order, Description: description}, path, title, write})
	}
	ready := func(text func() string) func(*filler) (string, error) {
		return func(*filler) (string, error) { return text(), nil }
	}
	add("how-to", 205, "/setup", "Recipes for the collector", "One file that a coding agent can follow in any stack.", ready(func() string { return setup.Guide(c.BaseURL) }))
	for _, s := range setup.Stacks() {
		add("how-to", 205, "/setup/"+s.Slug, "Install: "+s.Title, s.Summary, ready(func() string { return s.Recipe(c.BaseURL) }))
	}
	for _, g := range api.groups {
		add("reference", 101, "/docs/api/"+g.Name, "API: "+g.Title, g.Description, func(f *filler) (string, error) { return f.reference(g), nil })
	}
	add("reference", 230, "/docs/attribution", "How credit is given to agents", "Evidence, models and windows of credit for conversions.", ready(func() string { return setup.Attribution(c.BaseURL) }))
	add("reference", 240, "/docs/webhooks", "Webhooks", "What is sent when something changed, and how it is signed.", ready(alert.Docs))
	add("reference", 400, "/docs/changelog", "Changelog", "What changed, for people who run it.", func(f *filler) (string, error) { return f.file("changelog.md") })
	sorting.StableFunc(out, func(a, b draft) int { return cmp.Or(cmp.Compare(a.place(), b.place()), cmp.Compare(a.Order, b.Order)) })
	return out, nil
}

// filePages returns the pages of files with a front matter, by name.
func filePages() ([]draft, error) {
	names, err := fs.Glob(files, "pages/*.md")
	if err != nil {
		return nil, err
	}
	var out []draft
	for _, name := range names {
		file := strings.TrimPrefix(name, "pages/")
		if file == "changelog.md" {
			continue // a copy of CHANGELOG.md, as it is
		}
		head, body, err := readPage(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		d := draft{frontMatter: head, path: "/docs/" + strings.TrimSuffix(file, ".md"), write: func(f *filler) (string, error) { return f.file(file) }}
		title, _, _ := strings.Cut(body, "\n")
		d.title = strings.TrimPrefix(title, "# ")
		switch file {
		case "index.md":
			d.path = "/docs"
		case "cli.md":
			d.write = (*filler).commandLine
		}
		out = append(out, d)
	}
	return out, nil
}

// readPage returns the front matter of a file of pages/, and what follows it.
func readPage(name string) (head frontMatter, body string, err error) {
	data, err := files.ReadFile("pages/" + name)
	if err != nil {
		return head, "", err
	}
	front, rest, found := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	if !found {
		return head, "", fmt.Errorf("no front matter: begin with %q", "---\ngroup: how-to\norder: 10\ndescription: A sentence.\n---")
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(front)))
	decoder.KnownFields(true)
	if err := decoder.Decode(&head); err != nil {
		return head, "", fmt.Errorf("front matter: %w", err)
	}
	if !slices.ContainsFunc(docGroups(), func(g docGroup) bool { return g.name == head.Group }) {
		return head, "", fmt.Errorf("front matter: unknown group %q: want tutorial, how-to, explanation or reference", head.Group)
	}
	return head, strings.TrimLeft(rest, "\n"), nil
}

// VerifyScript returns the program that checks snapshots without firstpick.
func VerifyScript() ([]byte, error) { return files.ReadFile("pages/verify.py") }

// Changelog returns the program's CHANGELOG.md as it is served.
func Changelog() (string, error) {
	data, err := files.ReadFile("pages/changelog.md")
	return string(data), err
}

func (f *filler) commandLine() (string, error) {
	head, err := f.file("cli.md")
	if err != nil || f.config.CLI == "" {
		return strings.TrimRight(head, "\n") + "\n\n`firstpick help`, and `firstpick help COMMAND`, print the reference of the program that you have.\n", err
	}
	return strings.TrimRight(head, "\n") + "\n\n" + strings.TrimLeft(f.config.CLI, "\n"), nil
}
