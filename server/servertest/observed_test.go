package servertest_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
)

// fieldFigures are JSON names that only observed figures have.
var fieldFigures = []string{"useRate", "uses", "nUnits", "nRepos", "repos", "tau", "unit", "observedTools"}

// unmarked returns the places of observed figures that no object around marks.
func unmarked(place string, v any, marked bool) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		marked = marked || v["observed"] == true
		for key, sub := range v {
			if slices.Contains(fieldFigures, key) && !marked {
				out = append(out, place+"/"+key)
			}
			out = append(out, unmarked(place+"/"+key, sub, marked)...)
		}
	case []any:
		for _, sub := range v {
			out = append(out, unmarked(place, sub, marked)...)
		}
	}
	return out
}

// unmarkedLines returns the lines of a page with one of some figures that neither the line nor
// the heading above marks as observed.
func unmarkedLines(page string, figures ...string) (out []string) {
	mark, heading := regexp.MustCompile(`(?i)observed`), regexp.MustCompile(`^#+ |<h[1-3]`)
	above := false
	for line := range strings.Lines(page) {
		if heading.MatchString(line) {
			above = mark.MatchString(line)
		}
		for _, f := range figures {
			if strings.Contains(line, f) && !above && !mark.MatchString(line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// TestObservedFiguresAreMarked walks every answer of the server with observed figures: each
// is marked, and the answers without `observed` have the same figures as without a study.
func TestObservedFiguresAreMarked(t *testing.T) {
	site := sitetest.NewObserved(t)
	srv := newServer(t, site, nil)
	get := func(path, accept string) string {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	answers := map[string]string{}
	for path, figure := range map[string]string{
		"/api/public/observed": `"nUnits":83`, "/api/public/observed?category=orm": `"useRate":1`, "/api/public/observed?category=Webserver": `"useRate":0.73494`,
		"/api/public/leaderboard?kind=observed": `"nUnits":83`, "/api/public/leaderboard?kind=observed&category=orm": `"useRate":1`,
		"/api/public/leaderboard?category=webserver": `"tau":`, "/api/public/report?q=flask": `"useRate":0.73494`, "/api/public/leaderboard": `"nTrials":480`,
	} {
		answers[path] = get(path, "application/json")
		if !strings.Contains(answers[path], figure) {
			t.Errorf("%s: no %s in %s", path, figure, answers[path])
		}
	}
	for tool, arguments := range map[string]string{"getLeaderboard": `{"kind":"observed"}`, "getLeaderboard ": `{"kind":"observed","category":"webserver"}`, "lookupTool": `{"query":"flask"}`, "getPickRate": `{"tool":"flask"}`} {
		a := tools.Call{Tool: strings.TrimSpace(tool), Arguments: json.RawMessage(arguments)}.Answer(site)
		if a.Failed {
			t.Fatalf("%s %s: %s", tool, arguments, a.JSON)
		}
		answers[tool+arguments] = string(a.JSON)
	}
	for place, answer := range answers {
		var doc any
		if err := json.Unmarshal([]byte(answer), &doc); err != nil {
			t.Fatal(err)
		}
		for _, at := range unmarked(place, doc, false) {
			t.Errorf("%s is not marked as observed", at)
		}
	}
	for _, path := range []string{"/", "/leaderboards/webserver", "/tools/flask", "/observed/webserver", "/observed/orm"} {
		for _, accept := range []string{"text/html", "text/markdown"} {
			page := get(path, accept)
			if !strings.Contains(strings.ToLower(page), "observed: ") {
				t.Errorf("%s as %s has no observed figure", path, accept)
			}
			for _, line := range unmarkedLines(page, "73.5%", "73%", "29 repositories", "| 83 |", ">83<", "tau-b", "of 83") {
				t.Errorf("%s as %s: not marked as observed: %s", path, accept, line)
			}
		}
	}
	for _, path := range []string{"/api/public/observed?category=payments", "/observed/payments", "/api/public/leaderboard?kind=both"} {
		if resp := ask(srv, "GET", path); resp.StatusCode == http.StatusOK {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
	if !strings.Contains(get("/sitemap.xml", "*/*"), "/observed/orm<") {
		t.Error("the sitemap lacks observed boards")
	}
	if strings.Contains(answers["/api/public/leaderboard"], "orm") {
		t.Error("the list of leaderboards has an observed board")
	}
}

// TestObservedAreCompared: a comparison of two tools that no trials measure has how often both were used where both were, and
// the address of the page that compares them.
func TestObservedAreCompared(t *testing.T) {
	site, err := snapshotview.Build(sitetest.FieldBoards(t))
	if err != nil {
		t.Fatal(err)
	}
	srv := newServer(t, site, nil)
	for _, tt := range []struct {
		query  string
		status int
		code   string
		used   string // slugs of what was observed
		page   bool
	}{
		{"a=flask&b=django", 404, "category_not_found", "flask django", true},
		{"a=flask&b=django&category=webserver", 404, "category_not_found", "flask django", true},
		{"a=flask&b=django&category=orm", 404, "tool_not_found", "flask", false},
		{"a=flask&b=django&category=nope", 404, "category_not_found", "", false},
		{"a=flask&b=prisma", 404, "tool_not_found", "flask", false}, // on different boards
		{"a=sanic&b=flask", 404, "tool_not_found", "sanic", false},  // not used
		{"a=flask&b=nothing", 404, "tool_not_found", "", false},
		{"a=flask&b=flask", 400, "invalid_request", "", false},
	} {
		resp := ask(srv, "GET", "/api/public/compare?"+tt.query)
		var got struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
			Observed    []struct {
				Slug string  `json:"slug"`
				Rate float64 `json:"useRate"`
			} `json:"observed"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
			t.Fatal(err)
		}
		var used []string
		for _, u := range got.Observed {
			if used = append(used, u.Slug); (u.Rate > 0) != (u.Slug != "sanic") {
				t.Errorf("%s: %+v", tt.query, u)
			}
		}
		if resp.StatusCode != tt.status || got.Error != tt.code || strings.Join(used, " ") != tt.used || strings.Contains(got.Description, base+"/compare/django-vs-flask compares them") != tt.page {
			t.Errorf("%s: %d %+v", tt.query, resp.StatusCode, got)
		}
	}
	if page := ask(srv, "GET", "/compare/django-vs-flask"); page.StatusCode != http.StatusOK {
		t.Errorf("the page of the comparison: %d", page.StatusCode)
	}
	a := tools.Call{Tool: "compareTools", Arguments: json.RawMessage(`{"a":"flask","b":"django"}`), Via: "mcp-test"}.Answer(site)
	if !a.Failed || !strings.Contains(string(a.JSON), `"slug":"django"`) || !strings.Contains(string(a.JSON), "/compare/django-vs-flask?via=mcp-test") {
		t.Errorf("compareTools: %s", a.JSON)
	}
}

// TestNoMarkIsFound: the walks above find what is not marked.
func TestNoMarkIsFound(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(`{"tools":[{"fieldRate":{"useRate":1}},{"fieldRate":{"observed":true,"useRate":1}}]}`), &doc); err != nil {
		t.Fatal(err)
	}
	if got := unmarked("x", doc, false); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := unmarkedLines("# OBSERVED\n73%\n## Other\n73%\n", "73%"); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// TestObservedTables: every row is marked, and a form that does not exist is an error.
func TestObservedTables(t *testing.T) {
	srv := newServer(t, sitetest.NewObserved(t), nil)
	for path, rows := range map[string]int{
		"/api/public/observed?category=webserver&format=csv": 14, "/api/public/leaderboard?kind=observed&category=Webserver&format=csv": 14, "/api/public/observed?category=orm&format=csv": 1,
	} {
		resp := ask(srv, "GET", path)
		table, err := csv.NewReader(strings.NewReader(body(t, resp))).ReadAll()
		if err != nil || len(table) <= rows || !strings.HasPrefix(resp.Header.Get("Content-Disposition"), `attachment; filename="observed-`) {
			t.Fatalf("%s: %v %v %q", path, err, resp.Header, table)
		}
		for at, head := range table[0] {
			for _, row := range table[1:] {
				if head == "observed" && row[at] != "true" || head == "useRate" && row[at] == "" || strings.Contains(head, "pick") || head == "language" && row[at] != "all" {
					t.Errorf("%s: %s of %q", path, head, row)
				}
			}
		}
	}
	prompts := body(t, ask(srv, "GET", "/api/public/prompts?category=webserver&format=csv"))
	if !strings.HasPrefix(prompts, "snapshot,synthetic,observed,category,eval,prompt,") {
		t.Errorf("prompts: %s", prompts)
	}
	for path, part := range map[string]string{
		"/api/public/leaderboard?kind=observed&category=orm&format=parquet": "json or csv", "/api/public/observed?category=orm&format=xml": "json or csv",
		"/api/public/observed?format=csv": "needs a category", "/api/public/prompts?category=webserver&format=parquet": "json or csv",
	} {
		if resp := ask(srv, "GET", path); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body(t, resp), part) {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
	}
}

// TestObservedIsFound: what was only observed is named by the search and by errors.
func TestObservedIsFound(t *testing.T) {
	site := sitetest.NewObserved(t)
	srv := newServer(t, site, nil)
	for path, want := range map[string]struct {
		status int
		parts  []string
	}{
		"/search?q=drizzle":                                   {200, []string{`"observedCategories":[{"name":"`, `"slug":"orm","observed":true,"url":"` + base + `/observed/orm"`}},
		"/search?q=drizle":                                    {200, []string{`"slug":"orm","observed":true`}},
		"/search?q=orm":                                       {200, []string{`"slug":"orm","observed":true`}},
		"/search?q=xyzzyxyz":                                  {200, []string{`"suggestions":[],"categories":[]}`}},
		"/api/public/report?q=drizzle":                        {404, []string{"tool_not_found", "/api/public/observed?category=orm", `"observed":[{"observed":true,"slug":"drizzle","category":"orm"`, `"uses":0`}}, // listed, and not used
		"/tools/drizzle":                                      {404, []string{"No trials measure this tool. Not used in 67 pull requests of Object-relational mappers (observed)."}},
		"/api/public/report?q=prisma":                         {404, []string{"tool_not_found", "/api/public/observed?category=orm", `"observed":[{"observed":true,"slug":"prisma","category":"orm"`, `"unit":"pull request"`, `"uses":`, `"url":"` + base + `/observed/orm"`}},
		"/api/public/report?q=stripe":                         {404, []string{"none of its categories is measured", "/api/public/leaderboard"}},
		"/api/public/compare?a=flask&b=django&category=orm":   {404, []string{"category_not_found", "This category does not rank both tools; webserver does."}},
		"/feed.atom?category=webserver&kind=nope":             {400, []string{"invalid_request", "kind must be trials or observed"}},
		"/api/public/leaderboard?category=orm":                {404, []string{"category_not_found", "/api/public/observed?category=orm"}},
		"/api/public/leaderboard?category=nope":               {404, []string{"category_not_found", "/api/public/leaderboard lists"}},
		"/api/public/observed?category=nope":                  {404, []string{"/api/public/observed lists"}},
		"/api/public/trials?category=orm":                     {404, []string{"/api/public/observed?category=orm"}},
		"/snapshots/ffffffffffffffffffff/manifest.json":       {404, []string{`"not_found"`, "/api/public/snapshots lists"}},
		"/snapshots/" + archivetest.Current + "/nothing.json": {404, []string{`"not_found"`, "manifest.json lists"}},
	} {
		resp := ask(srv, "GET", path, "Accept", "application/json")
		text := body(t, resp)
		for _, part := range want.parts {
			if resp.StatusCode != want.status || !strings.Contains(text, part) {
				t.Errorf("%s: %d without %s: %s", path, resp.StatusCode, part, text)
			}
		}
	}
	for _, accept := range []string{"text/html", "text/markdown"} {
		if page := body(t, ask(srv, "GET", "/search?q=drizzle", "Accept", accept)); !strings.Contains(page, "/observed/orm") || !strings.Contains(strings.ToLower(page), "observed: ") {
			t.Errorf("as %s: %s", accept, page)
		}
	}
	for tool, arguments := range map[string]string{"lookupTool": `{"query":"prisma"}`, "getPickRate": `{"tool":"prisma"}`, "getLeaderboard": `{"category":"orm"}`} {
		a := tools.Call{Tool: tool, Arguments: json.RawMessage(arguments)}.Answer(site)
		if !a.Failed || !strings.Contains(string(a.JSON), "Call getLeaderboard with kind observed") {
			t.Errorf("%s: %s", tool, a.JSON)
		}
	}
	if a := (tools.Call{Tool: "lookupTool", Arguments: json.RawMessage(`{"query":"prisma"}`)}).Answer(site); !strings.Contains(string(a.JSON), `"observed":[{"observed":true,"slug":"prisma","category":"orm"`) {
		t.Errorf("lookupTool: %s", a.JSON)
	}
}
