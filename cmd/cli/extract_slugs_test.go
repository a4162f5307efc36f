package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
)

func slugCatalog(tb testing.TB) *catalog.Catalog {
	tb.Helper()
	const file = `category: {slug: pay, name: Pay, domain: saas, summary: For tests., outside: [{slug: bank, name: Bank, packages: {npm: [bank-pay]}}]}
tools:
  - {slug: alpha, name: Alpha, domains: [alpha.example], packages: {npm: [alpha-pay]}}
  - {slug: beta, name: Beta, domains: [beta.example], packages: {npm: [beta-pay]}}
`
	c, err := catalog.Load(fstest.MapFS{"catalog/pay.yaml": {Data: []byte(file)}}, "catalog")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// A labelled pick is the outcome tool where it competes, and otherwise other.
func TestSlugsOfLabelsAreMapped(t *testing.T) {
	m := slugMap{"alpha inc": "alpha", "my bank": "bank"}
	cat := slugCatalog(t)
	for name, tt := range map[string]struct {
		outcome    pick.Kind
		picked     string
		category   string
		want       pick.Kind
		wantPicked string
	}{
		"a name in another case":      {pick.Tool, " Alpha Inc", "pay", pick.Tool, "alpha"},
		"a slug that is not mapped":   {pick.Tool, "beta", "pay", pick.Tool, "beta"},
		"outside the category":        {pick.Tool, "My Bank", "pay", pick.Other, "bank"},
		"unknown to the catalogue":    {pick.Tool, "gamma", "pay", pick.Other, "gamma"},
		"other there, a rival here":   {pick.Other, "alpha inc", "pay", pick.Tool, "alpha"},
		"of a category that is not":   {pick.Tool, "gamma", "boats", pick.Tool, "gamma"},
		"a tool that is not named":    {pick.Tool, "", "pay", pick.Tool, ""},
		"nothing is mapped to itself": {pick.None, "", "pay", pick.None, ""},
	} {
		cases := []pick.Case{{Category: tt.category, Gold: pick.Gold{Outcome: tt.outcome, Picked: &tt.picked, Shortlist: []string{"ALPHA INC", "x"}}}}
		m.apply(cases, cat)
		g := cases[0].Gold
		if g.Outcome != tt.want || *g.Picked != tt.wantPicked || !slices.Equal(g.Shortlist, []string{"alpha", "x"}) {
			t.Errorf("%s: %s, %s, %v", name, g.Outcome, *g.Picked, g.Shortlist)
		}
	}
}

// FuzzSlugMap reads maps in both forms: one that is accepted has known slugs only, and
// an error names the file.
func FuzzSlugMap(f *testing.F) {
	f.Add("Alpha Inc: alpha\n", false)
	f.Add("Alpha Inc\talpha\n# x\n", true)
	f.Add(`{"a": "beta", "b": "bank"}`, false)
	f.Add("a\talpha\ta\n", true)
	cat := slugCatalog(f)
	f.Fuzz(func(t *testing.T, text string, tsv bool) {
		file := filepath.Join(t.TempDir(), map[bool]string{true: "m.tsv", false: "m.yaml"}[tsv])
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := readSlugMap(file, cat)
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for name, slug := range m {
			if name != strings.ToLower(name) || !slices.Contains([]string{"alpha", "beta", "bank"}, slug) {
				t.Errorf("%q is mapped to %q", name, slug)
			}
		}
		if len(m) == 0 {
			t.Error("an empty map was accepted")
		}
	})
}
