package views

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// A trialGroup is the answers of one agent to one prompt with the same imports.
type trialGroup struct {
	Line    trialLine // what they share
	Imports string
	N, Of   int           // answers of the agent with these imports, of all; Of is 0 if unknown
	Trials  []render.Link // those of this page
}

// Shown says how many trials the group lists.
func (g trialGroup) Shown() string { return quantity(len(g.Trials), "trial") }

// More is Shown where other pages have more; empty otherwise.
func (g trialGroup) More() string {
	if len(g.Trials) == g.N {
		return ""
	}
	return strconv.Itoa(len(g.Trials)) + " on this page"
}

// addToGroup adds a trial to the group that shares its imports.
func addToGroup(groups []trialGroup, line *trialLine, l *trialset.Listing) []trialGroup {
	imports := traceview.Visible(strings.Join(l.Imports, ", "))
	at := slices.IndexFunc(groups, func(g trialGroup) bool {
		o := &g.Line
		return g.Imports == imports && o.AgentTitle == line.AgentTitle && o.Prompt == line.Prompt && o.Template == line.Template && o.Outcome == line.Outcome && o.Picked == line.Picked
	})
	if at < 0 {
		at, groups = len(groups), append(groups, trialGroup{Line: *line, Imports: imports})
		if l.Record != nil {
			groups[at].N, groups[at].Of = l.Record.Answers, l.Record.Of
		}
	}
	g := &groups[at]
	g.Trials = append(g.Trials, render.Link{Path: line.Link, Text: strconv.Itoa(line.Repeat)})
	g.N = max(g.N, len(g.Trials))
	return groups
}

// byImports sorts groups by prompt and agent, the largest first.
func byImports(x, y trialGroup) int {
	return cmp.Or(cmp.Compare(x.Line.Prompt, y.Line.Prompt), cmp.Compare(x.Line.Agent, y.Line.Agent), cmp.Compare(y.N, x.N), cmp.Compare(x.Imports, y.Imports))
}
