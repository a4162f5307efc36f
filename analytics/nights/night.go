// Package nights follows the pick rates of one category from measurement to measurement:
// published snapshots, oldest first, and at the end perhaps a run that is not published
// yet. It names what changed in between besides the answers, and shows which tools' rates
// dropped or rose, so that the share of false claims stays bounded over any number of
// tools and agents.
package nights

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
)

// A Night is one measurement of a category.
type Night struct {
	// At is when its last trial finished.
	At time.Time
	// Snapshot is the id; empty for runs that are not published.
	Snapshot string
	// Catalog and Extractor are the versions behind the outcomes.
	Catalog, Extractor string
	Synthetic          bool
	// Prompts has the digest of a prompt's text by its name, EVAL/PROMPT. A prompt whose
	// text is unknown has none.
	Prompts map[string]string
	// Models has what answered for an agent, by its name: see ModelOf.
	Models map[string]string
	Trials []Trial
	Board  analytics.Board
}

// A Trial is one valid trial.
type Trial struct {
	// ID is the same for the same trial of another run of the eval; see plan.TrialID.
	ID         string
	FinishedAt time.Time
	// Prompt is EVAL/PROMPT.
	Prompt, Agent, Template string
	// Picked is the slug of the tool; empty for any other outcome.
	Picked string
}

// A Series is the nights of a category: what `firstpick history --json` prints.
type Series struct {
	Category string `json:"category"`
	// Tool is set where the series has only one.
	Tool   string `json:"tool,omitempty"`
	Nights []Line `json:"nights"`
}

// A Line is one night of a series.
type Line struct {
	At time.Time `json:"at"`
	// Snapshot is empty for runs that are not published.
	Snapshot string `json:"snapshot"`
	// Synthetic marks a night of simulated agents.
	Synthetic bool `json:"synthetic,omitempty"`
	// Breaks say what changed since the night before, besides the answers.
	Breaks []string `json:"breaks"`
	// Delta has the breaks of agents, models, prompts and coverage as values.
	Delta Delta `json:"-"`
	// Tools are in the order of the night's board.
	Tools []Tool `json:"tools"`
}

// A Tool is one tool on one night. Rate, interval and trials are those of the night's board.
type Tool struct {
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
	NTrials  int     `json:"nTrials"`
	// Shown are the changes that the nights up to this one show, those of all agents first.
	Shown []Shown `json:"shown"`
	// Overtaken are the rivals that were behind the tool and are ahead of it now, by tests
	// over the nights with the same agents and prompts.
	Overtaken []Overtaken `json:"overtaken,omitempty"`
}

// Verdict says what is shown. Single agents are counted only where all agents together show
// the same.
func (t Tool) Verdict() string {
	var parts []string
	for _, d := range []Direction{Drop, Rise} {
		shown := slices.DeleteFunc(slices.Clone(t.Shown), func(s Shown) bool { return s.Direction != d })
		for i, s := range shown {
			if i > 0 && shown[0].Agent == AllAgents {
				parts[len(parts)-1] += fmt.Sprintf(" (single agents: %d)", len(shown)-1)
				break
			}
			parts = append(parts, s.String())
		}
	}
	if len(parts) == 0 {
		return "no change shown"
	}
	return strings.Join(parts, "; ")
}

// A Direction is that of a change.
type Direction string

// The directions.
const (
	Drop Direction = "drop"
	Rise Direction = "rise"
)

// AllAgents is the agent of a change that the trials of all agents show together.
const AllAgents = "all agents"

// A Shown is a change of a tool's pick rate that the nights show.
type Shown struct {
	Agent     string    `json:"agent"`
	Direction Direction `json:"direction"`
	// E is the e-value against "no change", rounded to three digits.
	E float64 `json:"e"`
	// Since is the night from which on every night has shown it.
	Since time.Time `json:"since"`
}

// String returns the change as text: "dropped since 2026-03-04, agent opus, e=530".
func (s Shown) String() string {
	verb, who := "dropped", "agent "+s.Agent
	if s.Direction == Rise {
		verb = "rose"
	}
	if s.Agent == AllAgents {
		who = AllAgents
	}
	return fmt.Sprintf("%s since %s, %s, e=%s", verb, s.Since.UTC().Format(time.DateOnly), who, strconv.FormatFloat(s.E, 'g', -1, 64))
}

// Only returns the series with only one tool.
func (s Series) Only(tool string) Series {
	out := Series{Category: s.Category, Tool: tool, Nights: []Line{}}
	for _, l := range s.Nights {
		all := l.Tools
		l.Tools = []Tool{}
		for _, t := range all {
			if t.Slug == tool {
				l.Tools = append(l.Tools, t)
			}
		}
		out.Nights = append(out.Nights, l)
	}
	return out
}
