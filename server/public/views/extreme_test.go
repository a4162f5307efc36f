package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/inert"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/views"
)

// extreme returns the renderer of a board of so many tools. picked returns the tool of an
// agent's only answer to a prompt, -1 for no tool.
func extreme(t *testing.T, tools, agents, prompts int, picked func(agent, prompt int) int) *views.Renderer {
	t.Helper()
	c := &catalog.Category{Slug: "c", Name: "Board", Domain: catalog.DevTools}
	for i := range tools {
		c.Entries = append(c.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: fmt.Sprintf("t%d", i), Name: fmt.Sprintf("Tool%c", 'A'+i), Home: c}})
	}
	var groups []analytics.Group
	design := analytics.Design{Tags: map[string]map[string]string{}}
	for p := range prompts {
		name := fmt.Sprintf("eval/p%02d", p)
		design.Tags[name] = map[string]string{"ecosystem": []string{"go", "npm"}[p%2]}
		for a := range agents {
			g := analytics.Group{Prompt: name, Agent: fmt.Sprintf("agent-%02d", a), Outcome: pick.None, Trials: 1, LastAt: sitetest.AsOf()}
			if i := picked(a, p); i >= 0 {
				g.Outcome, g.Picked, g.Shortlist = pick.Tool, c.Entries[i].Tool.Slug, []string{c.Entries[i].Tool.Slug}
			}
			groups = append(groups, g)
		}
	}
	m := analytics.Measurement{Category: c, Cells: analytics.Cells(groups), Planned: agents * prompts, Design: design}
	b := analytics.Rank(m)
	b.Prompts = m.Prompts()
	r, err := views.New(views.Input{Site: render.Site{BaseURL: sitetest.Base, SnapshotID: "abc"}, Boards: []analytics.Board{b}, Trials: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestExtremeBoards: pages of boards with next to nothing, or very much, say what is true in
// both forms, and have no empty parts.
func TestExtremeBoards(t *testing.T) {
	none := extreme(t, 3, 2, 20, func(int, int) int { return -1 })
	tiny := extreme(t, 1, 1, 1, func(int, int) int { return 0 })
	even := extreme(t, 3, 1, 2, func(_, p int) int { return p })
	long := extreme(t, 26, 26, 2, func(a, _ int) int { return a })
	many := extreme(t, 12, 30, 12, func(a, p int) int {
		if p%3 == 0 {
			return a / 5
		}
		return (a + p) % 12
	})
	for _, c := range []struct {
		name, path  string
		r           *views.Renderer
		want, never []string
	}{
		{"none", "/leaderboards/c", none, []string{"No agent picked a tool of this list in 40 answers.", "No answer picks a tool of the list, so all answers", "Not picked in 40 answers:", "in at most "}, []string{"By agent", "95% CI, clustered", "largest lead first"}},
		{"none", "/tools/t1", none, []string{"No agent picked ToolB in 40 answers.", "not picked", "in at most ", "Who took the 40 answers"}, []string{"the other 40", "has another rate"}},
		{"none", "/tools", none, []string{"not picked"}, []string{"1 of 3"}},
		{"none", "/ai-agents/agent-00", none, []string{"Agent 00 was asked on boards where no agent picked a tool."}, []string{"leading tool"}},
		{"tiny", "/leaderboards/c", tiny, []string{"Agent 00 picks ToolA in its only answer."}, []string{"1 valid trials", "1 answers", "1 agents", "1 prompts", "All 1", "By name"}},
		{"tiny", "/tools/t0", tiny, []string{"ToolA is the only picked tool: Agent 00 picks it in its only answer.", "All answers are to one prompt: the figures are of repeated answers to it alone"}, []string{"prompts stand for", "Rank range", "interval is 30 points", "unreliable interval", "Who took"}},
		{"tiny", "/ai-agents/agent-00", tiny, []string{"Agent 00 picks ToolA in its only answer.", "1 answer"}, []string{"of 1 board", "All agents:"}},
		{"even", "/leaderboards/c", even, []string{"Agent 00 picks ToolA and ToolB equally often, each in 50.0% of its answers."}, []string{"No agent picked"}},
		{"even", "/tools/t0", even, []string{"ToolA shares rank 1 of 2 picked tools: Agent 00 picks it in 50.0% of its answers, as often as ToolB.", "Who took the other answer"}, []string{"leads with", "other 1 answer"}},
		{"many", "/leaderboards/c", many, []string{"pick 6 tools equally often", "9 more"}, nil},
		{"long", "/leaderboards/c", long, []string{"ToolA", "ToolZ"}, nil},
		{"many", "/", many, []string{"pick 6 tools equally often"}, nil},
	} {
		p, err := c.r.Page(c.path)
		if err != nil {
			t.Fatal(err)
		}
		shown := parse(t, p.HTML)
		for _, w := range c.want {
			if !strings.Contains(shown.text, w) || !strings.Contains(string(p.Markdown), w) {
				t.Errorf("%s %s lacks %q:\n%s\n%s", c.name, c.path, w, shown.text, p.Markdown)
			}
		}
		for _, w := range c.never {
			if strings.Contains(shown.text, w) || strings.Contains(string(p.Markdown), w) {
				t.Errorf("%s %s has %q:\n%s\n%s", c.name, c.path, w, shown.text, p.Markdown)
			}
		}
		if strings.Count(string(p.Markdown), "**Unreliable rate.**") > 1 {
			t.Errorf("%s %s has a warning twice: %s", c.name, c.path, p.Markdown)
		}
		for _, empty := range []string{"<tbody></tbody>", "<ol class=\"top3\"></ol>", "<ul class=\"quotes\"></ul>"} {
			if strings.Contains(string(p.HTML), empty) {
				t.Errorf("%s %s has an empty part: %s", c.name, c.path, empty)
			}
		}
	}
	board, err := long.Page("/leaderboards/c")
	if text := parse(t, board.HTML).text; err != nil || !strings.Contains(text, "11 more tools") {
		t.Error("a long table of agents is not folded:", err, text)
	}
	if _, rows, _ := strings.Cut(string(board.Markdown), "## By agent"); strings.Count(rows, "\n| Tool") < 26 {
		t.Error("the markdown of a long table of agents lacks rows:", rows)
	}
	// A board says nothing of other agents than its own, and does not offer the same order twice.
	two := extreme(t, 3, 1, 20, func(_, p int) int { return p % 2 })
	page, err := two.Page("/leaderboards/c")
	if text := parse(t, page.HTML).text; err != nil || strings.Contains(text, "Taken together") || strings.Contains(text, "By shortlist rate") {
		t.Error(text, err)
	}
	p, ok, err := none.Compare("t0", "t1")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if text := parse(t, p.HTML).text; !strings.Contains(text, "No agent picked ToolA or ToolB in 40 answers.") || strings.Contains(text, "Difference") || strings.Contains(text, "<0.1%") {
		t.Errorf("a comparison of tools that were not picked: %s", text)
	}
}

// TestRangesAmongThePickedTools: the board and the page of a tool have the same range of ranks, among the
// picked tools, and a note has the range with all.
func TestRangesAmongThePickedTools(t *testing.T) {
	r := extreme(t, 6, 4, 30, func(_, p int) int {
		if p == 0 {
			return 2
		}
		return p % 2
	})
	board, err := r.Page("/leaderboards/c")
	if err != nil {
		t.Fatal(err)
	}
	tool, err := r.Page("/tools/t2")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"board": string(board.Markdown), "tool": string(tool.Markdown)} {
		if !strings.Contains(text, "| 3 | 3 | ") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, text := range []string{string(board.HTML), string(board.Markdown)} {
		if !strings.Contains(text, "Ranks are among the picked tools. Among all 6 of the list, of which those without a pick may still be ahead, the ranges are wider: ToolC 3–6.") {
			t.Error(text)
		}
	}
}

// TestSearchFindsAgents: a search lists the agents with its words in their name, with links to their
// pages, and ends in a way to measure where it finds nothing.
func TestSearchFindsAgents(t *testing.T) {
	r := extreme(t, 2, 2, 3, func(_, _ int) int { return 0 })
	for query, want := range map[string][]string{
		"Agent-00": {`<a href="/ai-agents/agent-00">`, "AI agents with"},
		"agent 01": {`<a href="/ai-agents/agent-01">`},
		"mailtrap": {"No tool, board or agent has a name like", `<a class="button" href="/for-vendors">Measure it</a>`},
	} {
		page, err := r.Search(views.Found{Query: query})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(page), w) {
				t.Errorf("%s: no %q in %s", query, w, page)
			}
		}
	}
}

