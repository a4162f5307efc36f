package eval_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

func withKeys(keys string) string { return strings.Replace(good, "repeats: 3", "repeats: 3\n"+keys, 1) }

// TestIncumbentIsACondition plans each project with and without the incumbent.
func TestIncumbentIsACondition(t *testing.T) {
	for keys, want := range map[string][]string{
		"templates: [none, nextjs-saas]\nincumbent: paddle":                                {"none", "nextjs-saas", "nextjs-saas:paddle"},
		"templates: [go-service]\nincumbent: {tool: stripe, version: v82.1.0}":             {"go-service", "go-service:stripe:v82.1.0"},
		"templates: [node-cli, rails-app]\nincumbent: {tool: stripe}":                      {"node-cli", "node-cli:stripe", "rails-app", "rails-app:stripe"},
		"templates: [fastapi-service]\nincumbent: {tool: mollie, version: 3.7.0}\nseed: 1": {"fastapi-service", "fastapi-service:mollie:3.7.0"},
	} {
		e, err := eval.Parse("e.yaml", []byte(withKeys(keys)))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(e.Lint(category(t, "payments"))...); err != nil {
			t.Errorf("%q: %v", keys, err)
		}
		if !slices.Equal(e.Templates, want) || e.Trials() != 3*len(want) {
			t.Errorf("%q: templates %v, %d trials, want %v", keys, e.Templates, e.Trials(), want)
		}
		seen := map[string]int{}
		for _, trial := range plan.New(e) {
			seen[trial.Template]++
		}
		for _, name := range want {
			if seen[name] != 3 {
				t.Errorf("%q: %d trials in project %s, want 3", keys, seen[name], name)
			}
		}
	}
}

func TestBadIncumbents(t *testing.T) {
	for name, tt := range map[string]struct{ keys, want string }{
		"nothing to install it in":      {"incumbent: stripe", "e.yaml:4: incumbent: want a template that a tool can be installed in"},
		"only none":                     {"templates: [none]\nincumbent: stripe", "e.yaml:5: incumbent: want a template"},
		"an unknown key":                {"templates: [node-cli]\nincumbent: {slug: stripe}", `unknown key "slug"`},
		"a range":                       {"templates: [node-cli]\nincumbent: {tool: stripe, version: ^17}", `e.yaml:5: version: want an exact version such as 17.0.0 or v1.2.3 (got "^17")`},
		"not a tool of the category":    {"templates: [node-cli]\nincumbent: resend", `e.yaml:5: incumbent: "resend" is not a tool of category payments`},
		"no package in the ecosystem":   {"templates: [rails-app]\nincumbent: creem", "e.yaml:5: incumbent in template rails-app: Creem has no package for rubygems in the catalogue"},
		"no manifest":                   {"templates: [empty]\nincumbent: stripe", "e.yaml:5: incumbent in template empty: no manifest that Stripe can be added to: want package.json"},
		"a Go module without a version": {"templates: [go-service]\nincumbent: stripe", "e.yaml:5: incumbent in template go-service: go.mod: github.com/stripe/stripe-go needs a version such as v1.2.3"},
		"an unknown template":           {"templates: [nothing]\nincumbent: stripe", `unknown project template "nothing"`},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := eval.Parse("e.yaml", []byte(withKeys(tt.keys)))
			if err == nil {
				err = errors.Join(e.Lint(category(t, "payments"))...)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
