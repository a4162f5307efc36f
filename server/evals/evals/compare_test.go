package evals

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// field is a category of payments with the tools that are named.
func field(t *testing.T, tools ...string) *catalog.Category {
	t.Helper()
	var b strings.Builder
	b.WriteString("category:\n  slug: payments\n  name: Payments\n  domain: dev-tools\n  summary: For tests.\ntools:\n")
	for _, slug := range tools {
		fmt.Fprintf(&b, "  - {slug: %[1]s, name: %[2]s, domains: [%[1]s.example], packages: {npm: [%[1]s]}}\n", slug, strings.ToUpper(slug[:1])+slug[1:])
	}
	c, err := catalog.Load(fstest.MapFS{"catalog/payments.yaml": {Data: []byte(b.String())}}, "catalog")
	if err != nil {
		t.Fatal(err)
	}
	category, _ := c.Category("payments")
	return category
}

// A tally is how often one agent picked a tool out of five trials, by prompt.
type tally struct {
	agent, tool string
	prompts     []int
}

// taken makes a run with the prompts p0, p1 ... of five trials each; what is not picked
// is built.
func taken(category *catalog.Category, agents []string, all ...tally) *measured {
	m := &measured{manifest: &format.Manifest{Catalog: "c1", Extractor: "1", Eval: format.Eval{Templates: []string{"none"}}}, prompts: map[string]string{}}
	left := map[[2]string]int{}
	var groups []analytics.Group
	for _, p := range all {
		for i, n := range p.prompts {
			id := fmt.Sprintf("p%d", i)
			if _, ok := m.prompts[id]; !ok {
				m.prompts[id] = "Which? " + id
				m.manifest.Eval.Prompts = append(m.manifest.Eval.Prompts, format.Prompt{ID: id, Text: m.prompts[id]})
			}
			for _, agent := range agents {
				if _, ok := left[[2]string{id, agent}]; !ok {
					left[[2]string{id, agent}] = 5
				}
			}
			if n > 0 {
				left[[2]string{id, p.agent}] -= n
				groups = append(groups, analytics.Group{Prompt: id + "\n" + m.prompts[id], Agent: p.agent, Outcome: pick.Tool, Picked: p.tool, Trials: n})
			}
		}
	}
	for k, n := range left {
		if n > 0 {
			groups = append(groups, analytics.Group{Prompt: k[0] + "\n" + m.prompts[k[0]], Agent: k[1], Outcome: pick.DIY, Trials: n})
		}
	}
	m.cells = analytics.Cells(groups)
	m.rank(category, agents)
	return m
}

// rank fills in boards, as publish/bundle does.
func (m *measured) rank(category *catalog.Category, agents []string) {
	planned := 5 * len(m.prompts)
	m.board = analytics.Rank(analytics.Measurement{Category: category, Cells: m.cells, Planned: planned * len(agents), Synthetic: m.manifest.Synthetic})
	m.agents, m.manifest.Agents = nil, nil
	for _, name := range agents {
		m.agents = append(m.agents, agentScores{name, analytics.Rank(analytics.Measurement{Category: category, Cells: of(m.cells, name), Planned: planned})})
		m.manifest.Agents = append(m.manifest.Agents, format.Agent{Name: name, Manifests: []format.AgentManifest{{ID: "1", Kind: "k", Model: "m-1"}}})
	}
	m.side = Side{NTrials: m.board.NTrials, NPrompts: m.board.NPrompts, Coverage: covered(&m.board), Synthetic: m.manifest.Synthetic}
}

