package servertest_test

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/public/archive/archivetest"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

func archiveServer(t *testing.T, trials int) (*server.Server, *archivetest.Source) {
	t.Helper()
	source := archivetest.New(t, trials, sitetest.Hostile)
	return newServer(t, sitetest.NewTagged(t), func(c *server.Config) { c.Archive = source }), source
}

// TestFilesOfSnapshots: listed files are served whole and in parts, for ever; nothing else.
func TestFilesOfSnapshots(t *testing.T) {
	srv, source := archiveServer(t, 20)
	if err := os.Symlink("/etc/passwd", filepath.Join(source.Root, "log", "tile", "0", "001")); err != nil {
		t.Fatal(err)
	}
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return `"` + hex.EncodeToString(sum[:]) + `"`
	}
	const forever, id = "public, max-age=31536000, immutable", archivetest.Current
	for path, want := range map[string]struct {
		status                   int
		kind, cache, etag, start string
	}{
		"/snapshots/" + id + "/manifest.json":                   {200, "application/json; charset=utf-8", forever, `"` + id + `"`, `{"schemaVersion"`},
		"/snapshots/" + id + "/manifest.sig":                    {200, "text/plain; charset=utf-8", "no-cache", digest("c2ln\n"), "c2ln"},
		"/snapshots/" + id + "/boards/webserver.json":           {200, "application/json; charset=utf-8", forever, digest("{}\n"), "{}"},
		"/snapshots/" + id + "/trials.parquet":                  {200, "application/vnd.apache.parquet", forever, digest("PAR1 of trials PAR1"), "PAR1"},
		"/snapshots/" + id + "/trials/webserver/web/traces.zst": {200, "application/zstd", forever, "", "\x28\xb5\x2f\xfd"},
		"/snapshots/" + id + "/trials/webserver/web/traces.idx": {200, "application/octet-stream", forever, "", "fpTrace1"},
		"/log/checkpoint":                                           {200, "text/plain; charset=utf-8", "no-cache", digest("firstpick.example\n1\n"), "firstpick.example"},
		"/log/tile/0/000.p/1":                                       {200, "application/octet-stream", forever, digest("tile"), "tile"},
		"/log/tile/0/001":                                           {500, "", "", "", `{"error":"server_error"`},
		"/log/tile/0/x00/../../../secret":                           {404, "", "", "", `{"error":"not_found"`},
		"/log/secret":                                               {404, "", "", "", `{"error":"not_found"`},
		"/snapshots/" + id + "/secret":                              {404, "", "", "", `{"error":"not_found"`},
		"/snapshots/" + id + "/../secret":                           {404, "", "", "", `{"error":"not_found"`},
		"/snapshots/" + id + "/boards%2Fwebserver.json":             {200, "application/json; charset=utf-8", forever, digest("{}\n"), "{}"},
		"/snapshots/" + id + "/%2e%2e/secret":                       {404, "", "", "", `{"error":"not_found"`},
		"/snapshots/" + strings.ToUpper(id) + "/manifest.json":      {404, "", "", "", `{"error":"not_found"`},
		"/snapshots/current/manifest.json":                          {404, "", "", "", `{"error":"not_found"`},
		"/api/public/leaderboard?category=webserver&format=parquet": {302, "", "no-cache", "", ""},
	} {
		resp := ask(srv, "GET", path)
		text, head := body(t, resp), resp.Header
		if resp.StatusCode != want.status || !strings.HasPrefix(text, want.start) {
			t.Errorf("%s: %d, want %d with %q in %.200s", path, resp.StatusCode, want.status, want.start, text)
		}
		if want.cache != "" && head.Get("Cache-Control") != want.cache || want.etag != "" && head.Get("ETag") != want.etag || want.kind != "" && head.Get("Content-Type") != want.kind || head.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, head)
		}
		if want.status != 200 {
			continue
		}
		if head.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(head.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s could act in a browser: %v", path, head)
		}
		if again := ask(srv, "GET", path, "If-None-Match", head.Get("ETag")); again.StatusCode != 304 {
			t.Errorf("%s: known, %d", path, again.StatusCode)
		}
		if part := ask(srv, "GET", path, "Range", "bytes=1-3"); part.StatusCode != 206 || body(t, part) != text[1:min(4, len(text))] {
			t.Errorf("%s: a range, %d", path, part.StatusCode)
		}
		if other := ask(srv, "GET", path, "Range", "items=0-5"); other.StatusCode != 200 || body(t, other) != text {
			t.Errorf("%s: another unit of ranges, %d", path, other.StatusCode)
		}
		if beyond := ask(srv, "GET", path, "Range", "bytes=99999999-"); beyond.StatusCode != 416 || !strings.Contains(body(t, beyond), `"range_not_satisfiable"`) {
			t.Errorf("%s: beyond its end, %d", path, beyond.StatusCode)
		}
		if short := ask(srv, "HEAD", path); short.StatusCode != 200 || body(t, short) != "" || short.Header.Get("ETag") != head.Get("ETag") {
			t.Errorf("%s: HEAD, %d", path, short.StatusCode)
		}
	}
	source.Write(t, "boards/webserver.json", "{ }\n")
	if resp := ask(srv, "GET", "/snapshots/"+id+"/boards/webserver.json"); resp.StatusCode != 500 {
		t.Errorf("a file of another size: %d", resp.StatusCode)
	}
}

