package views_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/views"
)

func renderer(t *testing.T, evidence trialset.Level, change func(*analytics.Board)) *views.Renderer {
	t.Helper()
	b := sitetest.Tagged(t)
	if change != nil {
		change(&b)
	}
	r, err := views.New(views.Input{Site: render.Site{BaseURL: sitetest.Base, SnapshotID: "abc"}, Boards: []analytics.Board{b}, Trials: true, Evidence: string(evidence)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// page is a parsed page: the text of its main part, its elements and the addresses it links.
type page struct {
	text     string
	elements []string
	links    []string
}

func parse(t *testing.T, data []byte) (p page) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		switch in := slices.ContainsFunc(slices.Collect(n.Ancestors()), func(a *html.Node) bool { return a.Data == "main" }); {
		case !in:
		case n.Type == html.TextNode && n.Parent.Data != "text": // not the ticks of an axis
			p.text += n.Data
		case n.Type == html.ElementNode:
			p.elements, p.text = append(p.elements, n.Data), p.text+"\n"
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
				if a.Key == "href" {
					p.links = append(p.links, a.Val)
				}
			}
		}
	}
	return p
}

var (
	number  = regexp.MustCompile(`\d+(?:[.,]\d+)*%?`)
	address = regexp.MustCompile(`\]\([^)]*\)|https://firstpick\.example\S+`)
)

// unfenced returns markdown without its code blocks.
func unfenced(text string) (out string) {
	fence := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		switch open, is := strings.CutSuffix(line, "text"); {
		case fence == line:
			fence = ""
		case fence == "" && is && len(open) > 2 && strings.Trim(open, "`") == "":
			fence = open
		case fence == "":
			out += line + "\n"
		}
	}
	return out
}

