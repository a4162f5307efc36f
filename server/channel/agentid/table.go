package agentid

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
)

//go:embed data/*.tsv
var files embed.FS

// A Table holds all known agents. It is safe for concurrent use.
type Table struct {
	agents   []Agent // ours, then the wider names
	broad    []Agent // by pattern
	tokens   *matcher
	patterns *matcher

	byName   map[string]*Agent // lower-cased
	bySigner map[string]*Agent
	// byOperator has the lists that prove any agent of an operator.
	byOperator map[string][]string
	hidden     []hidden
	mcp        map[string]Agent
	referrers  map[string][]referrer
	sources    map[string]string // utm_source to family
	probes     probes
	cache      cache
}

// Load reads the embedded table. It panics on damage, which a test would have
// found.
func Load() *Table {
	t := &Table{
		byName: map[string]*Agent{}, bySigner: map[string]*Agent{}, byOperator: map[string][]string{},
		mcp: map[string]Agent{}, referrers: map[string][]referrer{}, sources: map[string]string{},
	}
	t.loadAgents()
	t.loadNames()
	t.loadPatterns()
	t.loadMCP()
	t.loadReferrers()
	t.loadProbes()
	for i := range t.agents {
		a := &t.agents[i]
		if key := strings.ToLower(a.Name); t.byName[key] == nil {
			t.byName[key] = a
		}
		for _, origin := range a.Signers {
			t.bySigner[origin] = a
		}
	}
	t.loadOperators()
	for list, name := range disguised() {
		t.hidden = append(t.hidden, hidden{list, t.byName[name]})
	}
	return t
}

// A hidden agent also visits as a browser: its address list identifies it.
type hidden struct {
	list  string
	agent *Agent
}

// loadOperators notes the lists of each operator, but those whose addresses
// other people's programs use too.
func (t *Table) loadOperators() {
	shared := map[string]bool{}
	for _, s := range ranges.Sources() {
		shared[s.List] = s.Shared
	}
	for i := range t.agents {
		a := &t.agents[i]
		for _, list := range a.Lists {
			if a.Operator != "" && !shared[list] && !slices.Contains(t.byOperator[a.Operator], list) {
				t.byOperator[a.Operator] = append(t.byOperator[a.Operator], list)
			}
		}
	}
}

// disguised returns the lists whose agents are known to come with the User-Agent
// of a plain browser as well, so that the address alone names them.
func disguised() map[string]string {
	return map[string]string{"openai-chatgpt-user": "chatgpt-user", "bing": "bingbot"}
}

// rows returns the rows of an embedded file; each has width fields.
func rows(name string, width int) [][]string {
	raw, err := files.ReadFile(path.Join("data", name))
	if err != nil {
		panic(err)
	}
	var all [][]string
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || strings.HasPrefix(line, "# ") {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != width {
			panic(fmt.Sprintf("data/%s: %d fields instead of %d: %s", name, len(fields), width, line))
		}
		all = append(all, fields)
	}
	return all
}

func class(s string) Class {
	if c := Class(s); c.Valid() {
		return c
	}
	panic("no class: " + s)
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// open reads a list, which ends with ? where it is not all.
func open(s string) (items []string, open bool) {
	s, open = strings.CutSuffix(s, "?")
	return list(s), open
}

func (t *Table) loadAgents() {
	for _, f := range rows("agents.tsv", 11) {
		word, fake := strings.CutSuffix(f[4], "!")
		a := Agent{
			Token: f[0], Name: f[1], Operator: f[2], Family: f[3], Class: class(word), Fake: fake,
			Signers: list(f[7]), Doc: f[8], Blocking: Blocking(f[9]), Sample: f[10], Source: Ours,
		}
		a.Lists, a.ListsOpen = open(f[5])
		a.DNS, a.DNSOpen = open(f[6])
		t.agents = append(t.agents, a)
	}
}

// loadNames adds the names that ai.robots.txt has beyond ours.
func (t *Table) loadNames() {
	ours := make([]string, len(t.agents))
	for i, a := range t.agents {
		ours[i] = a.Token
	}
	known := newMatcher(ours, true)
	for _, f := range rows("names.tsv", 3) {
		if known.longest(f[0]) >= 0 { // also a longer spelling: ours is the one that can be verified
			continue
		}
		a := Agent{Token: f[0], Name: f[1], Class: class(f[2]), Source: Names}
		if a.Class.Headline() {
			a.Family = a.Name
		}
		t.agents = append(t.agents, a)
	}
	tokens := make([]string, len(t.agents))
	for i, a := range t.agents {
		tokens[i] = a.Token
	}
	t.tokens = newMatcher(tokens, true)
}

func (t *Table) loadPatterns() {
	var patterns []string
	for _, f := range rows("patterns.tsv", 2) {
		a := Agent{Token: f[0], Name: strings.Trim(f[0], "^=/;() "), Class: class(f[1]), Source: Patterns}
		if a.Class.Headline() {
			a.Family = a.Name
		}
		t.broad = append(t.broad, a)
		patterns = append(patterns, f[0])
	}
	t.patterns = newMatcher(patterns, false)
}

func (t *Table) loadMCP() {
	for _, f := range rows("mcp.tsv", 5) {
		t.mcp[f[0]] = Agent{Token: f[0], Name: f[1], Operator: f[2], Family: f[3], Class: class(f[4]), Source: Ours}
	}
}

// All returns the agents that have a name, ours first. The patterns of the
// broad layer are not among them.
func (t *Table) All() []Agent { return slices.Clone(t.agents) }

// Named returns the agent of that name, whatever its case.
func (t *Table) Named(name string) (Agent, bool) {
	if a := t.byName[strings.ToLower(name)]; a != nil {
		return *a, true
	}
	return Agent{}, false
}

// Signer returns the agent whose signatures name that origin.
func (t *Table) Signer(origin string) (Agent, bool) {
	if a := t.bySigner[origin]; a != nil {
		return *a, true
	}
	return Agent{}, false
}

// Signers returns the origins whose signatures we know, in order.
func (t *Table) Signers() []string {
	var all []string
	for origin := range t.bySigner {
		all = append(all, origin)
	}
	slices.Sort(all)
	return all
}
