package observed_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// agentPRs is the data set of the built-in study: Twist et al., MSR 2026, arXiv 2512.11589,
// itsluketwist/agent-library-usage, CC BY 4.0.
const agentPRs = "../../../shared/data/agent-pr-libraries"

// A count is what testdata/recount.py counts of a category.
type count struct {
	Units  int            `json:"units"`
	Repos  int            `json:"repos"`
	Uses   map[string]int `json:"uses"`
	UsedIn map[string]int `json:"usedIn"`
	Splits map[string]int `json:"splits"`
}

// TestRecount: a script that shares nothing with the program but the names of the catalogue
// counts the same from the lines of the data set.
func TestRecount(t *testing.T) {
	if _, err := os.Stat(agentPRs); errors.Is(err, fs.ErrNotExist) {
		t.Skip("no shared/data/agent-pr-libraries beside the project")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	c := builtIn(t)
	names := map[string]map[string]map[string][]string{}
	for _, category := range []string{"testing", "orm", "llm-sdk"} {
		names[category] = importsOf(c, category)
	}
	in, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	var report bytes.Buffer
	cmd := exec.CommandContext(t.Context(), python, "testdata/recount.py", agentPRs)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &report
	data, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &report)
	}
	var want map[string]count
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	for category := range names {
		if diff := cmp.Diff(want[category], countOf(board(t, c, category))); diff != "" {
			t.Errorf("%s: the script counts -, the program +\n%s", category, diff)
		}
	}
}

// importsOf returns the names of a category as the script wants them.
func importsOf(c *catalog.Catalog, category string) map[string]map[string][]string {
	cat, _ := c.Category(category)
	out := map[string]map[string][]string{}
	for language, eco := range map[string]catalog.Ecosystem{"C#": catalog.NuGet, "Go": catalog.Go, "Python": catalog.PyPI, "Rust": catalog.Cargo, "TypeScript": catalog.NPM} {
		out[language] = map[string][]string{}
		for _, e := range cat.Entries {
			out[language][e.Tool.Slug] = append([]string{}, e.Imports[eco]...)
		}
		for _, o := range cat.Outside {
			out[language]["outside:"+o.Slug] = append([]string{}, o.Imports[eco]...)
		}
	}
	return out
}

func countOf(b observed.Board) count {
	n := count{b.NUnits, b.NRepos, map[string]int{}, map[string]int{}, map[string]int{}}
	for _, s := range b.Tools {
		if s.Uses > 0 {
			n.Uses[s.Slug], n.UsedIn[s.Slug] = s.Uses, s.Repos
		}
	}
	for _, l := range b.Languages {
		for _, r := range l.Tools {
			n.Splits[r.Slug+" "+l.Language] = r.Uses
		}
	}
	for _, a := range b.Agents {
		for _, r := range a.Tools {
			n.Splits[r.Slug+" "+a.Agent] = r.Uses
		}
	}
	return n
}
