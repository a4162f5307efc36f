package pick_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/study"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

func builtIn(t testing.TB) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func extractor(t testing.TB, c *catalog.Catalog, slug string) *pick.Extractor {
	t.Helper()
	cat, ok := c.Category(slug)
	if !ok {
		t.Fatalf("no category %s", slug)
	}
	return pick.New(cat, c.Version)
}

// TestStudyCounts holds the extractor to the published figures: for every task,
// model and tool, the answers that import any of the tool's libraries are the
// picks plus the answers that import a rival too. Those are the two answers
// with dask and ray, and nothing else.
func TestStudyCounts(t *testing.T) {
	c := builtIn(t)
	s, err := study.Load(fixtures.Files(), "twist-2025")
	if err != nil {
		t.Fatal(err)
	}
	total, ambiguous := 0, 0
	for _, task := range s.Tasks {
		x := extractor(t, c, task.Category)
		cat, _ := c.Category(task.Category)
		for _, model := range task.Models {
			picks, shared, published := map[string]int{}, map[string]int{}, map[string]int{}
			for _, a := range model.Answers {
				total += a.Count
				for _, lib := range a.Imports {
					for _, e := range cat.Entries {
						if slices.Contains(e.Imports[catalog.PyPI], lib) {
							published[e.Tool.Slug] += a.Count
						}
					}
				}
				r := x.Extract(transcript.Transcript{Listing: &transcript.Listing{Source: s.Name, Ecosystem: s.Ecosystem, Imports: a.Imports}})
				switch {
				case r.Kind == pick.Tool:
					picks[r.Picked] += a.Count
				case r.Kind == pick.Ambiguous:
					ambiguous += a.Count
					for _, slug := range r.Shortlist {
						shared[slug] += a.Count
					}
				case len(a.Imports) == 0 && r.Kind != pick.None, len(a.Imports) > 0 && r.Kind != pick.Other:
					t.Errorf("%s, %s, %v: outcome %s", task.Category, model.Name, a.Imports, r.Kind)
				}
			}
			for slug, n := range published {
				if picks[slug]+shared[slug] != n {
					t.Errorf("%s, %s: %s has %d picks and %d shared, published %d", task.Category, model.Name, slug, picks[slug], shared[slug], n)
				}
			}
		}
	}
	if total != 4000 || ambiguous != 2 {
		t.Errorf("%d answers, %d ambiguous; want 4000 and 2", total, ambiguous)
	}
}

func TestEvidenceNamesFileAndLine(t *testing.T) {
	r := extractor(t, builtIn(t), "webserver").Extract(transcript.Transcript{
		FinalText: "Done.",
		Diff:      []transcript.FileChange{{Path: "app/main.py", Added: []string{"import os", "from fastapi import FastAPI"}}},
	})
	want := pick.Evidence{Tool: "fastapi", Level: pick.LevelCode, Kind: "import", Path: "app/main.py", Line: 2, Quote: "from fastapi import FastAPI"}
	if r.Kind != pick.Tool || r.Evidence[0] != want {
		t.Errorf("got %+v", r)
	}
}

