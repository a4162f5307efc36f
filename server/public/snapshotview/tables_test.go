package snapshotview_test

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// TestObservedTableHasLanguages: the table of an observed board of several languages has the rates of each, and of
// each agent in each, without ranks, after those of the whole.
func TestObservedTableHasLanguages(t *testing.T) {
	in := sitetest.FieldBoards(t)
	b := &in.Observed[slices.IndexFunc(in.Observed, func(b observed.Board) bool { return b.Category == "webserver" })]
	first := b.Tools[0]
	use := observed.Use{UseRate: .75, CILow: .5, CIHigh: .9, Uses: 3}
	part := observed.Part{NUnits: 4, NRepos: 2, Warnings: []string{observed.FewUnits}, Tools: []observed.Rate{{Slug: first.Slug, Use: use}}}
	b.Languages = []observed.LanguageBoard{{Language: "Python", Part: part, Agents: []observed.AgentBoard{{Agent: "Codex", Part: part}}}, {Language: "Go", Part: observed.Part{}}}
	s, err := snapshotview.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	snapshotview.NewSender("").Send(w, httptest.NewRequest(http.MethodGet, "/", nil), s.ObservedBoard("webserver", snapshotview.AsCSV))
	table, err := csv.NewReader(w.Body).ReadAll()
	if err != nil || len(table) != 1+len(b.Tools)+2 {
		t.Fatalf("%v %q", err, table)
	}
	row := func(line []string) map[string]string {
		out := map[string]string{}
		for i, name := range table[0] {
			out[name] = line[i]
		}
		return out
	}
	if got := row(table[1]); got["language"] != "all" || got["agent"] != "all" || got["rank"] != "1" || got["slug"] != first.Slug {
		t.Errorf("the whole: %v", got)
	}
	for i, agent := range []string{"all", "Codex"} {
		got := row(table[len(table)-2+i])
		for name, want := range map[string]string{
			"language": "Python", "agent": agent, "rank": "", "rankLow": "", "rankHigh": "", "tool": first.Tool, "slug": first.Slug, "useRate": "0.75", "ciLow": "0.5", "ciHigh": "0.9",
			"uses": "3", "repos": "", "nUnits": "4", "nRepos": "2", "warnings": observed.FewUnits, "observed": "true",
		} {
			if got[name] != want {
				t.Errorf("%s is %q, not %q", name, got[name], want)
			}
		}
	}
}
