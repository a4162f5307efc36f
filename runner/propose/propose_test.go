package propose

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// A product is a case: what is expected, and its folder or site.
type product struct {
	category, name, alias, site string
	files                       []txtar.File
}

func readProduct(t *testing.T, file string) product {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := product{files: a.Files}
	for l := range strings.Lines(string(a.Comment)) {
		k, v, _ := strings.Cut(strings.TrimSpace(l), ": ")
		*map[string]*string{"category": &p.category, "name": &p.name, "alias": &p.alias, "site": &p.site}[k] = v
	}
	p.category = strings.TrimPrefix(p.category, "-")
	return p
}

// documents reads a product as the CLI does.
func (p product) documents(t *testing.T) []Document {
	t.Helper()
	if p.site != "" {
		docs, err := Site(t.Context(), p.site, p.fetch(nil))
		if err != nil {
			t.Fatal(err)
		}
		return docs
	}
	dir := t.TempDir()
	for _, f := range p.files {
		at := filepath.Join(dir, f.Name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, f.Data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return readFolder(t, dir)
}

func readFolder(t *testing.T, dir string) []Document {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	docs, err := Folder(root.FS())
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func (p product) fetch(asked *[]string) Fetcher {
	return func(_ context.Context, address string) (Page, error) {
		if asked != nil {
			*asked = append(*asked, address)
		}
		for _, f := range p.files {
			if strings.TrimSuffix(p.site, "/")+f.Name == address {
				return Page{URL: address, ContentType: "text/html; charset=utf-8", Body: f.Data}, nil
			}
		}
		return Page{}, errors.New("status 404")
	}
}

func builtIn(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func libraryOf(t *testing.T, category string) []eval.Prompt {
	t.Helper()
	library, err := eval.Library(fixtures.Files(), category)
	if err != nil {
		t.Fatal(err)
	}
	return library.Prompts
}

// TestProducts: of each product name and category are found, its entry fits the catalogue,
// and no prompt names a tool.
func TestProducts(t *testing.T) {
	cat := builtIn(t)
	r := NewReader(cat, func(c string) (texts []string) {
		for _, p := range libraryOf(t, c) {
			texts = append(texts, p.Text)
		}
		return texts
	})
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 16 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			want := readProduct(t, file)
			p := r.Find(want.documents(t), "")
			if p.Name != want.name || p.Category != want.category || want.alias != "" && !slices.Contains(p.Aliases, want.alias) {
				t.Errorf("%+v", p)
			}
			p.Read = nil
			all, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, bad := range []string{"PWNED", "evil", "curl", "touch", "ignore", "approve", "owned", "elsewhere", "internal-lint", "npm:stripe", "\u202e"} {
				if strings.Contains(strings.ToLower(string(all)), strings.ToLower(bad)) {
					t.Errorf("%q in %s", bad, all)
				}
			}
			if p.Category != "" {
				checkProposal(t, r, p)
			}
		})
	}
}

// checkProposal adds the product to the catalogue, and lints the prompts with it.
func checkProposal(t *testing.T, r *Reader, p Product) {
	t.Helper()
	data, err := os.ReadFile("../../fixtures/data/catalog/" + p.Category + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	data, err = catalog.Insert(data, r.Member(p), false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.CopyFS(dir, os.DirFS("../../fixtures/data/catalog")), os.WriteFile(filepath.Join(dir, p.Category+".yaml"), data, 0o600)); err != nil {
		// CopyFS keeps modes; the file is replaced
		t.Fatal(err)
	}
	cat, err := catalog.Load(os.DirFS(dir), ".")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := cat.Category(p.Category)
	prompts, _ := Prompts(c, libraryOf(t, p.Category))
	if len(prompts) != wanted {
		t.Errorf("%d prompts", len(prompts))
	}
	errs, _ := (&eval.Eval{Category: p.Category, Prompts: prompts}).LintStrict(c)
	if len(errs) > 0 {
		t.Error(errors.Join(errs...))
	}
	if len(p.Rivals) < 5 || slices.Contains(p.Rivals, p.Slug) {
		t.Error(p.Rivals)
	}
}

// TestFolderStaysInside plants links to files and folders outside, and to files inside that
// are no description.
func TestFolderStaysInside(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for at, text := range map[string]string{
		filepath.Join(outside, "README.md"): "# Outsider\n\nAccept payments.", filepath.Join(dir, "go.mod"): "module example.org/inside",
		filepath.Join(dir, ".env"): "SECRET=x", filepath.Join(dir, "big.md"): "not read",
	} {
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"README.md": filepath.Join(outside, "README.md"), "docs": outside, "llms.txt": ".env"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	var names []string
	for _, d := range readFolder(t, dir) {
		names = append(names, d.Name)
	}
	if !slices.Equal(names, []string{"go.mod"}) {
		t.Error(names)
	}
}

// TestSite: at most 8 requests, none to another site, and a redirect away is an error.
func TestSite(t *testing.T) {
	var asked []string
	p := product{site: "https://acme.example/"}
	home := `<title>Acme</title><a href="https://other.example/docs">x</a>`
	for _, c := range strings.Split("abcdefghijkl", "") {
		home += `<a href="/compare/acme-vs-` + c + `">x</a>`
	}
	p.files = []txtar.File{{Name: "/", Data: []byte(home)}}
	if docs, err := Site(t.Context(), p.site, p.fetch(&asked)); err != nil || len(docs) != 1 || len(asked) != MaxPages {
		t.Error(len(docs), asked, err)
	}
	for _, a := range asked {
		if !strings.HasPrefix(a, "https://acme.example/") {
			t.Error(a)
		}
	}
	away := func(context.Context, string) (Page, error) { return Page{URL: "https://other.example/login"}, nil }
	if _, err := Site(t.Context(), p.site, away); err == nil || !strings.Contains(err.Error(), "another site") {
		t.Error(err)
	}
	for _, address := range []string{"", "acme.example", "file:///etc/passwd", "https://user:secret@acme.example/", "https://"} {
		if _, err := Site(t.Context(), address, away); err == nil || strings.Contains(err.Error(), "another site") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestValidName(t *testing.T) {
	for text, want := range map[string]string{
		"Acme": "Acme", " Lemon  Tree ": "Lemon Tree", "Node.js": "Node.js", "東京ペイ": "東京ペイ", "Acme\u202eevil\x1b[2J": "", "a b c d e": "",
		"<b>": "", "../../etc": "", "https://x": "", strings.Repeat("x", 81): "", "...": "", "C++ & Co": "C++ & Co",
	} {
		if got := validName(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestAgents(t *testing.T) {
	keys := map[string]string{"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": " ", "OPENAI_API_KEY": "k"}
	got := Agents(func(n string) string { return keys[n] })
	if !slices.Equal(got, []string{"openai-responses:gpt-5.1", "anthropic:claude-sonnet-4-5"}) {
		t.Error(got)
	}
}

// TestTermsHaveCategories: every category of the built-in catalogue is described, and no
// term names one of its tools.
func TestTermsHaveCategories(t *testing.T) {
	cat := builtIn(t)
	listed := map[string]bool{}
	category := ""
	for l := range strings.Lines(termsFile) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(l), "["); ok {
			category = strings.TrimSuffix(name, "]")
			listed[category] = true
			if _, ok := cat.Category(category); !ok {
				t.Errorf("%s: no such category", category)
			}
		}
	}
	for _, c := range cat.Categories {
		if !listed[c.Slug] {
			t.Errorf("%s has no terms", c.Slug)
		}
	}
	if len(slices.Collect(maps.Keys(listed))) < 40 {
		t.Error(listed)
	}
}

// FuzzFind: any text gives valid, bounded names and never a panic.
func FuzzFind(f *testing.F) {
	f.Add("README.md", "# Acme\n\nAccept payments")
	f.Add("package.json", `{"name":"acme"}`)
	f.Add("llms.txt", "# x\n\nformerly known as Y")
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		f.Fatal(err)
	}
	r := NewReader(c, nil)
	f.Fuzz(func(t *testing.T, name, text string) {
		p := r.Find([]Document{{Name: name, Text: []byte(text)}}, "")
		for _, n := range append([]string{p.Name}, p.Aliases...) {
			if n != "" && p.Known == "" && validName(n) != n {
				t.Errorf("%q", n)
			}
		}
		if p.Category != "" && p.Slug != "" && p.Known == "" {
			if _, err := r.Member(p).Line(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestPromptsWithoutBrands: a built-in prompt that holds the name of the product is replaced,
// and so is one with the name of a rival.
func TestPromptsWithoutBrands(t *testing.T) {
	cat, err := builtIn(t).Overlay("own", []byte("category: {slug: payments}\ntools: [{slug: kiosk-till, name: Kiosk Till}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := cat.Category("payments")
	library := libraryOf(t, "payments")
	library[3].Text = "Set up Kiosk Till for the cafe of our museum."
	library[7].Text = "Move the shop of our museum away from Stripe before summer."
	prompts, replaced := Prompts(c, library)
	if len(prompts) != wanted || !slices.Equal(replaced, []string{library[3].ID, library[7].ID}) {
		t.Errorf("%d prompts, replaced %q", len(prompts), replaced)
	}
	for _, p := range prompts {
		if strings.Contains(p.Text, "Kiosk") || strings.Contains(p.Text, "Stripe") {
			t.Error(p.Text)
		}
	}
}