// TestListsAreMadeOnce for each state of the place.
func TestListsAreMadeOnce(t *testing.T) {
	srv, source := archiveServer(t, 20)
	read := func() {
		for path, want := range map[string]string{
			"/api/public/snapshots":                                 `"id":"` + archivetest.Current + `","asOf":"2026-05-06T07:08:09Z"`,
			"/api/public/history?category=webserver&tool=flask":     `"synthetic":true,"breaks":[],"tools":[{"slug":"flask"`,
			"/api/public/changes?since=2026-04-30":                  `"field":2,"significant":1,"changes":[{"category":"webserver","tool":"flask"`,
			"/api/public/changes?since=2020-01-01&limit=1":          `"older":{"id":"` + archivetest.Older,
			"/api/public/changes?since=" + archivetest.Current:      `"field":0,"significant":0,"changes":[]`,
			"/api/public/changes?since=2026-05-06":                  `"field":0`,
			"/api/public/changes?since=" + archivetest.Older + "&x": `"synthetic":true`,
		} {
			if resp := ask(srv, "GET", path); resp.StatusCode != 200 || !strings.Contains(body(t, resp), want) {
				t.Errorf("%s: %d without %s", path, resp.StatusCode, want)
			}
		}
	}
	read()
	read()
	if n := source.Calls.Load(); n != 3 {
		t.Errorf("the place was read %d times", n)
	}
	for path, want := range map[string]int{
		"/api/public/history": 400, "/api/public/history?category=nope": 404, "/api/public/history?category=webserver&tool=stripe": 404,
		"/api/public/changes": 400, "/api/public/changes?since=yesterday": 400, "/api/public/changes?since=2026-05-01&category=nope": 404, "/api/public/changes?since=2026-05-01&limit=0": 400,
		"/api/public/history?category=%zz": 400,
	} {
		if resp := ask(srv, "GET", path); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
	bare := newServer(t, sitetest.NewTagged(t), func(c *server.Config) { c.Archive = nil })
	for path, want := range map[string]string{
		"/api/public/snapshots": `{"snapshots":[]}`, "/api/public/history?category=webserver": `"nights":[]`, "/api/public/trials?category=webserver": `"trials":[],"next_cursor":null`,
	} {
		if resp := ask(bare, "GET", path); resp.StatusCode != 200 || !strings.Contains(body(t, resp), want) {
			t.Errorf("without an archive: %s: %d", path, resp.StatusCode)
		}
	}
}

type trialPage struct {
	Trials []struct{ ID, Prompt, Agent, Outcome, Picked, URL string }
	Next   *string `json:"next_cursor"`
}

// TestTrialsByPage: pages of any length hold all trials once, in one order.
func TestTrialsByPage(t *testing.T) {
	srv, _ := archiveServer(t, 20)
	all := func(query string) (ids []string) {
		cursor := ""
		for range 100 {
			resp := ask(srv, "GET", "/api/public/trials?"+query+"&cursor="+url.QueryEscape(cursor))
			var page trialPage
			if err := json.Unmarshal([]byte(body(t, resp)), &page); err != nil || resp.StatusCode != 200 {
				t.Fatalf("%s: %d %v", query, resp.StatusCode, err)
			}
			for _, trial := range page.Trials {
				ids = append(ids, trial.ID)
			}
			if page.Next == nil {
				return ids
			}
			if cursor = *page.Next; !strings.Contains(strings.Join(resp.Header["Link"], ","), `rel="next"`) {
				t.Errorf("%s: no link to the next page", query)
			}
		}
		t.Fatalf("%s: no end", query)
		return nil
	}
	whole := all("category=webserver")
	if len(whole) != 40 || len(slices.Compact(slices.Sorted(slices.Values(whole)))) != 40 {
		t.Fatalf("%d trials", len(whole))
	}
	for _, limit := range []string{"1", "7", "20", "39", "1000"} {
		if got := all("category=webserver&limit=" + limit); !slices.Equal(got, whole) {
			t.Errorf("limit %s: %d trials, or in another order", limit, len(got))
		}
	}
	for query, want := range map[string]int{
		"tool=flask": 16, "category=webserver&tool=flask.palletsprojects.com&outcome=none": 0, "category=webserver&outcome=none": 8, "category=webserver&agent=a": 20,
		"category=webserver&prompt=web/p0": 7, "category=webserver&prompt=team/web:2/p0": 7, "category=webserver&prompt=p0": 14,
	} {
		if got := all(query + "&limit=3"); len(got) != want {
			t.Errorf("%s: %d trials, want %d", query, len(got), want)
		}
	}
	for path, want := range map[string]int{
		"/api/public/trials": 400, "/api/public/trials?category=nope": 404, "/api/public/trials?tool=nope": 404, "/api/public/trials?category=webserver&outcome=x": 400,
		"/api/public/trials?category=webserver&limit=1001": 400, "/api/public/trials?category=webserver&cursor=x": 400, "/api/public/trials?category=webserver&cursor=abc.0.AAAA": 400,
		"/api/public/trials?category=webserver&cursor=abc.9.": 400, "/api/public/trials?category=webserver&cursor=other.0.": 400, "/api/public/trials?category=webserver&format=xml": 400,
		"/api/public/trials?category=webserver&agent=nobody": 400, "/api/public/trials?category=webserver&prompt=nothing/p0": 400, "/api/public/trials?category=webserver&prompt=web/p9&format=csv": 400,
		"/api/public/trials/00000000000000000000": 404, "/api/public/trials/x": 404, "/api/public/trials?category=" + strings.Repeat("x", 301): 400,
	} {
		if resp := ask(srv, "GET", path); resp.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, resp.StatusCode, want)
		}
	}
}

