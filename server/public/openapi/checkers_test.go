package openapi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// modules returns the folder node_modules of the test libraries, or skips; where
// FIRSTPICK_REQUIRE names npm, a machine without them fails.
func modules(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("FIRSTPICK_NPM")
	if dir == "" {
		dir = filepath.Join("..", "..", "servertest", "npm")
	}
	dir, err := filepath.Abs(filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join(dir, "@stoplight", "spectral-cli"))
	}
	if err == nil {
		return dir
	}
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), "npm") {
		t.Fatalf("FIRSTPICK_REQUIRE names npm: %v", err)
	}
	t.Skipf("%v; run npm ci in server/servertest/npm", err)
	return ""
}

// A checker is a linter that others wrote; each finds what others pass over.
type checker struct {
	script string
	args   []string
	clean  string // what it says when it has nothing to say
}

func checkers(t *testing.T) map[string]checker {
	config := func(name string) string {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	return map[string]checker{
		"redocly":  {"@redocly/cli/bin/cli.js", []string{"lint", "--config", config("redocly.yaml"), "--format", "json"}, `"warnings": 0,`},
		"spectral": {"@stoplight/spectral-cli/dist/index.js", []string{"lint", "--ruleset", config("spectral.yaml"), "--fail-severity", "hint"}, "No results"},
		"examples": {"openapi-examples-validator/dist/cli.js", nil, "No errors found"},
	}
}

func (c checker) run(t *testing.T, modules, file string) (said string, ok bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", slices.Concat([]string{filepath.Join(modules, filepath.FromSlash(c.script))}, c.args, []string{file})...)
	cmd.Dir = t.TempDir() // without anybody's configuration
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil && strings.Contains(string(out), c.clean)
}

// TestCheckersOfOthersFindNothing has three of them read the description, and a copy of
// it in which something is wrong.
func TestCheckersOfOthersFindNothing(t *testing.T) {
	npm := modules(t)
	for name, c := range checkers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "openapi.yaml")
			for _, copied := range []struct{ what, from, to string }{
				{"as it is", "", ""},
				{"an example that is wrong", "asOf: \"2024-11-29T19:14:47Z\"\n", "asOf: 2024\n"},
			} {
				text := bytes.Replace(Source(), []byte(copied.from), []byte(copied.to), 1)
				if copied.from != "" && bytes.Equal(text, Source()) {
					t.Errorf("%s: nothing is changed", copied.what)
				}
				if err := os.WriteFile(file, text, 0o600); err != nil {
					t.Fatal(err)
				}
				if said, ok := c.run(t, npm, file); ok != (copied.from == "") {
					t.Errorf("%s: fine is %v\n%s", copied.what, ok, said)
				}
			}
		})
	}
}

// TestCodesAreThoseOfTheTable holds the codes in the description to the one table.
func TestCodesAreThoseOfTheTable(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						Error struct {
							Codes []string `yaml:"x-extensible-enum"`
						}
					}
				} `yaml:"Error"`
			}
		}
	}
	if err := yaml.Unmarshal(Source(), &doc); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, c := range apierr.Codes() {
		want = append(want, c.Code)
	}
	if got := doc.Components.Schemas.Error.Properties.Error.Codes; !slices.Equal(got, want) {
		t.Errorf("the description has the codes %v, the table %v", got, want)
	}
}
