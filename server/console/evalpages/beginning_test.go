package evalpages

import (
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
