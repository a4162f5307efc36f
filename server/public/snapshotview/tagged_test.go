package snapshotview_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

var token = regexp.MustCompile(`[\p{L}\d.%<+–-]+`)

// figures returns the words with digits of a text, in their order. 95% is the level of every
// interval.
func figures(text string) (out []string) {
	for _, w := range token.FindAllString(text, -1) {
		if w = strings.Trim(w, ".–-"); strings.ContainsAny(w, "0123456789") && w != "95%" {
			out = append(out, w)
		}
	}
	return out
}

// text is what a page shows in its main part.
func text(t *testing.T, page string) string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "title" && n.Parent.Data != "script" && n.Parent.Data != "text" { // text: ticks of drawings
			b.WriteString(n.Data + "\n")
		}
	}
	return b.String()
}

// TestPagesHaveTheSameOrder: both forms have the same figures in the same order.
func TestPagesHaveTheSameOrder(t *testing.T) {
	for name, s := range map[string]*snapshotview.Site{"tagged": sitetest.NewTagged(t), "older": sitetest.NewOlder(t), "labelled": sitetest.NewLabelled(t, false)} {
		for _, path := range []string{"/leaderboards/webserver", "/tools/flask", "/tools/fastapi", "/tools/tornado", "/tools/sanic"} {
			page, words := forms(t, s, path)
			shown, written := figures(text(t, page)), figures(strings.ReplaceAll(address.ReplaceAllString(words, "]"), `\`, ""))
			if !slices.Equal(shown, written) {
				t.Errorf("%s %s:\nHTML     %q\nmarkdown %q", name, path, shown, written)
			}
		}
	}
}

// TestPagesShowWhatBacksARate: both forms have it, and pages of older snapshots do not.
func TestPagesShowWhatBacksARate(t *testing.T) {
	s, older := sitetest.NewTagged(t), sitetest.NewOlder(t)
	for path, want := range map[string][]string{
		"/leaderboards/webserver": {
			"22", "weighted as the eval says. The prompts stand for tickets of web teams", "Built its own: 0.0% (95% CI 0.0%–", "not picked", "in at most 18.4% of answers (95% bound)",
			"Not picked in 336 answers:", "to the same prompt agree in 50% of cases (kappa 0.31, 84 combinations", "Weight", "Rates by tag", "Ecosystem", "Persona", "early",
		},
		"/tools/flask":   {"For models like these", "Raw rate", "Without one model", "Without one prompt family", "Effective trials", "Variance between trials", "tickets of web teams"},
		"/tools/tornado": {"0.002", "No model picked Tornado in 336 answers; 75.0% named it as an option."},
	} {
		page, words := forms(t, s, path)
		for _, part := range want {
			if !strings.Contains(text(t, page), part) || !strings.Contains(words, part) {
				t.Errorf("%s: a form lacks %q:\n%s", path, part, words)
			}
		}
	}
	for _, path := range []string{"/leaderboards/webserver", "/tools/flask"} {
		_, words := forms(t, older, path)
		for _, part := range []string{"Weight", "Built its own", "By tag", "Raw rate", " families,", "0%–0%", "Share of answers"} {
			if strings.Contains(words, part) {
				t.Errorf("%s of an older snapshot has %q:\n%s", path, part, words)
			}
		}
	}
}

// TestOnePromptHasNoInterval: the interval of one prompt says nothing, so none is drawn.
func TestOnePromptHasNoInterval(t *testing.T) {
	s := sitetest.NewSingle(t)
	for _, path := range []string{"/leaderboards/webserver", "/tools/flask", "/tools/tornado"} {
		page, words := forms(t, s, path)
		for _, form := range []string{page, words} {
			if !strings.Contains(form, "One prompt: other prompts may differ, so no interval is shown.") || strings.Contains(form, "0%–100%") || strings.Contains(form, "at most") || strings.Contains(form, "<svg class=\"bar\"") {
				t.Errorf("%s:\n%s", path, form)
			}
		}
	}
}

// TestOlderBoardsHaveNoWrongFigures: what a board of an older snapshot does not have is
// absent from the answers, and the coverage of imports is null.
func TestOlderBoardsHaveNoWrongFigures(t *testing.T) {
	for name, s := range map[string]*snapshotview.Site{"now": sitetest.NewTagged(t), "older": sitetest.NewOlder(t)} {
		report, _ := s.Report("flask")
		answer := sent(s.Board("webserver", "")) + sent(report)
		for _, field := range sitetest.Newer() {
			if has := strings.Contains(answer, `"`+field+`":`); has != (name == "now") {
				t.Errorf("%s: %s is there: %t\n%s", name, field, has, answer)
			}
		}
		if null := strings.Count(answer, `"coverage":null`); null != map[string]int{"now": 0, "older": 2}[name] {
			t.Errorf("%s: %d times no coverage", name, null)
		}
	}
}

// TestBoardsAreCut: a board by a tag has the cuts of that tag, and everything else.
func TestBoardsAreCut(t *testing.T) {
	s := sitetest.NewTagged(t)
	whole := sent(s.Board("webserver", ""))
	before, _, _ := strings.Cut(whole, `"cuts":`)
	for by, want := range map[string][2]int{"tag:ecosystem": {2, 0}, "tag:persona": {0, 2}, "tag:intent": {0, 0}} {
		got := sent(s.Board("webserver", by))
		if !strings.HasPrefix(got, before) || strings.Count(got, `"tag":"ecosystem"`) != want[0] || strings.Count(got, `"tag":"persona"`) != want[1] {
			t.Errorf("%s: %s", by, got)
		}
	}
	if plain := sitetest.New(t, 1); plain.Board("payments", "") != plain.Board("payments", "tag:intent") || s.Board("webserver", "agent") != nil {
		t.Error("a board without cuts is rendered again, or an unknown way has a board")
	}
}

func sent(res *snapshotview.Resource) string {
	w := httptest.NewRecorder()
	snapshotview.NewSender(sitetest.Base).Send(w, httptest.NewRequest(http.MethodGet, "/", nil), res)
	return w.Body.String()
}
