package views

import (
	"encoding/json"
	"html"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/render"
)

const manifest = `{"generator":"firstpick 1","catalog":"c7","extractor":"e9","evidence":"quotes","embargo":true,
"evals":[
 {"name":"web","category":"web","planned":90,"valid":80,"prompts":[{},{}],"agents":[
  {"name":"claude-code","asked":"opus","conditions":[
   {"kind":"claude_code","asked":"opus","reported":["opus-1"],"version":"2.0.1","web":"on","from":"2026-03-01T00:00:00Z","to":"2026-03-02T00:00:00Z","answers":30},
   {"kind":"claude_code","asked":"opus","reported":["opus-1"],"version":"2.0.2","web":"on","from":"2026-03-02T00:00:00Z","to":"2026-03-04T00:00:00Z","answers":1200}]}]},
 {"name":"pay","category":"payments","planned":5,"valid":5,"imported":true,"prompts":[{}],"agents":[
  {"name":"claude-code","asked":"opus","conditions":[
   {"kind":"claude_code","asked":"opus","reported":["opus-1"],"version":"2.0.2","web":"on","from":"2026-02-27T00:00:00Z","to":"2026-03-01T00:00:00Z","answers":34}]},
  {"name":"old","asked":"<b>gpt</b>","reported":["gpt-1"]}]}],
"observed":[{"name":"prs"}],
"files":[{"path":"trials.parquet","bytes":1234567},{"path":"boards/web.json","bytes":2000},{"path":"reports/web/flask.json","bytes":300},{"path":"reports/web/gin.json","bytes":400}]}`

// TestSnapshotPage: conditions that are alike on several boards are one line, in both forms.
func TestSnapshotPage(t *testing.T) {
	var m Manifest
	if err := json.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	b, _ := measured(1)
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc"}, Boards: []analytics.Board{b}})
	if err != nil {
		t.Fatal(err)
	}
	entry, at := 0, time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC)
	p, err := r.Snapshot(Snapshot{ID: "abc", AsOf: &at, PublishedAt: at, Boards: 2, Trials: 1270, Current: true, Retracted: "The wrong model.", Entry: &entry}, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{html.UnescapeString(string(p.HTML)), strings.ReplaceAll(string(p.Markdown), `\`, "")} {
		for _, part := range []string{
			"4 March 2026", "1,270", "quotes: the passages", "Texts of prompts are not published yet.", "2.0.1", "2.0.2", "1,234", "27 February 2026 – 4 March 2026", "2 boards", "opus-1",
			"firstpick verify https://x.example --snapshot abc", "Entry 0 of the", "1.2 MB", "2 files with the reports of tools", "of 90 planned", "imported", "prs", "/snapshots/abc/trials.parquet",
		} {
			if !strings.Contains(form, part) {
				t.Errorf("lacks %q:\n%s", part, form)
			}
		}
		if strings.Contains(form, "show another snapshot") || strings.Contains(form, "Retracted: The") {
			t.Error("the served snapshot is another, or its retraction is there twice")
		}
	}
	if strings.Contains(string(p.HTML), "<b>gpt") || strings.Count(string(p.HTML), "<td>2.0.2</td>") != 1 {
		t.Error("markup of a name, or a condition twice")
	}
}

// TestRetractedSite: every page says it.
func TestRetractedSite(t *testing.T) {
	b, _ := measured(1)
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example", SnapshotID: "abc", Retracted: "The wrong <b>model</b>.", Synthetic: true}, Boards: []analytics.Board{b}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range r.Paths() {
		p, err := r.Page(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(p.HTML), "This snapshot is retracted: <bdi>The wrong &lt;b&gt;model&lt;/b&gt;.</bdi>") || !strings.Contains(string(p.Markdown), "**This snapshot is retracted: ") {
			t.Errorf("%s does not say it", path)
		}
		for _, form := range [][]byte{p.HTML, p.Markdown} {
			if !strings.Contains(string(form), "Synthetic: these answers come from simulated agents. They are not a measurement.") {
				t.Errorf("%s does not say that agents are simulated", path)
			}
		}
	}
}
