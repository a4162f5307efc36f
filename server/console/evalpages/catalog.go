package evalpages

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// catalogsListed is how many versions the page of the catalogue names.
const catalogsListed = 20

type catalogData struct {
	Page     layout.Page
	Paid     bool
	Notice   string
	Problem  string
	Issues   []evals.Issue
	Lines    []sourceLine
	Warnings []string
	Checked  bool // a valid text, which is not stored
	Version  int  // the current one; 0 before the first
	Base     int  // that the text began with
	Source   string
	Rows     int
	Example  bool // the text is an example
	Versions []catalogRow
	Action   string
	New      string // where an eval begins
	Tools    []toolRow
	Rival    rivalForm
	Site     string // of the workspace, for the command line; may be empty
}

// A catalogRow is a version in the history.
type catalogRow struct {
	Number    int
	Link      string
	When, Who string
	On        bool // the current one
}

// catalog shows the workspace's own catalogue, with an example before the first version.
func (v *visit) catalog() error {
	own, err := v.h.Evals.Catalog(v.R.Context(), v.actor())
	if err != nil {
		return err
	}
	d := catalogData{Source: own.Source, Base: own.Version}
	if own.Version == 0 {
		d.Source, d.Example = v.exampleCatalog(), true
	}
	switch v.R.URL.Query().Get("done") {
	case "saved":
		d.Notice = "Saved. New runs use it; runs that were started keep their version."
		if d.Warnings, err = v.h.Evals.CheckCatalog(v.R.Context(), v.actor(), []byte(own.Source)); err != nil && evals.Issues(err) == nil {
			return err
		}
	case "same":
		d.Notice = "No change: identical to the current version."
	}
	return v.showCatalog(http.StatusOK, d)
}

// saveCatalog validates the text, and stores it unless only a check was requested.
func (v *visit) saveCatalog() error {
	// Browsers send lines with carriage returns (HTML standard, form data sets).
	d := catalogData{Source: strings.ReplaceAll(v.R.PostFormValue("source"), "\r\n", "\n")}
	var err error
	if d.Base, err = strconv.Atoi(v.R.PostFormValue("base")); err != nil || d.Base < 0 {
		return apierr.InvalidRequest("The form lacks the version that it changes. Reload the page.")
	}
	do := v.R.PostFormValue("do")
	if do == "add" {
		own, err := v.h.Evals.Catalog(v.R.Context(), v.actor())
		if err != nil {
			return err
		}
		d.Rival, d.Source, d.Example = v.rival(), own.Source, own.Version == 0
		added, err := v.addRival(own, d.Rival)
		if err != nil {
			d.Problem = apierr.Of(err).Description
			if d.Example {
				d.Source = v.exampleCatalog()
			}
			return v.showCatalog(http.StatusUnprocessableEntity, d)
		}
		d.Source, d.Example, do = added, false, "save"
	}
	if do != "save" {
		d.Warnings, err = v.h.Evals.CheckCatalog(v.R.Context(), v.actor(), []byte(d.Source))
		d.Checked = err == nil
	} else {
		var changed bool
		if _, changed, err = v.h.Evals.PutCatalog(v.R.Context(), v.actor(), []byte(d.Source), d.Base); err == nil {
			done := "saved"
			if !changed {
				done = "same"
			}
			return v.see(v.at("evals", "catalog") + "?done=" + done)
		}
	}
	if err != nil {
		e := wrong(err)
		if e == nil {
			return err
		}
		if d.Issues = evals.Issues(err); d.Issues == nil {
			d.Problem = e.Description
		}
		if e.Code == "catalog_changed" {
			return v.catalogChanged(d)
		}
		d.Lines = near(d.Source, d.Issues)
		return v.showCatalog(http.StatusUnprocessableEntity, d)
	}
	return v.showCatalog(http.StatusOK, d)
}

// catalogChanged keeps what was typed after somebody else stored a version. Saving again
// replaces that version.
func (v *visit) catalogChanged(d catalogData) error {
	now, err := v.h.Evals.Catalog(v.R.Context(), v.actor())
	if err != nil {
		return err
	}
	d.Base = now.Version
	d.Problem = "Version " + strconv.Itoa(now.Version) + " was stored since you opened this page. Your text is still below: compare it with that version, in the history. Saving again replaces that version."
	return v.showCatalog(http.StatusConflict, d)
}

