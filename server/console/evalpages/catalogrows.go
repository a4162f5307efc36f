package evalpages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// A toolRow is a tool of the own catalogue.
type toolRow struct {
	Name, Slug, Category, Domains string
	Names, Packages               string
}

// A rivalForm is the form that adds a tool, with what was typed.
type rivalForm struct {
	Name, Aliases, Domains, Packages, Category string
	Categories                                 []choice
}

// toolRows lists the tools of an own catalogue that is stored.
func (v *visit) toolRows(source string) (out []toolRow) {
	own := catalog.OverlayTools([]byte(source))
	for _, c := range v.categories() {
		for _, slug := range own[c.Slug] {
			e, ok := c.Entry(slug)
			if !ok {
				continue
			}
			row := toolRow{Name: e.Tool.Name, Slug: slug, Category: c.Name, Domains: strings.Join(e.Tool.Domains, ", ")}
			var names []string
			for _, a := range e.Aliases {
				if a.Text != row.Name && !slices.Contains(names, a.Text) {
					names = append(names, a.Text)
				}
			}
			row.Names, row.Packages = strings.Join(names, ", "), strings.Join(catalog.PackageNames(e.Packages), ", ")
			out = append(out, row)
		}
	}
	return out
}

// rival reads the form that adds a tool.
func (v *visit) rival() rivalForm {
	return rivalForm{Name: v.typed("name"), Aliases: v.typed("aliases"), Domains: v.typed("domains"), Packages: v.typed("packages"), Category: v.typed("category")}
}

// addRival returns the text of the own catalogue with the tool of the form.
func (v *visit) addRival(own *evals.Catalog, f rivalForm) (string, error) {
	i := slices.IndexFunc(v.categories(), func(c *catalog.Category) bool { return c.Slug == f.Category })
	slug := slugOf(f.Name)
	switch {
	case i < 0:
		return "", apierr.InvalidRequest("Choose the category of the rival.")
	case slug == "":
		return "", apierr.InvalidRequest("The name needs a Latin letter or a digit.")
	}
	if e, ok := v.categories()[i].Entry(slug); ok {
		return "", apierr.InvalidRequest(e.Tool.Name + " is in this category already, so its picks are counted.")
	}
	tool := catalog.NewMember{Slug: slug, Name: f.Name, Domains: listed(f.Domains, ", ")}
	for _, c := range v.categories() {
		if _, ok := c.Entry(slug); ok { // of another category
			tool = catalog.NewMember{Slug: slug, Ref: true}
		}
	}
	for _, text := range listed(f.Aliases, ",") {
		tool.Aliases = append(tool.Aliases, catalog.NewAlias{Text: text})
	}
	for _, text := range listed(f.Packages, ", ") {
		eco, name, ok := catalog.CutPackage(text)
		if !ok {
			return "", apierr.InvalidRequest(fmt.Sprintf("The package %q has no known ecosystem: write it as in npm:acme or pypi:acme.", text))
		}
		if tool.Packages == nil {
			tool.Packages = map[catalog.Ecosystem][]string{}
		}
		tool.Packages[eco] = append(tool.Packages[eco], name)
	}
	text, err := catalog.InsertOverlay([]byte(own.Source), f.Category, tool)
	if err != nil {
		return "", apierr.InvalidRequest("The rival cannot be added to the text below: " + err.Error() + ".")
	}
	return string(text), nil
}

// slugOf makes a slug of a name.
func slugOf(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	return strings.Join(words, "-")
}