// A study that lists imports published neither file nor line nor code.
func TestEvidenceOfAListingQuotesWhatWasPublishedOnly(t *testing.T) {
	c := builtIn(t)
	tests := map[string]struct {
		category string
		imports  []string
		want     pick.Result
	}{
		"a tool and its helper": {"webserver", []string{"fastapi", "uvicorn"}, pick.Result{
			Kind: pick.Tool, Picked: "fastapi", Shortlist: []string{"fastapi"}, Method: pick.MethodAction, Level: pick.LevelCode, Rule: "actions use one tool",
			Evidence: []pick.Evidence{
				{Tool: "fastapi", Level: pick.LevelCode, Kind: "listed", Quote: "fastapi"},
				{Tool: "uvicorn", Level: pick.LevelCode, Kind: "listed", Quote: "uvicorn"},
			},
		}},
		"two rivals": {"distributed", []string{"dask", "ray"}, pick.Result{
			Kind: pick.Ambiguous, Shortlist: []string{"dask", "ray"}, Method: pick.MethodAction, Level: pick.LevelCode, Rule: "actions use two or more tools",
			Evidence: []pick.Evidence{
				{Tool: "dask", Level: pick.LevelCode, Kind: "listed", Quote: "dask"},
				{Tool: "ray", Level: pick.LevelCode, Kind: "listed", Quote: "ray"},
			},
		}},
		"nothing": {"webserver", nil, pick.Result{Kind: pick.None, Rule: "nothing is named"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := extractor(t, c, tt.category).Extract(transcript.Transcript{Listing: &transcript.Listing{Source: "s", Ecosystem: "pypi", Imports: tt.imports}})
			tt.want.Extractor, tt.want.Catalog = pick.Version, c.Version
			if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestCodeInAMessageIsADeed(t *testing.T) {
	r := extractor(t, builtIn(t), "webserver").Extract(transcript.Transcript{
		FinalText: "Here you go:\n\n```python\nfrom flask import Flask\napp = Flask(__name__)\n```\nFastAPI would do as well.",
	})
	if r.Picked != "flask" || r.Method != pick.MethodAction || !slices.Equal(r.Shortlist, []string{"fastapi", "flask"}) {
		t.Errorf("got %+v", r)
	}
}

func TestStopsDecideOnlyWhereNothingWasChosen(t *testing.T) {
	x := extractor(t, builtIn(t), "webserver")
	for want, in := range map[pick.Kind]transcript.Transcript{
		pick.Refused:   {Stop: transcript.StopRefusal},
		pick.Truncated: {FinalText: "There are several", Stop: transcript.StopLength},
		pick.Tool:      {FinalText: "I'd use Flask because", Stop: transcript.StopLength},
		pick.None:      {FinalText: "Which deployment target do you have?"},
	} {
		if r := x.Extract(in); r.Kind != want {
			t.Errorf("got %s, want %s", r.Kind, want)
		}
	}
}

// An answer that was cut off before a choice is truncated, whatever cut it off.
func TestCutOffBeforeAChoice(t *testing.T) {
	x := extractor(t, builtIn(t), "webserver")
	for _, stop := range []transcript.Stop{transcript.StopLength, transcript.StopTurns, transcript.StopCost, transcript.StopTime, transcript.StopIncomplete} {
		if r := x.Extract(transcript.Transcript{FinalText: "Let me look around.", Stop: stop}); r.Kind != pick.Truncated {
			t.Errorf("%s: %s", stop, r.Kind)
		}
	}
}

func FuzzExtract(f *testing.F) {
	c := builtIn(f)
	x := extractor(f, c, "webserver")
	cat, _ := c.Category("webserver")
	f.Add("Use Flask instead of Django.", "npm i flask && pip install 'fastapi[all]==1'", "requirements.txt", "flask==2")
	f.Add("| Flask | yes |\n|---|---|\n| Django | no |", "bash -lc \"pip install x\"", "a.py", "from flask import Flask")
	f.Add("1. **Flask** [a](b)\n```py\nimport tornado", "", "x", "")
	f.Fuzz(func(t *testing.T, text, cmd, path, line string) {
		in := transcript.Transcript{
			FinalText: text, Commands: []transcript.Command{{Cmd: cmd, Exit: new(0)}},
			Diff: []transcript.FileChange{{Path: path, Added: []string{line}}},
		}
		r := x.Extract(in)
		_, known := cat.Entry(r.Picked)
		if r.Kind == pick.Tool && (!known || !slices.Contains(r.Shortlist, r.Picked)) {
			t.Errorf("picked %q of shortlist %v", r.Picked, r.Shortlist)
		}
		if again := x.Extract(in); fmt.Sprint(again) != fmt.Sprint(r) {
			t.Errorf("another result the second time")
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	x := extractor(b, builtIn(b), "webserver")
	text := ""
	for len(text) < 4096 {
		text += "For a small API I would look at what your team knows. Flask is simple, and Django brings an admin. "
	}
	for b.Loop() {
		x.Extract(transcript.Transcript{FinalText: text})
	}
}
