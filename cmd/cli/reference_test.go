package cli

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/server/public/docs"
	"github.com/firstpick/firstpick/server/public/openapi"
	"github.com/firstpick/firstpick/server/store/quota"
)

func referenceEnv() *Env {
	return &Env{Getenv: func(string) string { return "" }, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
}

// TestReferenceHasEveryCommandAndFlag: the reference lists all that the program has, and
// nothing that is hidden.
func TestReferenceHasEveryCommandAndFlag(t *testing.T) {
	text := Reference(referenceEnv())
	n := 0
	var walk func(c *cobra.Command, hidden bool)
	walk = func(c *cobra.Command, hidden bool) {
		hidden = hidden || c.Hidden
		heading := regexp.MustCompile(`(?m)^##+ ` + regexp.QuoteMeta(c.CommandPath()) + `$`)
		if c.HasParent() && heading.MatchString(text) == hidden {
			t.Errorf("%s: listed is %v", c.CommandPath(), !hidden)
		}
		section := text
		if at := heading.FindStringIndex(text); at != nil {
			section, _, _ = strings.Cut(text[at[1]:], "\n<a id=")
		}
		c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if n++; !hidden && !f.Hidden && f.Name != "help" && !strings.Contains(section, "`--"+f.Name+"`") {
				t.Errorf("%s: --%s is not listed", c.CommandPath(), f.Name)
			}
		})
		for _, sub := range c.Commands() {
			walk(sub, hidden)
		}
	}
	walk(newRootCmd(referenceEnv()), false)
	if n < 100 || strings.Contains(text, "supervise") || strings.Contains(text, "%!") {
		t.Errorf("%d flags", n)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") > 4 {
			t.Errorf("a cell breaks: %s", line)
		}
	}
}

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh[^\n]*\n(.*?)^```$")
	anyBlock   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
)

// TestDocumentsNameCommandsThatExist parses every command of the program that stands in
// a document: the command, its flags and its arguments.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	set := documents(t)
	n := 0
	for _, p := range set.Pages {
		for _, m := range shellBlock.FindAllStringSubmatch(string(p.Markdown), -1) {
			for line := range strings.SplitSeq(strings.ReplaceAll(m[1], "\\\n", " "), "\n") {
				words := shellWords(line)
				for len(words) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) {
					words = words[1:]
				}
				if len(words) == 0 || strings.TrimPrefix(words[0], "./") != "firstpick" {
					continue
				}
				n++
				if i := slices.IndexFunc(words, func(w string) bool { return slices.Contains([]string{"&", "|", "||", "&&", ">", "<", "2>", ">>"}, w) }); i > 0 {
					words = words[:i]
				}
				root := newRootCmd(referenceEnv())
				c, rest, err := root.Find(words[1:])
				if err == nil {
					err = c.ParseFlags(rest)
				}
				if err == nil {
					err = c.ValidateArgs(c.Flags().Args())
				}
				if err != nil || c == root {
					t.Errorf("%s: %s: %v", p.Path, line, err)
				}
			}
		}
		for _, m := range regexp.MustCompile("`firstpick ([a-z][^`\n]*)`").FindAllStringSubmatch(anyBlock.ReplaceAllString(string(p.Markdown), ""), -1) {
			words := shellWords(m[1])
			if c, _, err := newRootCmd(referenceEnv()).Find(words); err != nil || !strings.HasSuffix(c.CommandPath(), words[0]) && !strings.Contains(c.CommandPath(), words[0]+" ") && words[0] != "help" {
				t.Errorf("%s names %s: %v", p.Path, m[0], err)
			}
		}
	}
	if n < 25 {
		t.Errorf("only %d commands were found", n)
	}
}

// shellWords splits a line as a shell does, as far as documents need it: quotes, and
// comments.
func shellWords(line string) []string {
	var out []string
	for _, w := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`).FindAllString(line, -1) {
		if strings.HasPrefix(w, "#") {
			break
		}
		out = append(out, strings.Trim(w, `'"`))
	}
	return out
}

func documents(t *testing.T) *docs.Set {
	t.Helper()
	set, err := docs.New(docs.Config{
		BaseURL: "https://firstpick.example.com", OpenAPI: openapi.Source(), CLI: Reference(referenceEnv()), Rules: quota.DefaultRules(), PublicPerMinute: perMinute, MCPPerMinute: 240, Streams: 200, OwnStreams: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// TestEvalsOfTheDocumentsCanBeRun reads the evals, the categories and the settings that
// stand in documents as the program does. Workflows and compose files are of others.
func TestEvalsOfTheDocumentsCanBeRun(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]any{}
	if err := yaml.Unmarshal(serverConfig, &known); err != nil {
		t.Fatal(err)
	}
	evals, settings := 0, 0
	for _, p := range documents(t).Pages {
		for _, m := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(p.Markdown), -1) {
			if strings.Contains(m[1], "\nprompts:") {
				evals++
				e, err := eval.Parse(p.Path, []byte(m[1]))
				if err != nil {
					t.Errorf("%s: %v", p.Path, err)
					continue
				}
				if _, ok := cat.Category(e.Category); !ok && e.Category != "feature-voting" { // of the page's own catalogue
					t.Errorf("%s: no category %s", p.Path, e.Category)
				}
				continue
			}
			if strings.Contains(m[1], "\n---\n") { // own entries of a workspace
				if _, err := cat.Overlay(p.Path, []byte(m[1])); err != nil {
					t.Errorf("%s: %v", p.Path, err)
				}
				continue
			}
			var given map[string]any
			if err := yaml.Unmarshal([]byte(m[1]), &given); err != nil {
				t.Errorf("%s: %v", p.Path, err)
			}
			if given["jobs"] != nil || given["services"] != nil || given["rules"] != nil {
				continue
			}
			if given["tools"] != nil {
				if _, err := catalog.Load(fstest.MapFS{"catalog/x.yaml": {Data: []byte(m[1])}}, "catalog"); err != nil {
					t.Errorf("%s: %v", p.Path, err)
				}
				continue
			}
			settings++
			for key := range given {
				if _, ok := known[key]; !ok {
					t.Errorf("%s: there is no setting %s", p.Path, key)
				}
			}
		}
	}
	if evals < 2 || settings < 1 {
		t.Errorf("%d evals and %d settings were found", evals, settings)
	}
}
