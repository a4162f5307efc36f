package workspace_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/fixtures/templates"
	"github.com/firstpick/firstpick/runner/cliagent/workspace"
	"github.com/firstpick/firstpick/runner/transcript"
)

func TestInstalled(t *testing.T) {
	s := workspace.Source{Load: templates.Load}
	for template, want := range map[string][]transcript.Manifest{
		"none": nil, "empty": nil, "missing": nil,
		"fastapi-service": {{Path: "pyproject.toml", Deps: []string{"fastapi[standard]>=0.115,<1"}}},
	} {
		if d := cmp.Diff(want, s.Installed(template)); d != "" {
			t.Errorf("%s (-want +got):\n%s", template, d)
		}
	}
}
