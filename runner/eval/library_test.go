package eval_test

import (
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// promptsOfCategory is how many prompts each category ships.
const promptsOfCategory = 20

// TestLibrary checks the built-in prompts: each category of the catalogue has 20, which
// are 20 tasks, unbranded, distinct, and free of leading words.
func TestLibrary(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(fixtures.Files(), "prompts/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if slug := strings.TrimSuffix(strings.TrimPrefix(file, "prompts/"), ".yaml"); !known(c, slug) {
			t.Errorf("%s: the catalogue has no category %s", file, slug)
		}
	}
	families, texts := map[string]bool{}, map[string]string{}
	for _, category := range c.Categories {
		e, err := eval.Library(fixtures.Files(), category.Slug)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(e.Prompts) != promptsOfCategory {
			t.Errorf("%s has %d prompts, want %d", category.Slug, len(e.Prompts), promptsOfCategory)
		}
		errs, warnings := e.LintStrict(category)
		if err := errors.Join(append(errs, warnings...)...); err != nil {
			t.Error(err)
		}
		for _, p := range e.Prompts {
			families[category.Slug+"/"+p.Family] = true
			if p.ID != category.Slug+"-"+p.Family {
				t.Errorf("prompt %s of %s: want the id %s-%s", p.ID, category.Slug, category.Slug, p.Family)
			}
			if earlier := texts[p.TextKey()]; earlier != "" {
				t.Errorf("prompts %s and %s have the same text", earlier, p.ID)
			}
			texts[p.TextKey()] = p.ID
			if len(p.Text) < 60 || strings.ContainsAny(p.Text, "\n\t") || !regexp.MustCompile(`[.?!]$`).MatchString(p.Text) {
				t.Errorf("prompt %s: want one paragraph of at least 60 characters that ends a sentence, got %q", p.ID, p.Text)
			}
		}
	}
	if want := promptsOfCategory * len(c.Categories); len(families) != want {
		t.Errorf("%d families, want %d", len(families), want)
	}
}

func known(c *catalog.Catalog, slug string) bool {
	_, ok := c.Category(slug)
	return ok
}

func TestLibraryErrors(t *testing.T) {
	const prompt = "  - {id: a, family: a, tags: {intent: build, persona: owner}, text: Take cards.}\n"
	for name, tt := range map[string]struct{ text, want string }{
		"another category": {"category: pdf\nprompts:\n" + prompt, `prompts/payments.yaml:1: category: want "payments", as the file is named`},
		"no family":        {"category: payments\nprompts:\n" + strings.Replace(prompt, "family: a, ", "", 1), `prompts/payments.yaml:3: prompt "a": want family, and the tags intent and persona`},
		"an id twice":      {"category: payments\nprompts:\n" + prompt + prompt, `prompts/payments.yaml:4: duplicate prompt id "a"`},
		"an unknown key":   {"category: payments\nagents: []\nprompts:\n" + prompt, `prompts/payments.yaml:2: unknown key "agents"`},
		"an empty file":    {"", "prompts/payments.yaml: the file is empty"},
	} {
		_, err := eval.Library(fstest.MapFS{"prompts/payments.yaml": {Data: []byte(tt.text)}}, "payments")
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	for _, category := range []string{"teapots", "../evals/twist-database", ""} {
		if _, err := eval.Library(fixtures.Files(), category); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("category %q: %v", category, err)
		}
	}
}
