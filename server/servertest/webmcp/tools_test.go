package webmcp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/servertest/chrome"
)

// offered are the names of the tools that pages offer by script.
func offered() (names []string) {
	for _, t := range tools.Tools() {
		if t.Public() {
			names = append(names, t.Name)
		}
	}
	return names
}

// A tool is one as the browser tells of it.
type tool struct {
	Name, Title, Description string
	InputSchema              any
	ReadOnly, Untrusted      bool
}

// toolsOf waits until the page has offered its tools, and returns all.
func toolsOf(b *chrome.Tab) map[string]tool {
	b.Until("all tools are offered", `document.modelContext.getTools().then(t => { window.offered = t.length }) && window.offered === 7`)
	out := map[string]tool{}
	for _, t := range chrome.Eval[[]tool](b, `document.modelContext.getTools().then(tools => tools.map(t => ({
		Name: t.name, Title: t.title, Description: t.description, InputSchema: typeof t.inputSchema === "string" ? JSON.parse(t.inputSchema) : t.inputSchema,
		ReadOnly: !!t.annotations?.readOnlyHint, Untrusted: !!t.annotations?.untrustedContentHint,
	})))`) {
		out[t.Name] = t
	}
	return out
}

// execute calls a tool as an agent in the browser does.
func execute(b *chrome.Tab, name, arguments string) string {
	return chrome.Eval[string](b, `document.modelContext.getTools().then(tools =>
		document.modelContext.executeTool(tools.find(t => t.name === "`+name+`"), `+arguments+`))`)
}

// TestPagesOfferTheTools: the tools of pages are those of the one list, to the letter,
// but for the one that needs a token.
func TestPagesOfferTheTools(t *testing.T) {
	b := newTab(t, newServer(t).URL, "WebMCP")
	for _, path := range []string{"/", "/leaderboards/webserver", "/search", "/tools/flask", "/compare"} {
		b.Open(path)
		got := toolsOf(b)
		for _, want := range tools.Tools() {
			if !want.Public() {
				if _, there := got[want.Name]; there {
					t.Errorf("%s offers %s, which pages cannot call", path, want.Name)
				}
				continue
			}
			var schema any
			if err := json.Unmarshal(want.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tool{want.Name, want.Title, want.Description, schema, want.Annotations.ReadOnly, false}, got[want.Name]); d != "" {
				t.Errorf("%s: %s", path, d)
			}
		}
		find, _ := json.Marshal(got["findTool"])
		if !strings.Contains(string(find), `"required":["q"]`) || got["findTool"].Description == "" {
			t.Errorf("%s: the form is %s", path, find)
		}
	}
}

// TestToolsAnswer: a tool of a page answers what the list of tools says, tagged, and its
// failures can be read.
func TestToolsAnswer(t *testing.T) {
	s := newServer(t)
	b := newTab(t, s.URL, "WebMCP")
	b.Open("/leaderboards/webserver")
	toolsOf(b)
	at := sitetest.New(t, 1)
	for _, c := range []struct{ tool, arguments string }{
		{tools.GetLeaderboard, `{}`},
		{tools.GetLeaderboard, `{"category":"webserver","limit":2}`},
		{tools.GetLeaderboard, `{"category":"webservers"}`},
		{tools.GetPickRate, `{"tool":"flask"}`},
		{tools.GetPickRate, `{"tool":"flaks"}`},
		{tools.GetPickRate, `{"name":"flask","limit":-1}`},
		{tools.LookupTool, `{"query":"bottle"}`},
	} {
		want := tools.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments), Via: "webmcp"}.Answer(at)
		if got := execute(b, c.tool, c.arguments); !same(t, got, string(want.JSON)) {
			t.Errorf("%s %s answers\n%s\nwant\n%s", c.tool, c.arguments, got, want.JSON)
		}
	}
	for query, want := range map[string]string{
		"Flask":    `{"query":"Flask","tool":{"tool":"Flask","slug":"flask","category":"webserver","url":"` + sitetest.Base + `/tools/flask?via=webmcp"},"suggestions":[],"categories":[]}`,
		"webserve": `{"query":"webserve","tool":null,"suggestions":[],"categories":[{"name":"Python web frameworks","slug":"webserver","url":"` + sitetest.Base + `/leaderboards/webserver?via=webmcp"}],"observedCategories":[{"name":"Python web frameworks","slug":"webserver","observed":true,"url":"` + sitetest.Base + `/observed/webserver?via=webmcp"}]}`,
		"zzzzzz":   `{"query":"zzzzzz","tool":null,"suggestions":[],"categories":[]}`,
	} {
		if got := execute(b, "findTool", `{"q":"`+query+`"}`); !same(t, got, want) {
			t.Errorf("findTool %s answers\n%s\nwant\n%s", query, got, want)
		}
	}
	if at := chrome.Eval[string](b, `location.pathname`); at != "/leaderboards/webserver" {
		t.Errorf("the page is left for %s", at)
	}
	s.Stop()
	if got := execute(b, tools.GetPickRate, `{"tool":"flask"}`); !strings.Contains(got, `"error":"temporarily_unavailable"`) {
		t.Errorf("without a server it answers %s", got)
	}
}

