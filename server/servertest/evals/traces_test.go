package evals_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
)

// results is a server with a run that has ended, and the path of its traces.
func results(t *testing.T) (a *api, traces string) {
	t.Helper()
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	_, r := s.Ready(t, w)
	s.Finish(t, s.Begin(t), bundles)
	return newAPI(t, s, s.EvalKey(t, w)), "/api/v1/runs/" + r.ID + "/traces"
}

func ids(traces []map[string]any) []string {
	var out []string
	for _, trace := range traces {
		out = append(out, trace["id"].(string))
	}
	return out
}

// TestPagesOfTracesJoinUp: however long the pages, the list is the same, whole or in
// short, and so is the file of lines.
func TestPagesOfTracesJoinUp(t *testing.T) {
	a, path := results(t)
	all := a.get(path).is(200)
	want := ids(all.list("traces"))
	if len(want) != 11 || all.object()["nextCursor"] != nil || all.header.Get("Link") != "" {
		t.Fatalf("%d traces: %s", len(want), all.body)
	}
	for _, query := range []string{"?limit=1", "?limit=4", "?limit=1&fields=summary", "?limit=5&fields=summary", "?limit=3&fields=full&format=json"} {
		var got []string
		for next := path + query; next != ""; {
			page := a.get(next).is(200)
			list := page.list("traces")
			got = append(got, ids(list)...)
			if _, whole := list[0]["answer"]; whole == strings.Contains(query, "summary") {
				t.Errorf("%s: %v", next, list[0])
			}
			cursor := page.text("nextCursor")
			if next = ""; cursor != "" {
				next = path + query + "&cursor=" + url.QueryEscape(cursor)
				link, err := url.Parse(strings.TrimSuffix(strings.TrimPrefix(page.header.Get("Link"), "<"), `>; rel="next"`))
				if err != nil || link.Query().Get("cursor") != cursor || link.Path != path {
					t.Errorf("Link is %q", page.header.Get("Link"))
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", query, got, want)
		}
	}
	lines := a.get(path + "?format=ndjson").is(200)
	var fromLines []string
	for line := range strings.Lines(lines.body) {
		var trace map[string]any
		if err := json.Unmarshal([]byte(line), &trace); err != nil {
			t.Fatal(err)
		}
		fromLines = append(fromLines, trace["id"].(string))
		one := a.get(path + "/" + trace["id"].(string)).is(200)
		if one.body != line {
			t.Errorf("one is %s\nand its line %s", one.body, line)
		}
	}
	if !slices.Equal(fromLines, want) || lines.header.Get("Content-Type") != "application/x-ndjson" || !strings.HasSuffix(lines.header.Get("Content-Disposition"), `.ndjson"`) {
		t.Errorf("lines: %v %v", fromLines, lines.header)
	}
	if got := a.get(path, "Accept", "text/html, application/x-ndjson;q=0.9, application/json;q=0.1").is(200); got.body != lines.body {
		t.Errorf("by Accept: %s", got.body)
	}
	for _, id := range []string{"00000000000000000000", "x", strings.Repeat("0", 1000), "..%2f.."} {
		a.get(path+"/"+id).refused(404, "trial_not_found")
	}
	for _, id := range []string{strings.Repeat("0", 5000), "%00"} { // no path is so
		a.get(path+"/"+id).refused(404, "not_found")
	}
}

// TestFiltersOfTraces holds every filter to the entries themselves.
func TestFiltersOfTraces(t *testing.T) {
	a, path := results(t)
	all := a.get(path + "?fields=summary").is(200).list("traces")
	seen := map[string]bool{}
	for _, trace := range all {
		seen["outcome "+trace["outcome"].(string)] = true
		for _, name := range []string{"agent", "outcome", "picked", "prompt"} {
			value := trace[name].(string)
			if value == "" {
				continue
			}
			var want []string
			for _, other := range all {
				if other[name] == value {
					want = append(want, other["id"].(string))
				}
			}
			query := "?" + name + "=" + url.QueryEscape(value)
			for _, more := range []string{"", "&fields=summary", "&limit=200"} {
				if got := ids(a.get(path + query + more).is(200).list("traces")); !slices.Equal(got, want) {
					t.Errorf("%s: %v, not %v", query+more, got, want)
				}
			}
			if got := strings.Count(a.get(path+query+"&format=ndjson").is(200).body, "\n"); got != len(want) {
				t.Errorf("%s: %d lines, not %d", query, got, len(want))
			}
		}
	}
	outcomes := slices.Sorted(maps.Keys(seen))
	if len(outcomes) != 8 { // tool, diy, other, none, ambiguous, refused, truncated, excluded
		t.Errorf("the bundle has the outcomes %v only", outcomes)
	}
	open := a.get(path + "?outcome=unresolved").is(200).list("traces")
	if len(open) != 1 || open[0]["outcome"] != "ambiguous" || open[0]["unresolved"] != true {
		t.Errorf("unresolved: %v", open)
	}
	if result, _ := open[0]["result"].(map[string]any); result["rule"] == "" || result["firstNamed"] == "" || result["language"] != "en" {
		t.Errorf("result of the unresolved trial: %v", result)
	}
	if got := a.get(path + "?picked=nothing").is(200).list("traces"); len(got) != 0 {
		t.Errorf("what nobody picked: %v", got)
	}
	both := a.get(path + "?agent=opus&limit=1").is(200).text("nextCursor")
	a.get(path+"?agent=gpt&limit=1&cursor="+both).refused(400, "invalid_request")
}

// TestTheTableIsServedInParts: the Parquet file is the bundle's, whole or in ranges.
func TestTheTableIsServedInParts(t *testing.T) {
	a, path := results(t)
	files, err := filepath.Glob(bundles + "/*/trials.parquet")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	want, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	path += "?format=parquet"
	whole := a.get(path).is(200)
	if whole.body != string(want) || whole.header.Get("Content-Type") != "application/vnd.apache.parquet" || whole.header.Get("Accept-Ranges") != "bytes" {
		t.Errorf("%d bytes, not %d: %v", len(whole.body), len(want), whole.header)
	}
	if part := a.get(path, "Range", "bytes=4-9").is(206); part.body != string(want[4:10]) {
		t.Errorf("a part: %q", part.body)
	}
	if tail := a.get(path, "Range", "bytes=-4").is(206); tail.body != "PAR1" {
		t.Errorf("the end: %q", tail.body)
	}
	etag := whole.header.Get("ETag")
	if part := a.get(path, "Range", "bytes=0-3", "If-Range", etag).is(206); part.body != "PAR1" {
		t.Errorf("a part of the same: %q", part.body)
	}
	if other := a.get(path, "Range", "bytes=0-3", "If-Range", `"another"`).is(200); other.body != string(want) {
		t.Errorf("a part of another: %d bytes", len(other.body))
	}
	beyond := a.get(path, "Range", "bytes=999999-").refused(416, "range_not_satisfiable")
	if beyond.header.Get("Content-Range") == "" {
		t.Error("it does not say how long the file is")
	}
	if head := a.do(http.MethodHead, path, "").is(200); head.body != "" || head.header.Get("Content-Length") == "" {
		t.Errorf("HEAD: %v", head.header)
	}
}

// TestWhatTheCallerHasIsNotSentAgain: everything that can be asked for again has a
// strong ETag, is the same to HEAD, and is packed for who likes that.
func TestWhatTheCallerHasIsNotSentAgain(t *testing.T) {
	a, traces := results(t)
	eval := a.get("/api/v1/evals").is(200).list("evals")[0]["id"].(string)
	run := strings.TrimSuffix(traces, "/traces")
	trial := a.get(traces).list("traces")[0]["id"].(string)
	bodies := map[string]string{} // by ETag
	for _, path := range []string{
		"/api/v1/evals", "/api/v1/evals/" + eval, "/api/v1/evals/" + eval + "/versions/1", "/api/v1/evals/" + eval + "/runs", "/api/v1/runs", run,
		traces, traces + "?fields=summary", traces + "?agent=opus", traces + "?format=ndjson", traces + "?format=ndjson&agent=gpt", traces + "?format=parquet",
		traces + "/" + trial, run + "/compare?with=" + strings.TrimPrefix(run, "/api/v1/runs/"), run + "/explain?tool=flask", "/api/v1/provider-keys", "/api/v1/key",
	} {
		first := a.get(path, "Accept-Encoding", "identity").is(200)
		tag := first.header.Get("ETag")
		if !strings.HasPrefix(tag, `"`) || first.header.Get("Cache-Control") != "private, no-cache" || !strings.Contains(first.header.Get("Vary"), "Authorization") || first.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %v", path, first.header)
		}
		if other, known := bodies[tag]; known && other != first.body {
			t.Errorf("%s has the ETag of something else", path)
		}
		bodies[tag] = first.body
		for _, list := range []string{tag, `"x", W/` + tag, "*"} {
			if same := a.get(path, "If-None-Match", list, "Accept-Encoding", "identity"); same.status != 304 || same.body != "" || same.header.Get("ETag") != tag {
				t.Errorf("%s: %d %v with If-None-Match: %s", path, same.status, same.header, list)
			}
		}
		a.get(path, "If-None-Match", `"x"`).is(200)
		head := a.do(http.MethodHead, path, "", "Accept-Encoding", "identity").is(200)
		if head.body != "" || head.header.Get("ETag") != tag || head.header.Get("Content-Type") != first.header.Get("Content-Type") {
			t.Errorf("HEAD of %s: %v", path, head.header)
		}
		packed := a.get(path, "Accept-Encoding", "gzip").is(200)
		if packed.header.Get("Content-Encoding") == "" {
			if packed.body != first.body {
				t.Errorf("%s: other bytes", path)
			}
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader([]byte(packed.body)))
		if err != nil {
			t.Fatal(path, err)
		}
		data, err := io.ReadAll(z)
		if err != nil || string(data) != first.body || packed.header.Get("ETag") == tag {
			t.Errorf("%s: packed it is %d bytes, not %d: %v", path, len(data), len(first.body), err)
		}
	}
	old := a.get("/api/v1/provider-keys").header.Get("ETag")
	a.do("PUT", "/api/v1/provider-keys/NEW_KEY", `{"value":"sk-12345678"}`).is(200)
	a.get("/api/v1/provider-keys", "If-None-Match", old).is(200)
}

// TestPagesOfRunsJoinUp, in spite of runs that were started in one moment.
func TestPagesOfRunsJoinUp(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		a := newAPI(t, s, s.EvalKey(t, w))
		e, r := s.Ready(t, w)
		want := []string{r.ID}
		for range 6 {
			want = append(want, a.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`).is(202).text("id"))
		}
		slices.Sort(want)
		for _, list := range []string{"/api/v1/runs?limit=2", "/api/v1/evals/" + e.ID + "/runs?limit=3", "/api/v1/runs?limit=1&status=queued&eval=" + e.ID} {
			var got []string
			for next := list; next != ""; {
				page := a.get(next).is(200)
				got = append(got, ids(page.list("runs"))...)
				_, next, _ = strings.Cut(strings.TrimSuffix(page.header.Get("Link"), `>; rel="next"`), s.URL)
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, not %v", list, got, want)
			}
		}
		for _, name := range []string{"b-two", "a-one", "c-three"} {
			a.do("POST", "/api/v1/evals", strings.Replace(servertest.EvalText, "web-weekly", name, 1)).is(201)
		}
		var names []any
		for next := "/api/v1/evals?limit=1"; next != ""; {
			page := a.get(next).is(200)
			for _, one := range page.list("evals") {
				names = append(names, one["name"])
			}
			_, next, _ = strings.Cut(strings.TrimSuffix(page.header.Get("Link"), `>; rel="next"`), s.URL)
		}
		if !slices.Equal(names, []any{"a-one", "b-two", "c-three", "web-weekly"}) {
			t.Errorf("evals: %v", names)
		}
	})
}
