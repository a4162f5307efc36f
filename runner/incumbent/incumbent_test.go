package incumbent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/incumbent"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func source(t *testing.T) (workspace.Source, *catalog.Catalog) {
	t.Helper()
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return workspace.Source{Load: incumbent.Loader(templates.Load, cat)}, cat
}

// TestProjectWithAnIncumbent makes a work folder with a rival in it: the rival is in the
// manifest and in the description, and no part of what the agent added.
func TestProjectWithAnIncumbent(t *testing.T) {
	s, cat := source(t)
	dir := filepath.Join(t.TempDir(), "app")
	tree, err := s.Prepare(t.Context(), "nextjs-saas:paddle", dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil || !strings.Contains(string(text), "    \"@paddle/paddle-js\": \"*\",\n    \"next\": \"15.5.4\",\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if diff, _, err := tree.Diff(context.WithoutCancel(t.Context())); err != nil || len(diff) > 0 {
		t.Errorf("an untouched project differs: %v %v", diff, err)
	}
	if d := s.Describe("nextjs-saas:paddle"); !strings.Contains(d, "@paddle/paddle-js") {
		t.Errorf("the description lacks the incumbent:\n%s", d)
	}
	with, err := s.Hash("nextjs-saas:paddle")
	without, err2 := s.Hash("nextjs-saas")
	if err != nil || err2 != nil || with == without {
		t.Errorf("digests %q and %q, %v %v", with, without, err, err2)
	}
	category, _ := cat.Category("payments")
	r := pick.New(category, cat.Version).Extract(transcript.Transcript{FinalText: "I'd go with Paddle.", Installed: s.Installed("nextjs-saas:paddle")})
	if !r.Has(pick.FollowedIncumbent) {
		t.Errorf("details %v", r.Details)
	}
}

func TestConditionsThatDoNotExist(t *testing.T) {
	s, _ := source(t)
	for name, want := range map[string]string{
		"nextjs-saas:nobody": `project nextjs-saas:nobody: the catalogue has no tool "nobody"`,
		"nobody:paddle":      `unknown project template "nobody"`,
		"rails-app:creem":    "project rails-app:creem: Creem has no package for rubygems in the catalogue",
	} {
		if _, err := s.Load(name); err == nil || err.Error() != want && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string]incumbent.Tool{
		"none": {}, "node-cli:stripe": {Slug: "stripe"}, "go-service:stripe:v82.1.0": {Slug: "stripe", Version: "v82.1.0"},
	} {
		template, got := incumbent.Split(name)
		if d := cmp.Diff(want, got); d != "" || got.Slug != "" && got.Condition(template) != name {
			t.Errorf("%s: %s of %s", name, d, template)
		}
	}
}
