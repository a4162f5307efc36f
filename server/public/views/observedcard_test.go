package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
)

// TestFirstUsed: tools with the same rate are on a card together, or not at all; spelling never decides
// which one is.
func TestFirstUsed(t *testing.T) {
	use := func(slug string, uses int, width float64) observed.Rate {
		rate := float64(uses) / 100
		return observed.Rate{Slug: slug, Use: observed.Use{UseRate: rate, CILow: rate - width/2, CIHigh: rate + width/2, Uses: uses}}
	}
	for name, c := range map[string]struct {
		tools []observed.Rate
		want  string
	}{
		"no tie":             {[]observed.Rate{use("ash", 40, .1), use("birch", 30, .1), use("cedar", 20, .1), use("elm", 10, .1)}, "ash birch cedar"},
		"one too many":       {[]observed.Rate{use("ash", 40, .1), use("birch", 30, .1), use("cedar", 20, .5), use("elm", 20, .1), use("fir", 10, .1)}, "ash birch elm cedar"},
		"a tie above":        {[]observed.Rate{use("ash", 40, .3), use("birch", 40, .1), use("cedar", 20, .1), use("elm", 10, .1)}, "birch ash cedar"},
		"several too many":   {[]observed.Rate{use("ash", 40, .1), use("birch", 20, .1), use("cedar", 20, .1), use("elm", 20, .1), use("fir", 20, .1)}, "ash"},
		"all equal":          {[]observed.Rate{use("ash", 9, .5), use("birch", 9, .4), use("cedar", 9, .3), use("elm", 9, .2), use("fir", 9, .1)}, "fir elm cedar birch"},
		"too few uses":       {[]observed.Rate{use("ash", 40, .1), use("birch", 4, .1)}, "ash"},
		"a tie of few":       {[]observed.Rate{use("ash", 40, .1), use("birch", 30, .1), use("cedar", 4, .1), use("elm", 4, .1)}, "ash birch"},
		"one tool, no other": {[]observed.Rate{use("ash", 40, .1)}, "ash"},
	} {
		var got []string
		for _, u := range firstUsed(observed.Part{Tools: c.tools}) {
			got = append(got, u.Slug)
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", name, text, c.want)
		}
	}
}

// TestToolUsedAlone: a card has no rate of a tool that is the only one used: it is 100 % by construction.
func TestToolUsedAlone(t *testing.T) {
	use := func(slug string, uses int) observed.Rate {
		return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(uses) / 80, CILow: .8, CIHigh: 1, Uses: uses}}
	}
	var b observed.Board
	alone, two := observed.Part{NUnits: 80, Tools: []observed.Rate{use("ash", 80), use("birch", 0)}}, observed.Part{NUnits: 80, Tools: []observed.Rate{use("ash", 80), use("birch", 1)}}
	if got := usePortion(&b, alone, alone.Tools[0]); got.Rate != "80 of 80" || got.Interval != "" || strings.Contains(string(got.Bar), "band") {
		t.Errorf("alone: %+v", got)
	}
	if got := usePortion(&b, two, two.Tools[0]); got.Rate != "100.0%" || got.Interval == "" {
		t.Errorf("one of two: %+v", got)
	}
}

