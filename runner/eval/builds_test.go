package eval_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/eval"
)

const program = "  - {name: c, kind: claude-code, model: opus}\n"

func TestBuildsOfPrograms(t *testing.T) {
	for keys, want := range map[string]*eval.Builds{
		"seed: 1":          nil,
		"builds: npm test": {Command: "npm test"},
		"builds: {command: npm test, timeout_s: 60}": {Command: "npm test", TimeoutS: 60},
	} {
		e, err := eval.Parse("e.yaml", []byte(withKeys(keys)+program))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]*eval.Builds{want, want}, []*eval.Builds{e.Builds, e.Agents[1].CLI.Builds}); d != "" || e.Agents[0].CLI != nil {
			t.Errorf("%s (-want +got):\n%s", keys, d)
		}
		errs, warnings := e.LintStrict(category(t, "payments"))
		if errors.Join(errs...) != nil || (len(warnings) > 0) != (want != nil) {
			t.Errorf("%s: errors %v, warnings %v", keys, errs, warnings)
		}
	}
}

func TestBadBuilds(t *testing.T) {
	for name, tt := range map[string]struct{ keys, agent, want string }{
		"empty":       {`builds: ""`, program, "e.yaml:4: builds is empty: want a command"},
		"no command":  {"builds: {timeout_s: 1}", program, "command is missing"},
		"another key": {"builds: {run: make}", program, `unknown key "run"`},
		"too long":    {"builds: " + strings.Repeat("x", 5000), program, "e.yaml:4: builds: want a command of at most 4096 bytes without zero bytes (got 5000 bytes)"},
		"no program":  {"builds: make", "", "e.yaml:4: builds: no agent works in a folder; add an agent that is a program, such as kind claude-code, or remove builds"},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := eval.Parse("e.yaml", []byte(withKeys(tt.keys)+tt.agent))
			if err == nil {
				err = errors.Join(e.Lint(category(t, "payments"))...)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
