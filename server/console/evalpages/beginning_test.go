package evalpages

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// TestBuiltInPrompts: an eval begins with the 20 built-in prompts of its category; a
// category without any has prompts that pass the checks too.
func TestBuiltInPrompts(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	own := *cat.Categories[0]
	own.Slug = "own"
	for c, want := range map[*catalog.Category]int{cat.Categories[0]: 20, &own: 3} {
		e, err := eval.Parse(c.Slug, []byte(Beginning(c)))
		if err != nil || len(e.Prompts) != want {
			t.Fatalf("%s: %v, want %d prompts", c.Slug, err, want)
		}
		for _, err := range e.Lint(c) {
			t.Error(err)
		}
	}
}

// Every beginning is an eval that can be stored as it is: it parses, and no prompt
// names a tool.
func TestBeginningsAreEvals(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cat.Categories {
		e, err := eval.Parse(c.Slug, []byte(Beginning(c)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, err := range e.Lint(c) {
			t.Error(err)
		}
		uncommented := strings.ReplaceAll(Beginning(c), "  # - {name", "  - {name")
		if all, err := eval.Parse(c.Slug, []byte(uncommented)); err != nil || len(all.Agents) != 4 {
			t.Errorf("%s with the agents that are commented out: %v", c.Slug, err)
		}
	}
}