// TestPairings: the first page has the first tools of a category when asked and in real work, both with both
// rates, and begins with the category of its claim.
func TestPairings(t *testing.T) {
	use := func(slug string, uses int) observed.Standing {
		return observed.Standing{Slug: slug, Tool: strings.ToUpper(slug[:1]) + slug[1:], Use: observed.Use{UseRate: float64(uses) / 100, CIHigh: .8, Uses: uses}}
	}
	var in Input
	for _, c := range []struct{ category, first, second string }{{"same", "ash", "birch"}, {"other", "birch", "ash"}, {"lead", "cedar", "elm"}} {
		b := asked(map[string]int{"ash": 8, "elm": 1}, map[string]int{"ash": 9})
		b.Category, b.Name, b.URL = c.category, c.category, "https://x.example/leaderboards/"+c.category
		in.Boards = append(in.Boards, *b)
		in.Observed = append(in.Observed, observed.Board{Category: c.category, Name: c.category, Unit: "pull request", NUnits: 100, NRepos: 40, Tools: []observed.Standing{use(c.first, 60), use(c.second, 20)}})
	}
	r := Renderer{in: in}
	var got []string
	pairs := r.pairings(&in.Boards[2])
	for _, p := range pairs {
		line := p.Asked.Name
		for _, tool := range p.Tools {
			line += ", " + tool.Tool + " " + tool.Asked.Rate + " " + tool.Used.Rate
		}
		got = append(got, line)
	}
	want := "lead, Ash 85% , Cedar 0 of 20 60%, Elm 5% 20%; other, Ash 85% 20%, Birch 0 of 20 60%; same, Ash 85% 60%, Birch 0 of 20 20%"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	for i, want := range []string{
		"Hedged. In real work, agents used Cedar most often. Asked: 20 answers of 2 agents to 1 prompt: Ash 85% (95% CI 0–100%), Cedar 0 of 20. Observed: 100 pull requests by agents that use a tool of the category: Cedar 60% (95% CI 0–80%). The study of real work does not count Ash.",
		"other: agents picked Ash in 85% of answers, coding agents used it in 20% of pull requests with such a tool. Asked: 20 answers of 2 agents to 1 prompt: Ash 85% (95% CI 0–100%), Birch 0 of 20. Observed: 100 pull requests by agents that use a tool of the category: Ash 20% (95% CI 0–80%), Birch 60% (95% CI 0–80%).",
	} {
		in.Boards[2-i].NPrompts = 1
		h := headline{Link: pairs[i].Asked.Link, board: &in.Boards[2-i], Age: age{When: "May 2026"}, Text: "Hedged."}
		if c := contrastOf(h, pairs[i:]); c == nil || c.Claim+" "+c.Base() != want {
			t.Errorf("got %+v, want %s", c, want)
		}
	}
	// Without most answers, most agents or a share of real work, the claim says less.
	tools := pairs[1].Tools
	for name, c := range map[string]struct {
		board *analytics.Board
		used  string
		short bool
	}{
		"most":     {asked(map[string]int{"ash": 9}, map[string]int{"ash": 8}, map[string]int{"birch": 9}), "20%", true},
		"tie":      {asked(map[string]int{"ash": 5, "birch": 5}, map[string]int{"ash": 5, "birch": 5}), "20%", false},
		"disagree": {asked(map[string]int{"ash": 10}, map[string]int{"birch": 8}), "20%", false},
		"one":      {asked(map[string]int{"ash": 9}), "20%", false},
		"few uses": {asked(map[string]int{"ash": 9}, map[string]int{"ash": 8}), "2 of 9", false},
	} {
		pairs[1].Tools = slices.Clone(tools)
		pairs[1].Tools[0].Used.Rate = c.used
		got := contrastOf(headline{Link: pairs[1].Asked.Link, board: c.board, Text: "Hedged."}, pairs[1:]).Claim
		if want := "Hedged. In real work, agents used Birch most often."; !c.short && got != want || c.short && got != "Web: agents picked Ash in 85% of answers, coding agents used it in 20% of pull requests with such a tool." {
			t.Errorf("%s: %s", name, got)
		}
	}
	pairs[1].Tools = tools
	for i, want := range []string{"the study of real work does not count Ash, lead of Cedar not clear", "lead of Birch not clear"} {
		unclear := slices.Clone(pairs[i:])
		unclear[0].Seen.Lead = "not clear"
		unclear[0].Tools = slices.Clone(unclear[0].Tools)
		unclear[0].Tools[0].Asked.Rate = "17 of 20"
		if c := contrastOf(headline{Link: pairs[i].Asked.Link, board: &in.Boards[2-i]}, unclear); c.Doubt != want {
			t.Errorf("a claim about all tools has the doubt %q", c.Doubt)
		}
	}
	if got := pairs[0].NotShown; got != "The study of real work does not count Ash." {
		t.Errorf("got %q", got)
	}
	if got := pairs[1].Firsts(); got != "Ash when asked (85%, 95% CI 0–100%), Birch in real work (60%, 95% CI 0–80%)" {
		t.Error(got)
	}
	if got := pairs[2].Firsts(); got != "Ash when asked (85%, 95% CI 0–100%) and in real work (60%, 95% CI 0–80%)" {
		t.Error(got)
	}
	day := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	in.Boards[1].AsOf = &day
	h := headline{Link: pairs[1].Asked.Link, board: &in.Boards[1], Age: age{When: "May 2024", Old: "2 years old"}}
	pairs[1].part.Tools = append(pairs[1].part.Tools, observed.Rate{Slug: "cedar"})
	pairs[1].Tools[0].Asked.Rate = "17 of 20" // so that the claim has an order
	const leads = "in real work, Birch leads Ash by 40.0 points (95% CI +10.0 to +60.0"
	for want, pair := range map[string]observed.Pair{ // the doubt, and then the test
		"|" + leads + ")": {Shown: true, Together: &observed.Together{Shown: true}},
		"difference not significant|" + leads + "): not significant":                                                                                       {},
		"Birch over Ash: significant alone, not among 3 pairs|" + leads + " with these two tested alone): not significant with all 3 pairs tested at once": {Shown: true, Together: &observed.Together{}},
	} {
		pair.Diff, pair.CILow, pair.CIHigh = .4, .1, .6
		pairs[1].part.Pairs = map[[2]string]observed.Pair{{"birch", "ash"}: pair}
		if c := contrastOf(h, pairs[1:]); c.Doubt+"|"+c.Test != want || c.AskedAge != "May 2024 (2 years old)" || c.UsedAge != "" || c.Pair != "" {
			t.Errorf("got %+v, want %s", c, want)
		}
	}
	if pairs[1].Same = true; contrastOf(h, pairs[1:]) != nil {
		t.Error("the first tool is the same, and the page says another one")
	}
	if in.Observed[1].NUnits = 40; len(r.pairings(&in.Boards[2])) != 2 {
		t.Error("a pair of 40 pull requests")
	}
}

