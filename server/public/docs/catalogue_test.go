package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// TestCataloguePage compares the tables of /docs/catalogue with the built-in catalogue.
// FIRSTPICK_UPDATE=1 rewrites them.
func TestCataloguePage(t *testing.T) {
	const name, first = "pages/catalogue.md", "## Categories\n"
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(data), first)
	want := text + first + tablesOf(c)
	if os.Getenv("FIRSTPICK_UPDATE") == "1" {
		if err := os.WriteFile(name, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Errorf("%s (FIRSTPICK_UPDATE=1 rewrites its tables):\n%s", name, diff)
	}
}

func tablesOf(c *catalog.Catalog) string {
	var b strings.Builder
	n := c.Counts()
	fmt.Fprintf(&b, "\n%d categories, %d tools.\n\n| Category | Slug | Tree | Tools | Study |\n| --- | --- | --- | --- | --- |\n", n.Categories, n.Tools)
	for _, cat := range c.Categories {
		study := ""
		if cat.Study != "" {
			study = "`" + cat.Study + "`"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %d | %s |\n", cat.Name, cat.Slug, cat.Domain, len(cat.Entries), study)
	}
	b.WriteString("\n## Packages\n\n| Ecosystem | Packages of tools |\n| --- | --- |\n")
	for _, eco := range catalog.Ecosystems() {
		fmt.Fprintf(&b, "| `%s` | %d |\n", eco, n.Packages[eco])
	}
	return b.String()
}
