package pages_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/archive/archivetest"
)

// TestTrialsLeadToTheirNeighbours: the repeats of the agent and the prompt, in their order.
func TestTrialsLeadToTheirNeighbours(t *testing.T) {
	h, _ := serve(t)
	id := func(n int) string { return fmt.Sprintf("/trials/%020x", len("web")*1_000_000+n) }
	// Of 40 trials, those of agent =b() with prompt p1 are 1, 7, 13, 19, 25, 31 and 37.
	for path, want := range map[string]struct {
		has, lacks []string
	}{
		"/trials/" + archivetest.Trial: {[]string{`rel="prev" href="` + id(1) + `"`, `rel="next" href="` + id(13) + `"`, "2 of 7", `content="https://firstpick.example/og/tools/`}, nil},
		id(1):                          {[]string{`rel="next" href="/trials/` + archivetest.Trial}, []string{`rel="prev"`}},
		id(37):                         {[]string{`rel="prev" href="` + id(31), "7 of 7"}, []string{`rel="next"`}},
	} {
		status, body := ask(h, path)
		if status != 200 {
			t.Errorf("%s: %d", path, status)
		}
		for _, part := range want.has {
			if !strings.Contains(body, part) {
				t.Errorf("%s lacks %s", path, part)
			}
		}
		for _, part := range want.lacks {
			if strings.Contains(body, part) {
				t.Errorf("%s has %s", path, part)
			}
		}
	}
}

// TestListedAnswersAreGrouped: a list reads the imports of all trials of a page and groups
// those that are equal, of each agent and prompt; a list of answers with a text has none.
func TestListedAnswersAreGrouped(t *testing.T) {
	h, _ := serveTrials(t, "")
	_, body := ask(h, "/leaderboards/webserver/trials?prompt=web/p0")
	for _, part := range []string{"<code>flask, uvicorn</code>", "<code>no import</code>", "90 <span class=\"sub\">of 100</span>", "<summary>6 on this page</summary>", ">repeat 5</a>"} {
		if !strings.Contains(body, part) {
			t.Errorf("no %s in %s", part, body)
		}
	}
	if n := strings.Count(body, `<th scope="row"><code>`); n != 4 || strings.Contains(body, `<table class="trials">`) {
		t.Errorf("%d groups: %s", n, body)
	}
	if _, body := ask(h, "/leaderboards/webserver/trials"); strings.Contains(body, `rel="next"`) || strings.Count(body, `href="/trials/`) != 80 {
		t.Errorf("80 trials are on one page: %s", body)
	}
	if _, body := ask(h, "/trials/"+archivetest.Trial); !strings.Contains(body, `href="https://host.example/study/blob/c0ffee0123/out.json#L7"`) {
		t.Errorf("the record is not linked: %s", body)
	}
	h, _ = serve(t)
	if _, body := ask(h, "/leaderboards/webserver/trials"); !strings.Contains(body, `<table class="trials">`) || !strings.Contains(body, `rel="next"`) || strings.Contains(body, "Trials by imports") {
		t.Errorf("%s", body)
	}
}

// TestListsAreCounted: a list of several pages says which rows of how many it has, with a filter
// and without, over the evals of a board.
func TestListsAreCounted(t *testing.T) {
	h, _ := serve(t)
	next := regexp.MustCompile(`rel="next" href="([^"]+)"`)
	for path, want := range map[string][]string{
		"/leaderboards/webserver/trials":               {"1–50 of 80", "51–80 of 80"},
		"/leaderboards/webserver/trials?outcome=tool":  {"1–50 of ", "51–"},
		"/leaderboards/webserver/trials?prompt=web/p1": {"of 336 answers match."},
	} {
		for _, part := range want {
			status, body := ask(h, path)
			if status != 200 || !strings.Contains(body, part) {
				t.Errorf("%s: %d lacks %q:\n%s", path, status, part, body)
			}
			if at := next.FindStringSubmatch(body); at != nil {
				path = html.UnescapeString(at[1])
			}
		}
	}
}