// TestObservedLines: an observed board that is not compared above has a line for each language: first those whose first tool
// has a clear lead with all pairs compared, as on the board, last those without a choice of tools. The first page has the
// clear leads, and some of the others.
func TestObservedLines(t *testing.T) {
	r := Renderer{}
	add := func(category string, uses int, warnings []string, pairs map[[2]string]observed.Pair) {
		b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
		b.Category, b.Warnings, b.Pairs = category, warnings, pairs
		b.Tools[1].Uses, b.Tools[1].UseRate = uses, float64(uses)/100
		r.in.Observed = append(r.in.Observed, b)
	}
	pair := func(p observed.Pair) map[[2]string]observed.Pair {
		return map[[2]string]observed.Pair{{"ash", "birch"}: p, {"ash", "cedar"}: {P: .03, Shown: true}}
	}
	add("paired", 20, nil, nil)
	add("alone", 0, nil, map[[2]string]observed.Pair{}) // ahead of nobody
	add("untested", 20, nil, nil)
	add("part", 20, nil, pair(observed.Pair{P: .001, Shown: true}))
	add("single", 20, nil, pair(observed.Pair{P: .04, Shown: true})) // one of three such pairs may be chance
	single := &r.in.Observed[len(r.in.Observed)-1]
	single.Tools = append(single.Tools, observed.Standing{Tool: "Cedar", Slug: "cedar", Use: observed.Use{UseRate: .1, Uses: 10}})
	add("together", 20, nil, pair(observed.Pair{P: .001, Shown: true, Together: &observed.Together{}}))
	add("whole", 20, nil, pair(observed.Pair{P: .06, Together: &observed.Together{Shown: true}}))
	add("decided", 20, nil, pair(observed.Pair{P: .001, Shown: true}))
	r.in.Observed[7].Tools[0].InOne = 40
	r.in.Observed[3].Tools[1].Repos, r.in.Observed[3].Tools[1].InOne = 8, 12
	add("languages", 20, []string{observed.MixedLanguages}, nil)
	large := r.in.Observed[3].Whole()
	large.NUnits, large.Tools = 300, []observed.Rate{large.Tools[0], large.Tools[1]}
	r.in.Observed[8].Languages = []observed.LanguageBoard{{Language: "Go", Part: r.in.Observed[2].Whole()}, {Language: "Rust", Part: large}}
	all := r.seenLanguages([]pairing{{Seen: card{Link: "/observed/paired"}}})
	var got []string
	for _, g := range all {
		got = append(got, g.Name+" #"+g.ID+": "+g.Boards()+":")
		for _, l := range g.Lines {
			if got = append(got, strings.TrimPrefix(l.Link, "/observed/")); g.Merged != strings.Contains(l.Name, " · ") {
				t.Errorf("%s has the line %s", g.Name, l.Name)
			}
		}
	}
	want := "Python #observed-python: 7 categories, 3 with a clear lead: part whole decided single together alone untested Go and Rust #observed-others: 2 boards, 1 with a clear lead: languages#in-rust languages#in-go"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
	names := func(lines []line) string {
		var out []string
		for _, l := range lines {
			out = append(out, fmt.Sprintf("%s %d", strings.TrimPrefix(l.Link, "/observed/"), len(l.Tools)))
		}
		return strings.Join(out, ", ")
	}
	if got := names(homeLines(inOneList(all))); got != "languages#in-rust 2, part 2, whole 2, decided 2, single 3, together 2" {
		t.Error(got)
	}
	many := slices.Repeat(inOneList(all), 3)
	for i := range many {
		many[i].units = 100 + i
	}
	if got := homeLines(many); len(got) != homeLargest || !slices.IsSortedFunc(got, mostUnits) {
		t.Error(names(got))
	}
	weak := inOneList(all[1:])
	for i := range weak {
		weak[i].weak, weak[i].Clear = true, false
	}
	if got := homeLines(weak); len(got) != len(weak) {
		t.Errorf("without enough data: %s", names(got))
	}
	tools := []lineTool{{Tool: "Ash", Rate: "60%", Interval: "40–80%"}, {Tool: "Birch", Rate: "20%", Interval: "10–30%", Repos: "8 of 40", InOne: "60%"}}
	for i, tool := range all[0].Lines[0].Tools {
		if tool.Plot == "" {
			t.Error("no plot of", tool.Tool)
		}
		if tool.Plot = ""; tool != tools[i] {
			t.Errorf("got %+v, want %+v", tool, tools[i])
		}
	}
}

