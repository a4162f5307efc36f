package eval_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/project"
)

var commit = strings.Repeat("a1", 20)

func TestOwnTemplates(t *testing.T) {
	e, err := eval.Parse("e.yaml", []byte(withKeys("templates: [none, {name: shop, dir: shop}, {name: api, git: 'https://git.example/api', ref: "+commit+"}]\nincumbent: paddle")))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"none", "shop", "shop:paddle", "api", "api:paddle"}, e.Templates); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]project.Source{{Name: "shop", Dir: "shop"}, {Name: "api", Git: "https://git.example/api", Ref: commit}}, e.Sources); d != "" {
		t.Error(d)
	}
	if err := errors.Join(e.Lint(category(t, "payments"))...); err != nil {
		t.Error(err)
	}
	file := func(name, text string) fs.FS { return fstest.MapFS{name: {Data: []byte(text)}} }
	for name, tt := range map[string]struct {
		files fs.FS
		want  string
	}{
		"unbranded":        {file("package.json", `{"dependencies": {"next": "15"}}`), ""},
		"the incumbent":    {file("package.json", `{"dependencies": {"@paddle/paddle-js": "1"}}`), ""},
		"a dependency":     {file("package.json", `{"dependencies": {"braintree": "1"}}`), "e.yaml:4: template shop names Braintree (package.json"},
		"a name":           {fstest.MapFS{"package.json": {Data: []byte("{}")}, "README.md": {Data: []byte("Pays with Adyen.")}}, "template shop names Adyen (README.md: Adyen)"},
		"no manifest":      {file("README.md", "A shop."), "incumbent in template shop: no manifest that Paddle can be added to"},
		"a wrong manifest": {file("Gemfile", "gem 'rails'"), "incumbent in template shop: Paddle has no package for rubygems"},
	} {
		t.Run(name, func(t *testing.T) {
			err := errors.Join(e.LintProject(category(t, "payments"), "shop", tt.files)...)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestBadOwnTemplates(t *testing.T) {
	for name, tt := range map[string]struct{ item, want string }{
		"a built-in name":  {"{name: node-cli, dir: shop}", `e.yaml:4: template "node-cli" is built in`},
		"no name":          {"{dir: shop}", "name is missing"},
		"a bad name":       {"{name: 'a:b', dir: shop}", `template "a:b" is not a valid name`},
		"twice":            {"{name: shop, dir: a}, {name: shop, dir: b}", `duplicate template "shop"`},
		"outside":          {"{name: shop, dir: /etc}", "e.yaml:4: template shop: dir: want a folder below the current one"},
		"no commit":        {"{name: shop, git: shop, ref: main}", "e.yaml:4: template shop: ref: want the full hash of a commit"},
		"an unknown key":   {"{name: shop, path: shop}", `unknown key "path"`},
		"a digest of ours": {"{name: shop, dir: shop, digest: x}", "e.yaml:4: template shop: digest: want 64"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := eval.Parse("e.yaml", []byte(withKeys("templates: ["+tt.item+"]")))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestUnknownTemplate: a misspelt template is an error before a run, where an agent works in it.
func TestUnknownTemplate(t *testing.T) {
	program := strings.Replace(good, "kind: simulated, truth: {stripe: 1}", "kind: claude-code, model: m", 1)
	for in, want := range map[string]string{
		strings.Replace(program, "repeats: 3", "templates: [none, nextjs-sas, nextjs-sas:stripe]", 1): `e.yaml:3: template "nextjs-sas" is unknown; did you mean nextjs-saas?`,
		strings.Replace(program, "repeats: 3", "templates: [none, nextjs-saas]", 1):                   "",
		strings.Replace(program, "repeats: 3", "templates: [{name: shop, dir: a}]", 1):                "",
		strings.Replace(good, "repeats: 3", "templates: [nextjs-sas]", 1):                             "",
	} {
		e, err := eval.Parse("e.yaml", []byte(in))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := errors.Join(e.Lint(category(t, "payments"))...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
