//go:build unix

package readme

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"github.com/firstpick/firstpick/cmd/cli"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// TestBlocksParse reads every block of every page and of the README with what will read it:
// commands with the program's flags, evals, catalogues and configuration with its parsers.
func TestBlocksParse(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("README.md", func(t *testing.T) { checkBlocks(t, string(readme)) })
	eachPage(t, func(t *testing.T, _, page string) {
		checkBlocks(t, strings.NewReplacer("{{.Base}}", "http://"+address, `{{"{{"}}`, "$(", `{{"}}"}}`, ")").Replace(page))
	})
}

func checkBlocks(t *testing.T, page string) {
	t.Helper()
	for _, b := range blocks(page) {
		if strings.Contains(b.text, "{{") { // filled by the server, and tested there
			continue
		}
		switch {
		case strings.HasSuffix(b.file(), ".jsonl"):
			for line := range strings.SplitSeq(strings.TrimSpace(b.text), "\n") {
				if !json.Valid([]byte(line)) {
					t.Errorf("line %d: invalid JSON: %s", b.line, line)
				}
			}
		case b.language == "sh":
			checkCommands(t, b.line, b.text)
		case b.language == "json":
			if !json.Valid([]byte(b.text)) {
				t.Errorf("line %d: invalid JSON", b.line)
			}
		case b.language == "yaml":
			checkYAML(t, b)
		}
	}
}

// image is the container image, whose arguments are the program's.
const image = "ghcr.io/firstpick/firstpick"

// checkCommands parses the calls of firstpick in a script with the program's flags.
func checkCommands(t *testing.T, line int, script string) {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		t.Errorf("line %d: %v", line, err)
		return
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var words []string
		for _, w := range call.Args {
			words = append(words, literal(w))
		}
		at := slices.Index(words, image)
		switch {
		case len(words) > 0 && words[0] == "firstpick":
			checkCommand(t, line, words[1:])
		case len(words) > 2 && words[0] == "go" && words[1] == "run":
			checkCommand(t, line, words[3:])
		case len(words) > 3 && words[0] == "docker" && words[1] == "exec":
			checkCommand(t, line, words[4:])
		case at >= 0:
			checkCommand(t, line, words[at+1:])
		}
		return true
	})
}

// literal returns a word with "1" for what only a shell knows: it passes as a name and a number.
func literal(w *syntax.Word) string {
	var out strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			out.WriteString(strings.ReplaceAll(p.Value, "\\", ""))
		case *syntax.SglQuoted:
			out.WriteString(p.Value)
		case *syntax.DblQuoted:
			out.WriteString(literal(&syntax.Word{Parts: p.Parts}))
		default:
			out.WriteString("1")
		}
	}
	return out.String()
}

// checkCommand asks the program for the help of a command with its flags: it parses them, and
// the usage that it prints names the command that it found.
func checkCommand(t *testing.T, line int, words []string) {
	t.Helper()
	shown := "firstpick " + strings.Join(words, " ")
	var out bytes.Buffer
	env := cli.OS()
	env.Args, env.Stdout, env.Stderr = append(append([]string{}, words...), "--help"), &out, &out
	env.Getenv, env.Environ = func(string) string { return "" }, nil
	if code := cli.Main(env); code != 0 {
		t.Errorf("line %d: %s: %s", line, shown, out.String())
		return
	}
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(name, "--") && !strings.Contains(out.String(), name+" ") && !strings.Contains(globals(), name+" ") {
			t.Errorf("line %d: %s: %s is hidden or deprecated", line, shown, name)
		}
	}
	_, usage, _ := strings.Cut(out.String(), "Usage:\n  ")
	usage, _, _ = strings.Cut(usage, "\n")
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") && !strings.HasPrefix(usage, "firstpick "+words[0]) && words[0] != "help" {
		t.Errorf("line %d: %s: no such command", line, shown)
	}
	if strings.Contains(usage, "[command]") && len(words) > 1 {
		t.Errorf("line %d: %s: no such subcommand", line, shown)
	}
}

// globals are the flags of all commands.
func globals() string { return " --catalog --config --data --log-format --log-level " }

func checkYAML(t *testing.T, b block) {
	t.Helper()
	var keys map[string]any
	if err := yaml.Unmarshal([]byte(b.text), &keys); err != nil {
		t.Errorf("line %d: %v", b.line, err)
		return
	}
	has := func(name string) bool { _, ok := keys[name]; return ok }
	switch {
	case has("prompts") || has("agents"):
		if _, err := eval.Parse("eval.yaml", []byte(b.text)); err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
	case has("category") && strings.Contains(b.text, "\n---\n"): // a workspace's own catalogue
		base, err := catalog.Load(fixtures.Files(), "catalog")
		if err == nil {
			_, err = base.Overlay("own.yaml", []byte(b.text))
		}
		if err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
	case has("tools") || has("category"):
		if _, err := catalog.Load(fstest.MapFS{"category.yaml": {Data: []byte(b.text)}}, "."); err != nil {
			t.Errorf("line %d: %v", b.line, err)
		}
	case has("jobs"):
		checkWorkflow(t, b.line, keys["jobs"])
	case has("services"), has("rules"), strings.Contains(b.mark, "parse"):
	default:
		checkConfiguration(t, b)
	}
}

// checkConfiguration lets the program read a configuration.
func checkConfiguration(t *testing.T, b block) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "firstpick.yaml")
	if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := cli.OS()
	env.Args, env.Stdout, env.Stderr = []string{"runs", "--json", "--config", file, "--data", t.TempDir()}, &out, &out
	env.Getenv, env.Environ = func(string) string { return "" }, nil
	if cli.Main(env); !strings.Contains(out.String(), "no runs in") { // it read the configuration, and found nothing
		t.Errorf("line %d: %s", b.line, out.String())
	}
}

// checkWorkflow parses the commands of a workflow's steps.
func checkWorkflow(t *testing.T, line int, node any) {
	t.Helper()
	switch v := node.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && key == "run" {
				checkCommands(t, line, text)
			}
			checkWorkflow(t, line, value)
		}
	case []any:
		for _, value := range v {
			checkWorkflow(t, line, value)
		}
	}
}