func same(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return cmp.Equal(x, y)
}

// TestWithoutWebMCP: a browser that knows nothing of it fetches nothing for it, and shows
// the same page.
func TestWithoutWebMCP(t *testing.T) {
	s := newServer(t)
	b := newTab(t, s.URL)
	b.Open("/")
	b.Until("the page is loaded", `document.readyState === "complete"`)
	got := chrome.Eval[[]string](b, `performance.getEntriesByType("resource").map(e => new URL(e.name).pathname)`)
	for _, path := range got {
		if !strings.HasPrefix(path, "/assets/") {
			t.Errorf("the page fetches %s", path)
		}
	}
	if len(got) == 0 || len(got) > 5 { // style, font, icon, and two scripts
		t.Errorf("the page fetches %q", got)
	}
}

// TestFindingWithoutScript: the form leads to the page of a tool, and shows what is near.
func TestFindingWithoutScript(t *testing.T) {
	b := newTab(t, newServer(t).URL)
	b.NoScript(true)
	for query, want := range map[string]string{"flask": "/tools/flask", "Flask ": "/tools/flask", "flaks": "/search", "": "/search"} {
		b.Open("/search?q=" + strings.ReplaceAll(query, " ", "+"))
		if got := chrome.Eval[string](b, `location.pathname`); got != want {
			t.Errorf("%q leads to %s, want %s", query, got, want)
		}
	}
	b.Open("/search?q=flaks")
	if got := chrome.Eval[string](b, `document.querySelector("main th a").getAttribute("href")`); got != "/tools/flask" {
		t.Errorf("near flaks is %s", got)
	}
}

// TestSearchForPrograms: the search speaks JSON and markdown to who asks for them, and no
// query breaks it.
func TestSearchForPrograms(t *testing.T) {
	s := newServer(t)
	for _, query := range []string{"flask", "flaks", "", "%00", "%ff%fe", "%3Cscript%3E", strings.Repeat("a", 5000), "a&q=b", "%"} {
		for _, accept := range []string{"text/html", "application/json", "text/markdown", "*/*"} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/search?q="+query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Accept", accept)
			resp, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			body := read(t, resp)
			found := resp.StatusCode == http.StatusSeeOther && query == "flask" && resp.Header.Get("Location") == "/tools/flask"
			media := strings.HasPrefix(resp.Header.Get("Content-Type"), strings.ReplaceAll(accept, "*/*", "text/html"))
			if !found && (resp.StatusCode != http.StatusOK || !media) || resp.Header.Get("Vary") != "Accept" || strings.Contains(body, "<script>") || len(body) > 15_000 { // the query stands there at most twice, and shortened
				t.Errorf("%.40q as %s: %d %v\n%.300s", query, accept, resp.StatusCode, resp.Header, body)
			}
		}
	}
}