// TestIntervalsOfAComparison: a comparison gives both rates and their difference on one chart, and
// the interval of each agent's rates; a lead is bold only where the two do not overlap.
func TestIntervalsOfAComparison(t *testing.T) {
	// Agent 0 picks the first tool on all 20 prompts, agent 1 each on 10.
	r := extreme(t, 2, 2, 20, func(a, p int) int {
		if a == 0 || p%2 == 0 {
			return 0
		}
		return 1
	})
	p, ok, err := r.Compare("t0", "t1")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	for _, want := range []string{
		"ToolA leads by", "50.0 points", "Significant?", "<small>82–100%</small>", "Bands: 95% CI of each rate", "<b>ToolA &#43;100.0</b>", `class="ring"`, `class="difference"`,
	} {
		if !strings.Contains(string(p.HTML), want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(string(p.HTML), "<b>–</b>") {
		t.Error("an agent without a lead has a bold one")
	}
	if md := string(p.Markdown); !strings.Contains(md, "ToolA +100.0, clear") || strings.Contains(md, "–, clear") {
		t.Error(md)
	}
	one := extreme(t, 2, 2, 1, func(a, _ int) int { return a })
	p, _, err = one.Compare("t0", "t1")
	if html := string(p.HTML); err != nil || strings.Contains(html, "95% CI") || strings.Contains(html, `class="difference"`) || !strings.Contains(html, "nothing is tested") {
		t.Error("an interval of one prompt", err)
	}
}

// TestPicturesOfHostileNames: a character without a shape is not drawn, as a gap or otherwise.
func TestPicturesOfHostileNames(t *testing.T) {
	r := renderer(t, "", func(b *analytics.Board) { b.Name, b.Tools[0].Tool = "Ne\u202et", "Fla\u200bsk" })
	for _, path := range []string{"/leaderboards/webserver", "/tools/flask", "/"} {
		p, ok := r.Picture(path)
		if !ok {
			t.Fatal(path)
		}
		text := p.Small + p.Title + p.Foot
		for _, row := range p.Rows {
			text += row.Name
		}
		if strings.ContainsFunc(text, inert.Invisible) {
			t.Errorf("%s: %q", path, text)
		}
	}
}