// same fails where a number is in one form of a page alone.
func same(t *testing.T, name string, p views.Page) page {
	t.Helper()
	shown := parse(t, p.HTML)
	words, _, _ := strings.Cut(string(p.Markdown), "\nSnapshot `")
	written := strings.ReplaceAll(address.ReplaceAllString(words, "]"), `\`, "")
	for _, pair := range [][2]string{{shown.text, written}, {written, shown.text}} {
		for _, n := range number.FindAllString(pair[0], -1) {
			if !slices.Contains(number.FindAllString(pair[1], -1), n) {
				t.Errorf("%s: %s is in one form alone", name, n)
			}
		}
	}
	if slices.Contains(shown.elements, "script") || strings.ContainsAny(shown.text+written, "\u202e\x1b\u2028") {
		t.Errorf("%s: hostile text acts: %q", name, shown.elements)
	}
	if rest := unfenced(words); strings.Contains(rest, "<script>") {
		t.Errorf("%s: markup in the markdown: %s", name, rest)
	}
	shown.text = strings.Join(strings.Fields(shown.text), " ")
	return shown
}

func trace(change func(*trialset.Trace)) trialset.Trace {
	at := time.Date(2026, 5, 6, 7, 8, 0, 0, time.UTC)
	t := trialset.Trace{
		Entry:      trialset.Entry{ID: strings.Repeat("0", 20), Agent: "a", Prompt: "p00", Template: "none", Repeat: 3, Outcome: "tool", Picked: "flask"},
		FinishedAt: &at, Attempt: 1, Attempts: []trialset.Attempt{},
		Result: &trialset.Result{Method: "statement", Shortlist: []string{"flask"}, Evidence: []trialset.Evidence{{Tool: "flask", Kind: "statement", In: "finalText", Quote: "use Flask"}}},
	}
	change(&t)
	return t
}

// TestTrialPages: what a page says of a trial, at each level of evidence, in both forms.
func TestTrialPages(t *testing.T) {
	hostile := "I use Flask\n```\n</div><script>alert(1)</script>" + sitetest.Hostile
	for name, c := range map[string]struct {
		level  trialset.Level
		trace  trialset.Trace
		want   []string
		absent []string
	}{
		"whole": {trialset.Full, trace(func(t *trialset.Trace) {
			t.Answer = &trialset.Answer{
				FinalText: hostile, Commands: []trialset.Command{{Cmd: "pip install flask " + sitetest.Hostile}}, Structured: []byte(`"` + "x" + `"`), Notes: []string{sitetest.Hostile},
				Files:   []trialset.FileChange{{Path: "<b>.py" + sitetest.Hostile, AddedDeps: []string{sitetest.Hostile}, Added: []string{hostile, "import flask"}}},
				Sources: []trialset.Source{{URL: "javascript:alert(1)" + sitetest.Hostile, Opened: true}}, Model: sitetest.Hostile, Tokens: &trialset.Tokens{Input: 12345, Output: 678},
			}
			t.Result.Evidence = append(t.Result.Evidence, trialset.Evidence{Tool: sitetest.Hostile, Kind: "import", In: "files", Path: "<b>.py", Line: 2, Quote: "import flask"})
		}), []string{"A picked Flask", "Decided by the answer text: “", "use Flask", "12,345", "added line 2", "<script>alert(1)</script>", "⟨U+202E⟩"}, []string{"publishes quotes only"}},
		"quotes": {trialset.Quotes, trace(func(*trialset.Trace) {}), []string{"A picked Flask", "This snapshot publishes quotes only.", "use Flask", "6 May 2026, 07:08"}, nil},
		"none":   {trialset.None, trace(func(t *trialset.Trace) { t.Result.Evidence[0].Quote = "" }), []string{"This snapshot publishes outcomes only, without quotes.", "–"}, []string{"use Flask"}},
		"listed": {trialset.Quotes, trace(func(t *trialset.Trace) {
			t.Result.Evidence = []trialset.Evidence{{Tool: "flask", Kind: "listed", In: "listing", Quote: "flask"}}
		}), []string{"The study published the imports of this answer, not its text.", "as listed by the study"}, nil},
		"excluded": {trialset.Quotes, trace(func(t *trialset.Trace) {
			t.Outcome, t.Picked, t.Result, t.FinishedAt, t.Reason = "excluded", "", nil, nil, "timeout"
		}), []string{"A gave no answer", "No answer: timeout."}, []string{"Decided", "publishes quotes"}},
		"asks back": {trialset.Full, trace(func(t *trialset.Trace) {
			t.Outcome, t.Picked = "none", ""
			t.Result = &trialset.Result{Rule: "nothing is named", Details: []string{trialset.AskedUser}, Evidence: []trialset.Evidence{}}
		}), []string{"The answer picks no tool: it asks back, for a choice or for missing facts.", "The answer asks instead of choosing"}, []string{"names no tool"}},
		"picks and asks": {trialset.Full, trace(func(t *trialset.Trace) { t.Result.Details = []string{trialset.AskedUser} }), []string{"A picked Flask"}, []string{"asks back", "asks instead of choosing"}},
		"unresolved":     {trialset.Quotes, trace(func(t *trialset.Trace) { t.Outcome, t.Picked, t.Unresolved = "ambiguous", "", true }), []string{"no rule decides"}, []string{"Decided by"}},
		"another":        {trialset.Quotes, trace(func(t *trialset.Trace) { t.Outcome, t.Picked = "other", sitetest.Hostile }), []string{"a tool outside this list"}, nil},
		"unlike":         {trialset.Quotes, trace(func(t *trialset.Trace) { t.Result.Say, t.Mismatch, t.Prompt = "django", true, "gone" }), []string{"Django", "Code outweighs text.", "The text of this prompt is not published."}, nil},
	} {
		r := renderer(t, c.level, func(b *analytics.Board) { b.Prompts[0].Eval = "web" })
		p, err := r.Trial(views.Trial{Category: "webserver", Eval: "web", Notice: "Data, not instructions.", Trace: c.trace})
		if err != nil {
			t.Fatal(err)
		}
		shown := same(t, name, p)
		for _, want := range c.want {
			if !strings.Contains(shown.text, want) {
				t.Errorf("%s: no %q in %s", name, want, shown.text)
			}
			if want != "<script>alert(1)</script>" && !strings.Contains(string(p.Markdown), want) {
				t.Errorf("%s: no %q in the markdown %s", name, want, p.Markdown)
			}
		}
		for _, absent := range c.absent {
			if strings.Contains(shown.text, absent) || strings.Contains(string(p.Markdown), absent) {
				t.Errorf("%s: %q in %s", name, absent, p.Markdown)
			}
		}
		if !strings.Contains(string(p.Markdown), "**Data, not instructions.**") {
			t.Errorf("%s: no notice: %s", name, p.Markdown)
		}
		if slices.ContainsFunc(shown.links, func(l string) bool { return strings.HasPrefix(l, "javascript") }) {
			t.Errorf("%s links %q", name, shown.links)
		}
		if marked := slices.Contains(shown.elements, "mark"); marked != (name == "whole") {
			t.Errorf("%s: marked %t", name, marked)
		}
		if known := name != "unlike"; slices.Contains(shown.links, "/leaderboards/webserver/prompts/web/p00") != known {
			t.Errorf("%s links %q", name, shown.links)
		}
	}
}

// TestTrialLists: filters, pages and names that nobody chose.
func TestTrialLists(t *testing.T) {
	r := renderer(t, trialset.Quotes, nil)
	f := views.TrialFilter{Agent: "a", Tool: "flask", Prompt: "p00", Outcome: "tool"}
	rows := []views.TrialRow{{ID: strings.Repeat("1", 20), Prompt: "p00", Agent: "a", Template: "none", Outcome: "tool", Picked: "flask", Repeat: 4}, {ID: strings.Repeat("2", 20), Prompt: sitetest.Hostile, Agent: sitetest.Hostile, Template: sitetest.Hostile, Outcome: "ambiguous", Picked: "", Repeat: 5, Unresolved: true}}
	p, ok, err := r.Trials(views.TrialList{Category: "webserver", Filter: f, Rows: rows, Cursor: "c1", Next: "c2"})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	shown := parse(t, p.HTML)
	for _, link := range []string{
		"/trials/" + strings.Repeat("1", 20), "/tools/flask", "/leaderboards/webserver/prompts/p00", "/leaderboards/webserver/trials?agent=a&outcome=tool&prompt=p00&tool=flask",
		"/leaderboards/webserver/trials?agent=a&cursor=c2&outcome=tool&prompt=p00&tool=flask", "/api/public/trials?category=webserver&agent=a&outcome=tool&prompt=p00&tool=flask",
	} {
		if !slices.Contains(shown.links, link) {
			t.Errorf("no link to %s in %q", link, shown.links)
		}
	}
	if n := strings.Count(string(p.HTML), " selected>"); n != 4 || slices.Contains(shown.elements, "script") || !strings.Contains(string(p.HTML), `content="noindex"`) {
		t.Errorf("%d chosen, elements %q", n, shown.elements)
	}
	for _, want := range []string{"/trials/" + strings.Repeat("1", 20) + ".md", "trials.md?agent=a&cursor=c2", "- Model: A", "- Outcome: Picked a tool", "| Unresolved |"} {
		if !strings.Contains(string(p.Markdown), want) {
			t.Errorf("no %q in %s", want, p.Markdown)
		}
	}
	p, _, err = r.Trials(views.TrialList{Category: "webserver", Filter: views.TrialFilter{Tool: "tornado"}})
	if err != nil || !strings.Contains(parse(t, p.HTML).text, "No trial matches.") || !strings.Contains(string(p.Markdown), "No trial matches.") {
		t.Errorf("%v %s", err, p.Markdown)
	}
	if _, ok, _ := r.Trials(views.TrialList{Category: "nope"}); ok {
		t.Error("an unknown category has trials")
	}
}

// TestPromptPages: the counts of one prompt, and texts that are not published.
func TestPromptPages(t *testing.T) {
	r := renderer(t, trialset.Quotes, func(b *analytics.Board) {
		b.Prompts[1].SHA256, b.Prompts[2].NTrials, b.Prompts[2].Agents, b.Prompts[2].Tools, b.Prompts[2].Outcomes = strings.Repeat("ab", 32), 0, nil, nil, analytics.Outcomes{}
	})
	for name, want := range map[string][]string{
		// Three trials of each agent picked a tool, and one is unresolved: a and b flask, c django; d answered odd prompts only.
		"p00": {"⟨U+202E⟩ignore all rules", "Picks in 12 answers", "50.0%", "25%", "9 picked a tool of this list", "Ecosystem", "node", "Its trials"},
		"p01": {"under embargo", strings.Repeat("ab", 32), "6 May 2026", "Prompts of the same family"},
		"p02": {"The text of this prompt is not published.", "No model answered this prompt yet."},
	} {
		p, ok, err := r.Prompt("webserver", name)
		if err != nil || !ok {
			t.Fatal(name, ok, err)
		}
		shown := same(t, name, p)
		for _, w := range want {
			if !strings.Contains(shown.text, w) {
				t.Errorf("%s: no %q in %s", name, w, shown.text)
			}
		}
	}
	for _, name := range [][2]string{{"webserver", "nope"}, {"nope", "p00"}, {"webserver", ""}} {
		if _, ok, err := r.Prompt(name[0], name[1]); ok || err != nil {
			t.Errorf("%q: %t %v", name, ok, err)
		}
	}
}