func compared(t *testing.T, base, run *measured) *Comparison {
	t.Helper()
	c, err := compare(base, run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(c); err != nil {
		t.Errorf("it has no JSON: %v", err)
	}
	return c
}

func codes(c *Comparison) []string {
	out := []string{}
	for _, n := range c.Notes {
		out = append(out, n.Code)
	}
	return out
}

// TestAChangeOfTwoTools holds a comparison against one made by hand. Of stripe the six
// prompts moved by 0, .2, .4, 0, .4, 0: mean 1/6, standard deviation .19664, t(5) =
// 2.0761, p = .09252. Of paddle they moved by 0, -.2, -.4, 0, -.4, -.2: mean -.2, standard
// deviation .17889, t(5) = -2.7386, p = .04086. The intervals are simultaneous for two
// tools: 1/6 -+ 3.1634 * .08028, -.2 -+ 3.1634 * .07303; alone with 2.57058. Nobody picked braintree: its
// interval is Wilson's of none in 6 * (1.96 / 2.5706)^2 = 3.488, and Bonferroni multiplies
// p by two, not three.
func TestAChangeOfTwoTools(t *testing.T) {
	category := field(t, "stripe", "paddle", "braintree")
	base := taken(category, []string{"a"}, tally{"a", "stripe", []int{5, 3, 1, 5, 0, 2}}, tally{"a", "paddle", []int{0, 2, 3, 0, 3, 3}})
	run := taken(category, []string{"a"}, tally{"a", "stripe", []int{5, 4, 3, 5, 2, 2}}, tally{"a", "paddle", []int{0, 1, 1, 0, 1, 2}})
	c := compared(t, base, run)
	if !c.Paired || len(c.Notes) > 0 || c.Category != "payments" {
		t.Errorf("%+v", c)
	}
	type line struct {
		Slug                                    string
		Base, Rate, Diff, Low, High, P          float64
		AloneLow, AloneHigh, PAlone             float64
		Significant, IntervalsOfTheBoardsAreIts bool
	}
	var got []line
	for _, tool := range c.Tools {
		i := slices.IndexFunc(run.board.Tools, func(s analytics.Standing) bool { return s.Slug == tool.Slug })
		j := slices.IndexFunc(base.board.Tools, func(s analytics.Standing) bool { return s.Slug == tool.Slug })
		is, was := run.board.Tools[i], base.board.Tools[j]
		same := tool.CILow == is.CILow && tool.CIHigh == is.CIHigh && tool.BaseCILow == was.CILow && tool.BaseCIHigh == was.CIHigh && tool.Tool == is.Tool
		got = append(got, line{tool.Slug, tool.BasePickRate, tool.PickRate, tool.Diff, tool.DiffCILow, tool.DiffCIHigh, tool.PAdjusted, tool.AloneCILow, tool.AloneCIHigh, tool.PAlone, tool.Significant, same})
	}
	want := []line{
		{"paddle", 11.0 / 30, 5.0 / 30, -.2, -.431021, .031021, .081719, -.387729, -.012271, .040859, false, true},
		{"stripe", 16.0 / 30, 21.0 / 30, 1.0 / 6, -.087281, .420614, .185030, -.039693, .373026, .092515, false, true},
		{"braintree", 0, 0, 0, -.524108, .524108, 1, -.524108, .524108, 1, false, true},
	}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 2e-6 })
	if d := cmp.Diff(want, got, near); d != "" {
		t.Error(d)
	}
	if len(c.Agents) != 1 || len(c.Agents[0].Tools) != 2 || !c.Agents[0].Paired || c.Agents[0].NTrials != 30 {
		t.Fatalf("by agent: %+v", c.Agents)
	}
	if d := cmp.Diff(c.Tools[:2], c.Agents[0].Tools); d != "" {
		t.Errorf("the only agent is not the whole: %s", d)
	}
}

func TestALargeChangeIsSignificant(t *testing.T) {
	category := field(t, "stripe", "paddle")
	rising := func(by int) []int {
		out := make([]int, 24)
		for i := range out {
			out[i] = i%2 + by + i%3/2
		}
		return out
	}
	base := taken(category, []string{"a", "b"}, tally{"a", "stripe", rising(0)}, tally{"b", "paddle", rising(1)})
	more := rising(2)
	more[0]-- // not all moved by the same
	run := taken(category, []string{"a", "b"}, tally{"a", "stripe", more}, tally{"b", "paddle", rising(1)})
	c := compared(t, base, run)
	if top := c.Tools[0]; top.Slug != "stripe" || !top.Significant || top.DiffCILow <= 0 || top.PAdjusted >= .05 {
		t.Errorf("%+v", top)
	}
	if rest := c.Tools[1]; rest.Significant || rest.Diff != 0 || rest.PAdjusted != 1 {
		t.Errorf("%+v", rest)
	}
	if a, b := c.Agents[0], c.Agents[1]; len(a.Tools) != 1 || !a.Tools[0].Significant || len(b.Tools) != 1 || b.Tools[0].Significant {
		t.Errorf("by agent: %+v", c.Agents)
	}
}