func (v *visit) showCatalog(status int, d catalogData) error {
	d.Page, d.Paid, d.Action, d.New, d.Site = v.area("catalog"), v.paid(), v.at("evals", "catalog"), v.at("evals", "new"), v.Workspace.Site
	d.Rows = min(max(strings.Count(d.Source, "\n")+2, leastRows), mostRows)
	list, emails, err := v.h.Evals.CatalogHistory(v.R.Context(), v.actor(), catalogsListed)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		current, err := v.h.Evals.Catalog(v.R.Context(), v.actor())
		if err != nil {
			return err
		}
		d.Tools = v.toolRows(current.Source)
	}
	for _, c := range v.categories() {
		d.Rival.Categories = append(d.Rival.Categories, choice{Key: c.Slug, Name: c.Name, On: c.Slug == d.Rival.Category})
	}
	for i, c := range list {
		row := catalogRow{Number: c.Number, Link: v.at("evals", "catalog", "versions", strconv.Itoa(c.Number)), When: chart.Minute(c.CreatedAt), Who: emails[c.CreatedBy], On: i == 0}
		switch {
		case strings.HasPrefix(c.CreatedBy, "evk_"):
			row.Who = "eval key " + c.CreatedBy
		case row.Who == "":
			row.Who = "a former account"
		}
		d.Versions = append(d.Versions, row)
	}
	if len(list) > 0 {
		d.Version = list[0].Number
	}
	return v.Show(status, "workspace-ev-catalog", "Catalogue", d)
}

type catalogVersionData struct {
	Page   layout.Page
	Number int
	When   string
	Source string
	Back   string
}

// catalogVersion shows the text of a version.
func (v *visit) catalogVersion() error {
	number, _ := strconv.Atoi(v.param("n")) // invalid numbers become 0, an unknown version
	c, err := v.h.Evals.CatalogVersion(v.R.Context(), v.actor(), number)
	if err != nil {
		return err
	}
	return v.Show(http.StatusOK, "workspace-ev-catalog-version", "Catalogue, version "+strconv.Itoa(number), catalogVersionData{
		Page: v.area("catalog"), Number: number, When: chart.Minute(*c.CreatedAt), Source: c.Source, Back: v.at("evals", "catalog"),
	})
}

// exampleCatalog returns an own catalogue to begin with, made of the workspace's name and
// site: an entry of a category that the server has, if it has the tool, else a new
// category.
func (v *visit) exampleCatalog() string {
	slug := strings.Trim(v.Workspace.Slug[:min(len(v.Workspace.Slug), 64)], "-")
	tool := catalog.NewMember{Slug: slug, Name: v.Workspace.Title()}
	if _, host, ok := strings.Cut(v.Workspace.Site, "://"); ok {
		tool.Domains = []string{strings.TrimPrefix(host, "www.")}
	}
	head := catalog.NewCategory{Slug: "my-category", Name: "My category", Domain: catalog.SaaS, Summary: "What its tools do."}
	for _, c := range v.h.Categories {
		if e, known := c.Entry(slug); known && e.Tool.Home.Slug == c.Slug {
			head = catalog.NewCategory{Slug: c.Slug}
		}
	}
	text, err := catalog.NewFile(head, tool)
	if err != nil { // a name that YAML cannot hold
		return ""
	}
	return "# One document a category, with --- between them. Tools replace those of the\n# server with the same slug, or are added.\n" + string(text) +
		"  # - {slug: rival, name: Rival, domains: [rival.example], packages: {npm: [\"@rival/sdk\"]}}\n"
}

// categories returns what evals of the workspace may measure.
func (v *visit) categories() []*catalog.Category {
	if v.own == nil {
		v.own = v.h.Categories
		if own, err := v.h.Evals.OwnCategories(v.R.Context(), v.actor()); err == nil && own != nil {
			v.own = own
		}
	}
	return v.own
}

// area returns the frame of a part of the evals that every member finds by its name.
func (v *visit) area(part string) layout.Page {
	p := v.page()
	p.PartsLabel = "Evals"
	for _, t := range []struct{ key, name, link string }{{"evals", "Evals", v.at("evals")}, {"runs", "Runs", v.at("runs")}, {"catalog", "Catalogue", v.at("evals", "catalog")}} {
		p.Parts = append(p.Parts, layout.Tab{Name: t.name, Link: t.link, On: t.key == part})
	}
	return p
}
