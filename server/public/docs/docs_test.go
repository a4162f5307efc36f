package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/docs"
	"github.com/firstpick/firstpick/server/public/docs/docstest"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/store/quota"
)

func page(t *testing.T, set *docs.Set, path string) string {
	t.Helper()
	p := set.Page(path)
	if p == nil {
		t.Fatalf("there is no %s", path)
	}
	return string(p.Markdown)
}

func TestEveryPageHasATitleOfItsOwn(t *testing.T) {
	set := docstest.New(t)
	titles, used := map[string]string{}, map[string]bool{}
	for _, p := range set.Pages {
		first, _, _ := strings.Cut(string(p.Markdown), "\n")
		if !strings.HasPrefix(first, "# ") || p.Description == "" || !strings.HasSuffix(p.Description, ".") {
			t.Errorf("%s begins with %q, and is described by %q", p.Path, first, p.Description)
		}
		if other := titles[p.Title]; other != "" {
			t.Errorf("%s and %s are both called %s", p.Path, other, p.Title)
		}
		titles[p.Title] = p.Path
		for _, left := range []string{"<no value>", "{{", "firstpick.example/", "%!"} {
			if strings.Contains(strings.ReplaceAll(string(p.Markdown), "${{", ""), left) && // an expression of a workflow
				!strings.Contains(p.Path, "changelog") && !strings.HasPrefix(p.Path, "/setup") {
				t.Errorf("%s holds %q", p.Path, left)
			}
		}
		ids := map[string]bool{}
		for _, m := range regexp.MustCompile(`\bid="([^"]*)"`).FindAllStringSubmatch(string(p.HTML), -1) {
			if ids[m[1]] || m[1] == "" {
				t.Errorf("%s has the id %q twice", p.Path, m[1])
			}
			ids[m[1]] = true
		}
		if n := strings.Count(string(p.HTML), "<h1>"); n != 1 {
			t.Errorf("%s has %d h1", p.Path, n)
		}
		used[path.Base(p.Path)+".md"] = true
	}
	files, err := filepath.Glob("pages/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); !used[name] && name != "index.md" {
			t.Errorf("no page is made of %s", f)
		}
	}
}

func TestBlocksAreServedWithoutTheMarksOfTests(t *testing.T) {
	for _, p := range docstest.New(t).Pages {
		if found := regexp.MustCompile("(?m)^ *```[^`\n]* [^`\n]*$").Find(p.Markdown); found != nil {
			t.Errorf("%s holds %q", p.Path, found)
		}
	}
}

func TestAnchorsThatOthersLeadTo(t *testing.T) {
	set := docstest.New(t)
	for path, ids := range map[string][]string{
		"/docs/methodology":    {"pick-rate", "shortlist-rate", "default-rate", "directional", "single_prompt", "synthetic", "incomplete"},
		"/docs/errors":         {"rate_limited", "tool_not_found", "plan_required"},
		"/docs/api/read":       {"getReport", "getLeaderboard", "type-Report"},
		"/docs/attribution":    {"evidence", "models"},
		"/docs/identification": {"lists"},
		"/setup":               {"key", "prove"},
	} {
		for _, id := range ids {
			if !strings.Contains(string(set.Page(path).HTML), `id="`+id+`"`) {
				t.Errorf("%s has no anchor %s", path, id)
			}
		}
	}
}

// The page on identification shows how old its lists and tables are.
func TestIdentificationShowsTheDatesOfItsLists(t *testing.T) {
	text := page(t, docstest.New(t), "/docs/identification")
	shipped, err := ranges.Open("")
	if err != nil {
		t.Fatal(err)
	}
	asOf := shipped.AsOf()
	for _, s := range ranges.Sources() {
		want := "not included"
		if at, ok := asOf[s.List]; ok {
			want = "of " + at.Format("2006-01-02")
		}
		if !regexp.MustCompile("(?m)^\\| \\[`" + regexp.QuoteMeta(s.List) + "`\\]\\(" + regexp.QuoteMeta(s.URL) + "\\) \\| .+ \\| " + want).MatchString(text) {
			t.Errorf("%s is not listed with its date (%s)", s.List, want)
		}
	}
	for _, s := range agentid.TableSources() {
		if len(s.Date) != 10 || !strings.Contains(text, "| `"+s.Table+"` | "+s.Source+" | "+s.Version+" | "+s.Date+" |") {
			t.Errorf("%s is not listed with its date %q", s.Table, s.Date)
		}
	}
	for _, part := range []string{"cdn_address", "private_address", "operator_list", "outside_list", "old_list", "https://www.kernel.sh", "make agents"} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not explained", part)
		}
	}
}