// TestByLargestAgent: a line says where the agent with most of the pull requests has another first tool.
func TestByLargestAgent(t *testing.T) {
	b := seenBoard(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC), .4)
	agent := func(name string, units, ash, birch int) observed.AgentBoard {
		use := func(slug string, n int) observed.Rate {
			return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(n) / float64(units), Uses: n}}
		}
		return observed.AgentBoard{Agent: name, Part: observed.Part{NUnits: units, Tools: []observed.Rate{use("ash", ash), use("birch", birch)}}}
	}
	for want, agents := range map[string][]observed.AgentBoard{
		"":                                 {agent("Devin", 60, 40, 10), agent("Codex", 40, 0, 10)},
		"with Devin alone, Birch is first": {agent("Codex", 40, 40, 0), agent("Devin", 60, 10, 20)},
	} {
		b.Agents = agents
		if got := strings.Join(byLargestAgent(&b, b.Whole(), ""), "|"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	few := []observed.AgentBoard{agent("Devin", 40, 10, 20), agent("Codex", 40, 20, 10)}
	if b.Agents = few; len(byLargestAgent(&b, b.Whole(), "")) > 0 {
		t.Error("half of the pull requests are not most of them")
	}
}

// TestUsedBesideAsked: beside a board stand the first tools of real work and the first two of the board, with the
// place of one that is further behind, and whether the order of the two is proven.
func TestUsedBesideAsked(t *testing.T) {
	var tools []observed.Standing
	for i, slug := range []string{"ash", "birch", "cedar", "fir", "oak", "pine", "yew", "elm"} {
		rate := .6 - .05*float64(i)
		tools = append(tools, observed.Standing{Slug: slug, Tool: strings.ToUpper(slug[:1]) + slug[1:], Use: observed.Use{UseRate: rate, CILow: rate - .05, CIHigh: rate + .05, Uses: 60 - 5*i}})
	}
	b := asked(map[string]int{"ash": 8, "elm": 1})
	b.Tools[1] = b.Tools[3] // Ash, then Elm
	o := observed.Board{Category: "web", Name: "Web", Unit: "pull request", NUnits: 100, NRepos: 40, Tools: tools}
	pair := [2]string{"ash", "elm"}
	for want, pairs := range map[string]map[[2]string]observed.Pair{
		"Elm is eighth of the 8 tools that were used|With all pairs compared at once, no order of these tools is clear": {pair: {Shown: true, P: .01, Together: &observed.Together{}}},
		"Elm is eighth of the 8 tools that were used":                                                                   {pair: {Shown: true, Together: &observed.Together{Shown: true}}},
	} {
		o.Pairs = pairs
		r := Renderer{in: Input{Observed: []observed.Board{o}}}
		if u := r.used(b); u == nil || strings.Join(u.Doubts, "|") != want || len(u.Tools) != 4 || u.Tools[3].Tool != "Elm" {
			t.Errorf("got %+v, want %s", u, want)
		}
	}
}

// TestLeadOrder: the first tool has a clear lead where it is ahead of each other tool that was used, in enough data, with all
// pairs compared.
func TestLeadOrder(t *testing.T) {
	use := func(slug string, uses int) observed.Rate {
		return observed.Rate{Slug: slug, Use: observed.Use{UseRate: float64(uses) / 100, Uses: uses}}
	}
	shown, chance := observed.Pair{P: .001, Shown: true}, observed.Pair{P: .3}
	for name, tt := range map[string]struct {
		repos, tools  int
		second, third observed.Pair
		want          string
	}{
		"ahead of both":             {40, 3, shown, shown, "clear"},
		"of the second alone":       {40, 3, shown, chance, "not clear"},
		"of one that was not used":  {40, 4, shown, shown, "clear"},
		"too many pairs for its p":  {40, 15, observed.Pair{P: .0033, Shown: true}, shown, "not clear"},
		"too few repositories":      {4, 3, shown, shown, ""},
		"the board's test of pairs": {40, 3, observed.Pair{Together: &observed.Together{Shown: true}}, observed.Pair{Shown: true, Together: &observed.Together{}}, "not clear"},
	} {
		p := observed.Part{NUnits: 100, NRepos: tt.repos, Tools: []observed.Rate{use("ash", 60), use("birch", 30), use("cedar", 10)}, Pairs: map[[2]string]observed.Pair{{"ash", "birch"}: tt.second, {"ash", "cedar"}: tt.third}}
		for len(p.Tools) < tt.tools {
			p.Tools = append(p.Tools, use("unused", 0))
		}
		if got := leadOrder(p); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if leadOrder(observed.Part{NUnits: 100, NRepos: 40, Tools: []observed.Rate{use("ash", 60), use("birch", 30)}}) != "" {
		t.Error("a lead that was not tested")
	}
}