// TestTrialsOfAnyEval: every prompt of the list leads to its trials, and every trial to its eval.
func TestTrialsOfAnyEval(t *testing.T) {
	srv, _ := archiveServer(t, 20)
	var page trialPage
	if err := json.Unmarshal([]byte(body(t, ask(srv, "GET", "/api/public/trials?category=webserver"))), &page); err != nil {
		t.Fatal(err)
	}
	evals := map[string]int{}
	for _, trial := range page.Trials {
		var whole struct{ Eval, Trial string }
		if err := json.Unmarshal([]byte(body(t, ask(srv, "GET", "/api/public/trials/"+trial.ID))), &whole); err != nil || !strings.HasPrefix(trial.Prompt, whole.Eval+"/p") {
			t.Errorf("trial %s of prompt %q is of eval %q: %v", trial.ID, trial.Prompt, whole.Eval, err)
		}
		evals[whole.Eval]++
		resp := ask(srv, "GET", analytics.TrialsPath("webserver", trial.Prompt, "")+"&limit=1000")
		if text := body(t, resp); !strings.Contains(text, trial.ID) {
			t.Errorf("the trials of %q lack %s: %d %.200s", trial.Prompt, trial.ID, resp.StatusCode, text)
		}
	}
	if evals["web"] != 20 || evals["team/web:2"] != 20 || len(evals) != 2 {
		t.Errorf("evals %v", evals)
	}
	for query, want := range map[string]string{"agent=aa": `"suggestions":["a"]`, "prompt=team/web/p0": `"team/web:2/p0"`, "agent=a&outcome=refused": `"trials":[]`} {
		if text := body(t, ask(srv, "GET", "/api/public/trials?category=webserver&"+query)); !strings.Contains(text, want) {
			t.Errorf("%s: no %s in %s", query, want, text)
		}
	}
}

// TestRemovedSnapshot: the trials of a snapshot whose files are gone come back later.
func TestRemovedSnapshot(t *testing.T) {
	srv, source := archiveServer(t, 20)
	if err := os.RemoveAll(filepath.Join(source.Root, trialset.Root)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/api/public/trials?category=webserver", "/api/public/trials/" + archivetest.Trial} {
		if resp := ask(srv, "GET", path); resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" || !strings.Contains(body(t, resp), "were removed") {
			t.Errorf("%s: %d %v", path, resp.StatusCode, resp.Header)
		}
	}
}

