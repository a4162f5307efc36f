package views

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/kit/render"
)

// TestHomeParts: the largest observed boards, examples of tools, the sample of a vendor, and the note of boards that asked
// the same.
func TestHomeParts(t *testing.T) {
	web, data := asked(map[string]int{"ash": 9}, map[string]int{"birch": 9, "ash": 1}, map[string]int{"ash": 8}), asked(map[string]int{"cedar": 9}, map[string]int{"elm": 8})
	data.Category, data.Name, data.Tools = "data", "Data", data.Tools[2:]
	small := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	large := small
	large.Category, large.Name, large.NUnits = "large", "Large", 200
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Boards: []analytics.Board{*web, *data}, Observed: []observed.Board{small, large}})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.boardLinks(); len(got) != 2 || got[0].Text != "Large" || got[1].Path != "/observed/http" {
		t.Errorf("boards: %+v", got)
	}
	if got := r.toolNames(r.linesOf(&small, nil)); len(got) != 1 || got[0].Text != "Ash" {
		t.Errorf("asked and seen the same: %+v", got)
	}
	if got := r.toolNames(nil); len(got) != homeNames || got[0].Text != "Ash" || got[1].Text != "Cedar" || got[2].Text != "Birch" {
		t.Errorf("examples of boards that asked: %+v", got)
	}
	if got := pickedMostBy(web, web.Tools[1]); got != "Picked most often by 1 of 3 agents; Ash by 2." {
		t.Error(got)
	}
	f := r.firstPicksOf(&r.in.Boards[0])
	if f == nil || f.Note != "" {
		t.Fatalf("boards with other numbers of answers: %+v", f)
	}
	for i := range f.Boards {
		f.Boards[i].Note = "20 answers"
	}
	if got := f.commonNote(); got != "20 answers" {
		t.Errorf("got %q", got)
	}
}

// TestSearchByLanguage: observed boards that a search found have a line for each language that it names, or for all, and say
// where there is too little use.
func TestSearchByLanguage(t *testing.T) {
	b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	b.Warnings = []string{observed.MixedLanguages}
	part := func(language string) observed.LanguageBoard {
		return observed.LanguageBoard{Language: language, Part: b.Whole()}
	}
	b.Languages = []observed.LanguageBoard{part("Go"), part("Rust"), {Language: "Zig", Part: observed.Part{NUnits: 3, NRepos: 1}}}
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}, Observed: []observed.Board{b}})
	if err != nil {
		t.Fatal(err)
	}
	for want, languages := range map[string][]string{
		"HTTP clients · Go HTTP clients · Rust": nil,
		"HTTP clients · Rust":                   {"Rust"},
		"Too little use in Zig for a line":      {"Zig"},
	} {
		page, err := r.Search(Found{Query: "x", Observed: []string{"http"}, Languages: languages})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range []string{"HTTP clients · Go", "HTTP clients · Rust", "Too little use in Zig for a line"} {
			if strings.Contains(string(page), line) {
				got = append(got, line)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", languages, got, want)
		}
	}
}