// random makes a run of up to three agents and some prompts.
func random(category *catalog.Category, r *rand.Rand) *measured {
	agents := []string{"a", "b", "c"}[:1+r.IntN(3)]
	var all []tally
	n := 1 + r.IntN(12)
	for _, agent := range agents {
		left := slices.Repeat([]int{5}, n)
		for _, tool := range []string{"stripe", "paddle", "braintree"} {
			p := tally{agent, tool, make([]int, n)}
			for i := range p.prompts {
				p.prompts[i] = r.IntN(left[i] + 1)
				left[i] -= p.prompts[i]
			}
			all = append(all, p)
		}
	}
	return taken(category, agents, all...)
}

func TestComparingBackwardsFlipsTheSigns(t *testing.T) {
	category := field(t, "stripe", "paddle", "braintree", "adyen")
	r := rand.New(rand.NewPCG(6, 7))
	for range 300 {
		a, b := random(category, r), random(category, r)
		if r.IntN(2) == 0 && len(a.agents) == len(b.agents) { // or hardly any are paired
			b.prompts, b.manifest.Eval.Prompts = a.prompts, a.manifest.Eval.Prompts
		}
		there, back := compared(t, a, b), compared(t, b, a)
		if there.Paired != back.Paired || !slices.Equal(there.OnlyInBase.Prompts, back.OnlyInRun.Prompts) || len(there.Tools) != len(back.Tools) {
			t.Fatalf("there %+v, back %+v", there, back)
		}
		for _, x := range there.Tools {
			y := back.Tools[slices.IndexFunc(back.Tools, func(c ToolChange) bool { return c.Slug == x.Slug })]
			flipped := ToolChange{
				Slug: y.Slug, Tool: y.Tool, BasePickRate: y.PickRate, BaseCILow: y.CILow, BaseCIHigh: y.CIHigh,
				PickRate: y.BasePickRate, CILow: y.BaseCILow, CIHigh: y.BaseCIHigh,
				Diff: -y.Diff + 0, DiffCILow: -y.DiffCIHigh + 0, DiffCIHigh: -y.DiffCILow + 0, PAdjusted: y.PAdjusted, Significant: y.Significant,
				AloneCILow: -y.AloneCIHigh + 0, AloneCIHigh: -y.AloneCILow + 0, PAlone: y.PAlone,
			}
			if d := cmp.Diff(flipped, x, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1.5e-6 })); d != "" {
				t.Fatal(d)
			}
			if x.DiffCILow > x.Diff || x.DiffCIHigh < x.Diff || x.PAdjusted < 0 || x.PAdjusted > 1 || x.Significant != (x.PAdjusted < .05) || x.PAlone > x.PAdjusted {
				t.Errorf("%+v", x)
			}
		}
		same := compared(t, a, a)
		if !same.Paired || len(same.Notes) > 0 || len(same.OnlyInRun.Prompts) > 0 {
			t.Errorf("with itself: %+v", same)
		}
		for _, x := range same.Tools {
			if x.Diff != 0 || x.Significant || x.PAdjusted != 1 || x.BasePickRate != x.PickRate {
				t.Errorf("with itself: %+v", x)
			}
		}
	}
}

func TestARewordedPromptIsAnother(t *testing.T) {
	category := field(t, "stripe")
	all := tally{"a", "stripe", []int{5, 0, 2, 3, 1, 4, 5, 2, 0, 1, 3, 2}}
	base, run := taken(category, []string{"a"}, all), taken(category, []string{"a"}, all)
	reword := func(id string) {
		for i := range run.cells {
			if strings.HasPrefix(run.cells[i].Prompt, id+"\n") {
				run.cells[i].Prompt = id + "\nelse"
			}
		}
		run.prompts[id] = "else"
		for i := range run.manifest.Eval.Prompts {
			if p := &run.manifest.Eval.Prompts[i]; p.ID == id {
				p.Text = "else"
			}
		}
	}
	reword("p3")
	c := compared(t, base, run)
	if !c.Paired || !slices.Equal(c.OnlyInBase.Prompts, []string{"p3"}) || !slices.Equal(c.OnlyInRun.Prompts, []string{"p3"}) || !slices.Equal(codes(c), []string{"prompts"}) {
		t.Errorf("%+v", c)
	}
	reword("p4")
	if c = compared(t, base, run); !c.Paired {
		t.Errorf("ten of twelve prompts are not paired: %+v", c)
	}
	reword("p5")
	c = compared(t, base, run)
	if c.Paired || !slices.Equal(codes(c), []string{"unpaired", "prompts"}) || c.Tools[0].PAdjusted != 1 {
		t.Errorf("%+v", c)
	}
}