// TestHostileTextIsInert: what agents and authors wrote stays text in JSON and in tables.
func TestHostileTextIsInert(t *testing.T) {
	srv, _ := archiveServer(t, 20)
	for _, path := range []string{"/api/public/trials/" + archivetest.Trial, "/api/public/prompts?category=webserver"} {
		resp := ask(srv, "GET", path)
		text := body(t, resp)
		if resp.StatusCode != 200 || strings.ContainsAny(text, "<>&\u202e\u2028\x1b\U000e0041") || !json.Valid([]byte(text)) || resp.Header.Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%s: %d %q", path, resp.StatusCode, text)
		}
		var doc any
		if err := json.Unmarshal([]byte(text), &doc); err != nil || !contains(doc, sitetest.Hostile) {
			t.Errorf("%s does not say the same: %v %s", path, err, text)
		}
	}
	trial := body(t, ask(srv, "GET", "/api/public/trials/"+archivetest.Trial))
	var parts struct{ Notice, Untrusted json.RawMessage }
	if err := json.Unmarshal([]byte(trial), &parts); err != nil || len(parts.Notice) == 0 || strings.Contains(strings.Replace(trial, string(parts.Untrusted), "", 1), "ignore all rules") {
		t.Errorf("quoted text is beside the member untrusted: %s", trial)
	}
	resp := ask(srv, "GET", "/api/public/trials?category=webserver&format=csv&limit=3")
	rows, err := csv.NewReader(strings.NewReader(body(t, resp))).ReadAll()
	if err != nil || len(rows) != 4 || rows[2][6] != "'=b()" || rows[1][1] != "false" || !strings.HasPrefix(resp.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%v %v %q", err, resp.Header, rows)
	}
	board := ask(srv, "GET", "/api/public/leaderboard?category=webserver&format=csv")
	rows, err = csv.NewReader(strings.NewReader(body(t, board))).ReadAll()
	if err != nil || len(rows) != 15 || rows[0][2] != "synthetic" || rows[0][3] != "observed" || rows[1][9] != "flask" || board.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
		board.Header.Get("Content-Disposition") != `attachment; filename="webserver-abc.csv"` || board.Header.Get("ETag") == "" {
		t.Errorf("%v %v %q", err, board.Header, rows)
	}
}

// contains reports whether a value holds a text.
func contains(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return v == text
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return contains(x, text) })
	case map[string]any:
		for _, x := range v {
			if contains(x, text) {
				return true
			}
		}
	}
	return false
}

// TestToolsOverHTTP: what MCP answers is answered over plain HTTP too.
func TestToolsOverHTTP(t *testing.T) {
	srv, _ := archiveServer(t, 20)
	for path, want := range map[string]struct {
		status int
		part   string
	}{
		"/api/public/compare?a=flask&b=django":                       {200, `"byAgent":[{"agent":"a"`},
		"/api/public/compare?a=flask&b=flask":                        {400, "names the same tool as a: flask"},
		"/api/public/compare?a=flask":                                {400, "b is missing"},
		"/api/public/compare?a=flask&b=flsk":                         {404, `"suggestions":["flask"`},
		"/api/public/lookup?packages=pypi:flask,left-pad":            {200, `"unknown":["left-pad"]`},
		"/api/public/lookup?packages=" + strings.Repeat("x,", 200):   {400, "must have 1 to 200 items"},
		"/api/public/lookup?packages=" + strings.Repeat("x", 20_000): {400, `"invalid_request"`},
		"/api/public/prompts":                                        {400, "category is missing"},
		"/api/public/prompts?category=nope":                          {404, `"category_not_found"`},
		"/api/public/prompts?category=webserver":                     {200, `"snapshot":"abc","synthetic":false,"prompts":[{"eval":""`},
		"/api/public/leaderboard?category=webserver&format=xml":      {400, "format is json, csv or parquet"},
		"/api/public/leaderboard?format=csv":                         {400, "need a category"},
		"/api/public/leaderboard?category=webserver&format=json":     {200, `"tools":[{"rank":1`},
		"/api/public/report?q=flask":                                 {200, `"byPrompt":[{"prompt":"p00"`},
	} {
		if resp := ask(srv, http.MethodGet, path); resp.StatusCode != want.status {
			t.Errorf("%.80s: %d, want %d", path, resp.StatusCode, want.status)
		} else if text := body(t, resp); !strings.Contains(text, want.part) {
			t.Errorf("%.80s: no %s in %s", path, want.part, text)
		}
	}
}
