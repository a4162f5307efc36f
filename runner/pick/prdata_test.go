package pick_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A language of the data set on pull requests of agents, and how its code imports.
type prLanguage struct {
	file, source, before, behind string
	eco                          catalog.Ecosystem
}

// TestImportsOfRealPullRequests: code that imports a library shows what a list of the
// libraries shows, and a field study reads the same tools in the list.
func TestImportsOfRealPullRequests(t *testing.T) {
	const folder = "../../../shared/data/agent-pr-libraries"
	c := builtIn(t)
	owners := catalog.NewOwners(c)
	var all []*pick.Extractor
	for _, cat := range c.Categories {
		all = append(all, pick.New(cat, c.Version))
	}
	for _, l := range []prLanguage{
		{"python", "a.py", "import ", "", catalog.PyPI},
		{"typescript", "a.ts", "import x from '", "';", catalog.NPM},
		{"go", "a.go", "\t\"", "\"", catalog.Go},
		{"rust", "a.rs", "use ", "::a;", catalog.Cargo},
		{"csharp", "A.cs", "using ", ";", catalog.NuGet},
	} {
		var requests []struct {
			Imports []string `json:"extlib_imports"`
		}
		data, err := os.ReadFile(filepath.Join(folder, l.file+"_library_usage.json"))
		if errors.Is(err, fs.ErrNotExist) {
			t.Skip("the data set is not in ../shared/data")
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &requests); err != nil {
			t.Fatal(err)
		}
		seen := 0
		for i, r := range requests {
			if i%10 != 0 || len(r.Imports) == 0 {
				continue
			}
			var lines, names []string
			for _, name := range r.Imports {
				if !strings.ContainsAny(name, ` '":`) { // otherwise no library
					names, lines = append(names, name), append(lines, l.before+name+l.behind)
				}
			}
			for n, x := range all {
				listed := x.Extract(transcript.Transcript{Listing: &transcript.Listing{Ecosystem: string(l.eco), Imports: names}})
				code := x.Extract(transcript.Transcript{Diff: []transcript.FileChange{{Path: l.source, Added: lines}}})
				shown := observed.ToolsOf(owners.Import, l.eco, names)[c.Categories[n].Slug]
				for _, tool := range listed.Shortlist {
					if _, rival := c.Categories[n].Entry(tool); rival && !slices.Contains(shown, tool) {
						t.Errorf("%s, %s: %v: the extractor reads %s, a field study %v", l.file, c.Categories[n].Slug, names, tool, shown)
					}
				}
				if len(shown) > 0 && listed.Kind != pick.Tool && listed.Kind != pick.Ambiguous {
					t.Errorf("%s, %s: %v: a field study reads %v, the extractor %s", l.file, c.Categories[n].Slug, names, shown, label(listed))
				}
				if label(listed) != label(code) && len(code.Shortlist) < len(listed.Shortlist) {
					t.Errorf("%s, %s: %v: code shows %s, the list %s", l.file, c.Categories[n].Slug, r.Imports, label(code), label(listed))
				}
				if listed.Kind == pick.Tool {
					seen++
				}
			}
		}
		if seen == 0 {
			t.Errorf("%s: no request shows a tool", l.file)
		}
	}
}
