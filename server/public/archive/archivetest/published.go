package archivetest

import (
	"fmt"
	"strings"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/views"
)

// tasks are what the prompts of Published ask for.
var tasks = []string{"an admin page", "a JSON API", "a webhook receiver", "a dashboard", "a file upload service", "a chat backend"}

// picks are what each agent of Published picks, in turn.
var picks = map[string][]string{
	"claude-3-5-sonnet-20241022": {"fastapi", "fastapi", "flask", "fastapi"},
	"gemini-1.5-pro-002":         {"flask", "flask", "django", "flask"},
	"gpt-4o-2024-08-06":          {"flask", "django", "flask", "fastapi"},
	"llama-3.1-405b-instruct":    {"flask", "", "flask", "tornado"},
}

// agents of Published, sorted.
var agents = []string{"claude-3-5-sonnet-20241022", "gemini-1.5-pro-002", "gpt-4o-2024-08-06", "llama-3.1-405b-instruct"}

// Published returns a site whose links lead somewhere, with its archive: one board, webserver,
// of 24 prompts and four agents that differ, made of the trials that the archive has; a snapshot
// before, with what moved since; and the observed boards of sitetest.FieldStudy.
func Published(t testing.TB) (*snapshotview.Site, *Source) {
	t.Helper()
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("webserver")
	const repeats = 3
	var cells []analytics.Cell
	var examples []analytics.Example
	traces := map[string][]trialset.Trace{}
	design := analytics.Design{Tags: map[string]map[string]string{}}
	for p := range 24 {
		id := fmt.Sprintf("p%02d", p)
		design.Tags["web/"+id] = map[string]string{"ecosystem": []string{"python", "node"}[p%2]}
		for a, agent := range agents {
			picked := picks[agent][(p+p/4)%4]
			cell := analytics.Cell{Prompt: "web/" + id, Agent: agent, Template: "none", Trials: repeats, LastAt: sitetest.AsOf()}
			if picked == "" {
				cell.Outcomes.None = repeats
			} else {
				cell.Outcomes.Tool, cell.Tools = repeats, []analytics.ToolCount{{Slug: picked, Picks: repeats, Shortlists: repeats, Defaults: repeats}}
			}
			cells = append(cells, cell)
			for k := range repeats {
				trace := answer(fmt.Sprintf("%020x", 1+1000*p+100*a+k), id, agent, picked, 1+k)
				if p == 0 && a == 0 && k == 0 {
					trace.ID = Trial
				}
				traces["web"] = append(traces["web"], trace)
				examples = append(examples, analytics.Example{
					Trial: trace.ID, Agent: agent, Prompt: cell.Prompt, Outcome: trace.Outcome, Picked: picked, Quote: trace.Result.Evidence[0].Quote, URL: analytics.TrialPath(trace.ID),
				})
			}
		}
	}
	measured := analytics.Measurement{Category: category, Cells: cells, Planned: 288, Design: design}
	board := analytics.Rank(measured)
	board.Prompts = measured.Prompts()
	for i := range board.Prompts {
		board.Prompts[i].Text, board.Prompts[i].SHA256 = fmt.Sprintf("Build %s for team %d. Choose a framework and say why.", tasks[i%len(tasks)], i), strings.Repeat("0", 64)
	}
	board.AddExamples(examples)
	for _, err := range analytics.Check(board) {
		t.Error(err)
	}
	in := sitetest.FieldBoards(t)
	in.ID, in.AsOf, in.Now, in.BaseURL, in.Refs, in.Boards = Current, sitetest.AsOf(), sitetest.AsOf(), sitetest.Base, c.Refs(), []analytics.Board{board}
	in.Trials, in.Evidence, in.Before = true, "full", Older
	before, now := nights.Line{At: in.AsOf.AddDate(0, -1, 0), Snapshot: Older, Breaks: []string{}}, nights.Line{At: in.AsOf, Snapshot: Current, Breaks: []string{"agent a: model"}}
	for _, s := range board.Tools {
		line := nights.Tool{Slug: s.Slug, PickRate: s.PickRate, CILow: s.CILow, CIHigh: s.CIHigh, NTrials: s.NTrials, Shown: []nights.Shown{}}
		now.Tools = append(now.Tools, line)
		line.PickRate, line.CILow = line.PickRate*.8, line.CILow*.8
		before.Tools = append(before.Tools, line)
	}
	first := board.Tools[0]
	in.Moves = []views.Move{{
		Category: "webserver", Board: board.Name, Slug: first.Slug, Tool: first.Tool,
		From: first.PickRate * .8, To: first.PickRate, Diff: first.PickRate * .2, Low: .01, High: first.PickRate * .4, Significant: true,
	}}
	in.Trends = []nights.Series{{Category: "webserver", Nights: []nights.Line{before, now}}}
	site, err := snapshotview.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	source := write(t, traces)
	source.line = []nights.Line{before, now}
	return site, source
}

// answer is a trial that picked a tool, or none.
func answer(id, prompt, agent, picked string, repeat int) trialset.Trace {
	e := trialset.Entry{ID: id, Agent: agent, Prompt: prompt, Template: "none", Repeat: repeat, Outcome: "tool", Picked: picked}
	text := fmt.Sprintf("I would use %s here: it is small, well documented and quick to deploy.", picked)
	if picked == "" {
		e.Outcome, text = "none", "No framework is needed here: the standard library will do, not even flask."
	}
	return trialset.Trace{
		Entry:  e,
		Result: &trialset.Result{Shortlist: []string{}, Rejected: []string{}, Method: "statement", Level: 2, Evidence: []trialset.Evidence{{Tool: picked, Level: 2, Kind: "statement", In: trialset.InText, Quote: text}}},
		Answer: &trialset.Answer{FinalText: text, Structured: []byte("null")},
	}
}
