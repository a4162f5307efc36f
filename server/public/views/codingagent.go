package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// A codingAgent is an agent of observed boards. Board is the one on which it did most, BoardLink the part of it with the
// agents, Boards on how many others it is. Link is its page, or BoardLink for an agent without one.
type codingAgent struct{ Name, Link, Board, BoardLink, Boards string }

// codingAgents returns the agents of observed boards by name.
func (r *Renderer) codingAgents() (out []codingAgent) {
	most, boards := map[string]int{}, map[string]int{}
	best := map[string]*observed.Board{}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		for _, a := range b.Agents {
			if boards[a.Agent]++; a.NUnits > most[a.Agent] {
				most[a.Agent], best[a.Agent] = a.NUnits, b
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(best)) {
		a := codingAgent{Name: name, Board: fmt.Sprintf("%s (%s)", best[name].Name, quantity(most[name], best[name].Unit)), BoardLink: observedPath(best[name].Category) + "#agents"}
		a.Link = cmp.Or(r.codingAgentPath(name), a.BoardLink)
		if n := boards[name] - 1; n > 0 {
			a.Boards = quantity(n, "other board")
		}
		out = append(out, a)
	}
	return out
}

// codingAgentPath is the page of a coding agent; empty for one without.
func (r *Renderer) codingAgentPath(name string) string {
	if slug := agentSlug(name); r.agents[slug] != nil && sameAgent(r.agents[slug].Agent, name) {
		return agentPath(slug)
	}
	return ""
}

// sameAgent reports whether two names are of one agent: Claude Code and claude-code are, and names that a path cannot
// hold are only where they are equal.
func sameAgent(x, y string) bool {
	return x == y || agentSlug(x) == agentSlug(y) && !strings.Contains(agentSlug(x), "_")
}

// A languageUse is what an agent used of a board, in one language where the board has several.
type languageUse struct {
	observed.AgentBoard
	language string
	all      observed.Part // of all agents
}

// known reports whether an agent did enough for a line.
func (u languageUse) known() bool { return u.NUnits >= leastAnswers && len(firstUsed(u.Part)) > 0 }

// usesOf returns what each agent used of a board, by language.
func usesOf(b *observed.Board) (out []languageUse) {
	for _, l := range partsOf(b) {
		for _, a := range usersOf(b, splitBy(b, l.Language)) {
			out = append(out, languageUse{a, l.Language, l.Part})
		}
	}
	return out
}

// usedBy returns what an agent used in real work: a line for each board and language with leastAnswers units, by units, and
// how to cite the studies.
func (r *Renderer) usedBy(a *agent) (note seenNote, lines []line, cites []string) {
	note = seenNote{Coders: a.Name, Axis: shareAxis(), Notice: observed.Notice}
	for i := range r.in.Observed {
		b := &r.in.Observed[i]
		for _, use := range usesOf(b) {
			if !sameAgent(use.Agent, a.Agent) || !use.known() {
				continue
			}
			l := r.observedLine(b, use.Part, use.language)
			l.Name, l.Link = l.inLanguage, observedPath(b.Category)+"#agents"
			p := use.Part
			p.Warnings = slices.DeleteFunc(slices.Clone(p.Warnings), func(w string) bool { return w == observed.FewUnits || w == observed.FewRepositories }) // the counts show it
			l.Counted, l.Doubts = quantity(use.NUnits, b.Unit)+" · "+chart.Count(use.NRepos, "repository", "repositories"), partDoubts(b, p)
			if first := firstUsed(use.all); len(first) > 0 {
				all := r.lineTool(b, use.all, first[0])
				l.Doubts = append(l.Doubts, "all agents: "+portion{Rate: all.Tool + " " + all.Rate, Interval: all.Interval}.InBrackets())
			}
			lines, note.Unit = append(lines, l), b.Unit
			if c := b.Cite(); !slices.Contains(cites, c) {
				cites = append(cites, c)
			}
		}
	}
	sorting.StableFunc(lines, mostUnits)
	note.SeenAge = commonAge(lines)
	return note, lines, cites
}

// usedSentence says what an agent used most, of the categories with most units.
func usedSentence(name string, lines []line) string {
	if len(lines) == 0 {
		return name + " used no tool often enough for a rate."
	}
	var parts []string
	for _, l := range lines[:min(maxUsed, len(lines))] {
		t := l.Tools[0]
		text := t.Tool + " (" + lowered(l.Name) + ", " + portion{Rate: t.Rate, Interval: t.Interval}.InBrackets()
		if t.InOne != "" {
			text += ", mostly one repository"
		}
		parts = append(parts, text+")")
	}
	return fmt.Sprintf("Most used by %s in real work: %s.", name, and(parts))
}

// maxUsed is how many categories the sentence of a coding agent names.
const maxUsed = 3
