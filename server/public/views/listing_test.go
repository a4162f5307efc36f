package views_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/views"
)

func listed(outcome, picked string, shortlist []string, imports ...string) func(*trialset.Trace) {
	return func(t *trialset.Trace) {
		t.Outcome, t.Picked, t.Result.Shortlist, t.Result.Evidence = outcome, picked, shortlist, nil
		if t.Result.Method = "deed"; outcome == "none" {
			t.Result.Method = ""
		}
		t.Listing = &trialset.Listing{Source: "twist", Ecosystem: "pypi", Imports: imports, Record: &trialset.Record{
			URL: "https://host.example/study/blob/c0ffeecafe/out.json#L42", Commit: "c0ffeecafe", File: "out.json", SHA256: strings.Repeat("ab", 32), Line: 42, Text: `"flask,uvicorn": 31`,
			Answers: 31, Of: 98, Citation: "Twist et al.", API: "Anthropic", Temperature: "0.7",
		}}
		for _, name := range imports {
			t.Result.Evidence = append(t.Result.Evidence, trialset.Evidence{Tool: name, Kind: "listed", In: "listing", Quote: name})
		}
	}
}

// TestListedTrials: the imports are the answer, with the reason of the outcome and the record.
func TestListedTrials(t *testing.T) {
	record := []string{"out.json", "Line 42", "host.example/study", "at commit c0ffeec", "31 of the 98 answers", strings.Repeat("ab", 32), "Data: Twist et al.", "not its text", "Anthropic", "0.7", "not published", "3 of 77"}
	for name, c := range map[string]struct {
		change func(*trialset.Trace)
		title  string
		want   []string
		absent []string
	}{
		"one tool": {
			listed("tool", "flask", []string{"flask"}, "flask", "uvicorn"), "A picked Flask",
			[]string{"Flask, the pick", "not on this board", "Flask counts as the pick: no other import is a tool of this board.", "A picked Flask in 3 of 4 answers to this prompt; all 3 models in 6 of 12 (50.0%)."},
			[]string{"Evidence", "Shortlist", "Decided"},
		},
		"alone": {listed("tool", "flask", []string{"flask"}, "flask"), "A picked Flask", []string{"Flask counts as the pick: it is the only import."}, nil},
		"two":   {listed("ambiguous", "", []string{"django", "flask"}, "django", "flask", "os"), "A imported two or more tools of the list", []string{"Django, a tool of this board", "Flask, a tool of this board", "none counts as the pick"}, nil},
		"none":  {listed("none", "", nil), "A: the study lists no import", []string{"No pick: the study lists no import beyond the standard library.", "A picked no single tool of the list in 1 of 4 answers"}, []string{"chose nothing", "quotes only"}},
		"other": {listed("other", "numpy", []string{"numpy"}, "numpy"), "A imported no tool of the list", []string{"not on this board", "No pick: no listed import is a tool of this board."}, nil},
	} {
		r := renderer(t, trialset.Quotes, func(b *analytics.Board) { b.Prompts[0].Eval = "web" })
		p, err := r.Trial(views.Trial{Category: "webserver", Eval: "web", Notice: "Data.", Trace: trace(c.change), Previous: &trialset.Entry{ID: "p1", Repeat: 1, Outcome: "none"}, Next: &trialset.Entry{ID: "n1", Repeat: 3, Outcome: "tool", Picked: "flask"}, Repeats: 77})
		if err != nil {
			t.Fatal(err)
		}
		shown := same(t, name, p)
		if !strings.Contains(string(p.Markdown), "# "+c.title+"\n") {
			t.Errorf("%s: no title %s in %s", name, c.title, p.Markdown)
		}
		for _, want := range slices.Concat(c.want, record) {
			if !strings.Contains(shown.text, want) || !strings.Contains(string(p.Markdown), want) {
				t.Errorf("%s: no %q in %s\n%s", name, want, shown.text, p.Markdown)
			}
		}
		for _, absent := range c.absent {
			if strings.Contains(shown.text, absent) || strings.Contains(string(p.Markdown), absent) {
				t.Errorf("%s: %q in %s\n%s", name, absent, shown.text, p.Markdown)
			}
		}
		for _, link := range []string{"https://host.example/study/blob/c0ffeecafe/out.json#L42", "/trials/p1", "/trials/n1"} {
			if !slices.Contains(shown.links, link) {
				t.Errorf("%s: no link %s in %q", name, link, shown.links)
			}
		}
	}
}

// TestHostileRecords: an import may hold any listing.
func TestHostileRecords(t *testing.T) {
	h := sitetest.Hostile
	r := renderer(t, trialset.Full, nil)
	for _, url := range []string{"javascript:alert(1)", "https://host.example/\u202e", h, ""} {
		p, err := r.Trial(views.Trial{Category: "webserver", Notice: "Data.", Trace: trace(func(t *trialset.Trace) {
			t.Answer = &trialset.Answer{Listing: &trialset.Listing{Source: h, Imports: []string{h}, Record: &trialset.Record{URL: url, Commit: h, File: h, SHA256: h, Text: h, Citation: h, API: h, Temperature: h, System: h}}}
		})})
		if err != nil {
			t.Fatal(err)
		}
		shown := same(t, url, p)
		if slices.ContainsFunc(shown.links, func(l string) bool { return strings.HasPrefix(l, "javascript") || strings.Contains(l, "host.example") }) {
			t.Errorf("%q links %q", url, shown.links)
		}
	}
}

// TestPromptBars: what no colour stands for is other tools, or no pick, never both.
func TestPromptBars(t *testing.T) {
	for name, c := range map[string]struct {
		change        func(*analytics.Board)
		others, empty bool
	}{
		"as measured": {nil, false, true},
		"all picked": {func(b *analytics.Board) {
			for i := range b.Prompts {
				b.Prompts[i].NTrials, b.Prompts[i].Tools = 2, []analytics.PromptTool{{Slug: "flask", Picks: 2}}
			}
		}, false, false},
		"another": {func(b *analytics.Board) {
			b.Prompts[0].NTrials, b.Prompts[0].Tools = 2, []analytics.PromptTool{{Slug: "pyramid", Picks: 2}}
		}, true, true},
	} {
		p, err := renderer(t, trialset.Quotes, c.change).Page("/leaderboards/webserver")
		if err != nil {
			t.Fatal(err)
		}
		text := parse(t, p.HTML).text
		if others, empty := strings.Contains(text, "other tools of the list"), strings.Contains(text, "no single pick"); others != c.others || empty != c.empty {
			t.Errorf("%s: other tools %t, no pick %t", name, others, empty)
		}
	}
}

// TestPromptsOfQuotesAreShownOnce on the page of a tool.
func TestPromptsOfQuotesAreShownOnce(t *testing.T) {
	r := renderer(t, trialset.Quotes, func(b *analytics.Board) {
		b.Prompts[0].Text = "The one prompt."
		for i := range b.Tools {
			if b.Tools[i].Slug == "flask" {
				b.Tools[i].Breakdown = &analytics.Breakdown{Examples: []analytics.Example{
					{Trial: "1", Prompt: b.Prompts[0].Name(), Agent: "a", Picked: "flask"}, {Trial: "2", Prompt: b.Prompts[0].Name(), Agent: "b", Picked: "flask"},
				}}
			}
		}
	})
	p, err := r.Page("/tools/flask")
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"page": parse(t, p.HTML).text, "markdown": string(p.Markdown)} {
		_, text, _ = strings.Cut(text, "Records of answers")
		if n := strings.Count(text, "The one prompt."); n != 1 {
			t.Errorf("%s: %d times: %s", form, n, text)
		}
	}
}