func TestNotesSayWhatElseIsDifferent(t *testing.T) {
	category, agents := field(t, "stripe", "paddle"), []string{"a", "b"}
	all := []tally{{"a", "stripe", []int{5, 0, 2}}, {"b", "paddle", []int{1, 2, 3}}}
	for name, tt := range map[string]struct {
		change func(m *measured)
		want   []string
		says   string
	}{
		"catalogue": {func(m *measured) {
			m.manifest.Catalog = "c2"
			m.rank(field(t, "stripe", "adyen"), agents)
		}, []string{"catalog"}, "only in the base: paddle; only in the run: adyen"},
		"extractor": {func(m *measured) { m.manifest.Extractor = "2" }, []string{"extractor"}, "extractor 1 before, 2 now"},
		"model": {func(m *measured) {
			m.manifest.Agents[1].Manifests = append(m.manifest.Agents[1].Manifests, format.AgentManifest{ID: "2", Kind: "k", Model: "m-2", Parameters: map[string]string{"t": "1"}})
		}, []string{"agent_changed"}, "The agent b changed: model m-2 (was m-1), parameters."},
		"prices": {func(m *measured) { m.manifest.Agents[0].Manifests[0].Prices = "2026" }, []string{}, ""},
		"agents": {func(m *measured) {
			m.cells = of(m.cells, "a")
			m.rank(category, agents[:1])
		}, []string{"agents"}, "only in the base: b; only in the run: none"},
		"templates": {func(m *measured) { m.manifest.Eval.Templates = []string{"next", "flask"} }, []string{"templates"}, "none before, next, flask now"},
		"coverage":  {func(m *measured) { m.side.Coverage = .9 }, []string{"coverage"}, "100 % were answered in the base and 90 % in the run"},
		"simulated": {func(m *measured) { m.manifest.Synthetic = true; m.rank(category, agents) }, []string{"synthetic"}, "simulated"},
		"nothing": {func(m *measured) {
			m.cells = nil
			m.rank(category, agents)
		}, []string{"no_trials", "coverage"}, "nothing to compare"},
	} {
		base, run := taken(category, agents, all...), taken(category, agents, all...)
		tt.change(run)
		c := compared(t, base, run)
		if !slices.Equal(codes(c), tt.want) {
			t.Errorf("%s: %+v, want %v", name, c.Notes, tt.want)
		}
		if len(tt.want) > 0 && !slices.ContainsFunc(c.Notes, func(n Note) bool { return strings.Contains(n.Message, tt.says) }) {
			t.Errorf("%s: nothing says %q: %+v", name, tt.says, c.Notes)
		}
		if name == "nothing" && len(c.Tools) > 0 || name != "nothing" && len(c.Tools) == 0 {
			t.Errorf("%s: %d tools", name, len(c.Tools))
		}
		if want := union(base.board.Warnings, run.board.Warnings); !slices.Equal(c.Warnings, want) || !slices.Contains(want, analytics.Directional) {
			t.Errorf("%s: warnings %v, want %v", name, c.Warnings, want)
		}
		if name == "simulated" && !slices.Contains(c.Warnings, analytics.Synthetic) {
			t.Errorf("warnings %v", c.Warnings)
		}
	}
}

func TestOtherCategoriesAreNotCompared(t *testing.T) {
	base := taken(field(t, "stripe"), []string{"a"}, tally{"a", "stripe", []int{1, 2}})
	run := taken(field(t, "stripe"), []string{"a"}, tally{"a", "stripe", []int{1, 2}})
	run.board.Category = "email"
	var told *apierr.Error
	if _, err := compare(base, run); !errors.As(err, &told) || told.Status != 400 || told.Reason != "category_differs" {
		t.Errorf("error %v", err)
	}
}