func TestPagesSayWhatTheProgramKnows(t *testing.T) {
	set := docstest.New(t)
	limits := page(t, set, "/docs/limits")
	for name, r := range quota.DefaultRules() {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(name) + "` \\| ([^|]+) \\| ([^|]+) \\|$").FindStringSubmatch(limits)
		if row == nil {
			t.Errorf("the limit %s is not listed, or nothing says what it counts", name)
		} else if digits := regexp.MustCompile(`\D`).ReplaceAllString(strings.Split(row[1], " ")[0], ""); digits != regexp.MustCompile(`\D`).ReplaceAllString(asJSON(t, r.Quota), "") {
			t.Errorf("%s says %s, and is %v", name, row[1], r)
		}
	}
	errors := page(t, set, "/docs/errors")
	for _, c := range apierr.Codes() {
		if !strings.Contains(errors, "</a>`"+c.Code+"` | "+asJSON(t, c.Status)+" | "+c.Text+" |") || !strings.Contains(errors, "[`"+c.Code+"`](#"+c.Code+")") {
			t.Errorf("%s is not in both tables", c.Code)
		}
	}
	mcp := page(t, set, "/docs/mcp")
	for _, tool := range tools.Tools() {
		if !strings.Contains(mcp, tool.Description) || !strings.Contains(mcp, "| `"+tool.Name+"` |") {
			t.Errorf("%s is not described", tool.Name)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		row := regexp.MustCompile("(?m)^\\| `" + tool.Name + "` \\| ([^|]+) \\|").FindStringSubmatch(mcp)
		if n := strings.Count(row[1], "`") / 2; n != len(schema.Properties) {
			t.Errorf("%s has the arguments %s of %d", tool.Name, row[1], len(schema.Properties))
		}
	}
	for _, tool := range tools.Own() {
		if !strings.Contains(mcp, tool.Description) || !strings.Contains(mcp, "| `"+tool.Name+"` | `"+strings.Join(tool.Arguments(), "`, `")+"` |") {
			t.Errorf("%s is not described", tool.Name)
		}
	}
	if !strings.Contains(page(t, set, "/docs/authentication"), "| access token | 1 hour |") || !strings.Contains(page(t, set, "/docs/authentication"), "| a code | 10 minutes |") {
		t.Error("lifetimes are not those of the program")
	}
	if without, err := docs.New(docs.Config{OpenAPI: []byte("tags: [{name: a, description: A.}]\npaths: {}"), Rules: quota.DefaultRules(), BaseURL: "https://x.example"}); err != nil || !strings.Contains(page(t, without, "/docs/cli"), "`firstpick help`") {
		t.Errorf("without the command line: %v", err)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestChangelogIsTheProgramsOwn(t *testing.T) {
	root, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	if copied, err := docs.Changelog(); err != nil || copied != string(root) {
		t.Errorf("server/public/docs/pages/changelog.md is not CHANGELOG.md: copy it (%v)", err)
	}
}

func TestDescriptionsThatCannotBeRead(t *testing.T) {
	for name, source := range map[string]string{
		"no YAML": "a: [", "nothing": "", "an operation without a tag of the list": "tags: []\npaths: {/x: {get: {tags: [y]}}}",
		"an operation without tags": "tags: []\npaths: {/x: {get: {}}}",
	} {
		if _, err := docs.New(docs.Config{OpenAPI: []byte(source), Rules: quota.DefaultRules()}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := docs.New(docs.Config{OpenAPI: []byte("tags: []\npaths: {}")}); err == nil {
		t.Error("pages name limits that are none")
	}
}

// A block is one of code, with the word behind its fence.
type block struct{ language, text string }

var fence = regexp.MustCompile("(?ms)^( *)```([a-z]*)([^\n]*)\n(.*?)^ *```$")

func blocks(markdown string) []block {
	var out []block
	for _, m := range fence.FindAllStringSubmatch(markdown, -1) {
		out = append(out, block{m[2], m[4]})
	}
	return out
}

// TestCodeBlocksParse reads every block of code by the language that it says it is in.
func TestCodeBlocksParse(t *testing.T) {
	count := map[string]int{}
	var shell bytes.Buffer
	for _, p := range docstest.New(t).Pages {
		if strings.Count(string(p.Markdown), "\n```")%2 != 0 {
			t.Errorf("%s leaves a fence open", p.Path)
		}
		for _, b := range blocks(string(p.Markdown)) {
			count[b.language]++
			switch b.language {
			case "json":
				if !json.Valid([]byte(b.text)) {
					t.Errorf("%s: no JSON: %s", p.Path, b.text)
				}
			case "yaml":
				var v any
				if err := yaml.Unmarshal([]byte(b.text), &v); err != nil {
					t.Errorf("%s: %v: %s", p.Path, err, b.text)
				}
			case "sh":
				shell.WriteString("f() {\n" + b.text + "}\n")
				if out, err := exec.Command("bash", "-n", "-c", b.text).CombinedOutput(); err != nil && !strings.HasPrefix(p.Path, "/docs/api/") {
					t.Errorf("%s: %s: %s", p.Path, out, b.text)
				}
			}
		}
	}
	cmd := exec.Command("bash", "-n")
	cmd.Stdin = &shell
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the shell does not read the blocks: %s", out)
	}
	for language := range count {
		if !slices.Contains([]string{"", "json", "yaml", "sh", "text", "js", "python", "ruby", "php", "go", "nginx", "caddyfile", "html", "md", "toml", "ts", "apache", "ini"}, language) {
			t.Errorf("nobody checks blocks of %s", language)
		}
	}
	if count["json"] < 60 || count["sh"] < 50 || count["yaml"] < 3 {
		t.Errorf("only %v blocks were found", count)
	}
}
