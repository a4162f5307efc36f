package tools

import (
	"net/url"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/resource"
)

// topTools are the tools of one agent in an answer about all.
const topTools = 3

type ownScores struct {
	RunID       string             `json:"runId"`
	EvalID      string             `json:"evalId"`
	EvalName    string             `json:"evalName"`
	EvalVersion int                `json:"evalVersion"`
	Agent       string             `json:"agent,omitempty"`
	Category    string             `json:"category"`
	Name        string             `json:"name"`
	AsOf        *time.Time         `json:"asOf"`
	Field       int                `json:"field"`
	NTrials     int                `json:"nTrials"`
	NPrompts    int                `json:"nPrompts"`
	Coverage    *float64           `json:"coverage"`
	Estimand    string             `json:"estimand,omitempty"`
	Synthetic   bool               `json:"synthetic"`
	Warnings    []string           `json:"warnings"`
	Outcomes    analytics.Outcomes `json:"outcomes"`
	SpentUSD    float64            `json:"spentUsd"`
	Tools       []ownStanding      `json:"tools"`
	NAgents     int                `json:"nAgents"`
	Agents      []ownAgent         `json:"agents"`
	URL         string             `json:"url"`
}

// An ownStanding is a row without the address of a public page: the tool may have none.
type ownStanding struct {
	row
	URL hidden `json:"url,omitempty"`
}

type ownAgent struct {
	Agent    string    `json:"agent"`
	NTrials  int       `json:"nTrials"`
	SpentUSD float64   `json:"spentUsd"`
	Tools    []ownRate `json:"tools"`
}

type ownRate struct {
	Slug     string  `json:"slug"`
	PickRate float64 `json:"pickRate"`
	CILow    float64 `json:"ciLow"`
	CIHigh   float64 `json:"ciHigh"`
}

// Scores is the answer of getEvalScores about a run with results.
func (w Workspace) Scores(q RunQuery, r *resource.Run, s *format.Scores) Answer {
	board, spent := &s.Board, r.SpentUSD
	if q.Agent != "" {
		i := slices.IndexFunc(s.Agents, func(a format.AgentScores) bool { return a.Agent == q.Agent })
		if i < 0 {
			f := Failure{Code: "invalid_request", Description: "The run has no agent of this name; suggestions lists its agents.", Query: q.Agent}
			for _, a := range first(s.Agents, most) {
				f.Suggestions = append(f.Suggestions, a.Agent)
			}
			return Fail(f)
		}
		board, spent = &s.Agents[i].Board, s.Agents[i].SpentUSD
	}
	out := ownScores{
		RunID: r.ID, EvalID: r.EvalID, EvalName: r.EvalName, EvalVersion: r.EvalVersion, Agent: q.Agent, Category: board.Category, Name: board.Name,
		AsOf: board.AsOf, Field: board.Field, NTrials: board.NTrials, NPrompts: board.NPrompts, Coverage: board.Coverage, Estimand: board.Estimand,
		Synthetic: board.Synthetic, Warnings: first(board.Warnings, len(board.Warnings)), Outcomes: board.Outcomes, SpentUSD: spent,
		Tools: []ownStanding{}, NAgents: len(s.Agents), Agents: []ownAgent{}, URL: w.page("/runs/" + url.PathEscape(r.ID)),
	}
	for _, t := range first(board.Tools, q.Limit) {
		raw := (*float64)(nil)
		if t.Detail != nil {
			raw, t.Detail = t.RawRate, nil
		}
		out.Tools = append(out.Tools, ownStanding{row: row{Standing: t, RawRate: raw}})
	}
	if q.Agent != "" {
		return Reply(out)
	}
	for _, a := range first(s.Agents, most) {
		one := ownAgent{Agent: a.Agent, NTrials: a.Board.NTrials, SpentUSD: a.SpentUSD, Tools: []ownRate{}}
		for _, t := range first(a.Board.Tools, topTools) {
			one.Tools = append(one.Tools, ownRate{t.Slug, t.PickRate, t.CILow, t.CIHigh})
		}
		out.Agents = append(out.Agents, one)
	}
	return Reply(out)
}

type ownComparison struct {
	Base       resource.Side          `json:"base"`
	Run        resource.Side          `json:"run"`
	Category   string                 `json:"category"`
	Paired     bool                   `json:"paired"`
	Warnings   []string               `json:"warnings"`
	Notes      []resource.Note        `json:"notes"`
	Field      int                    `json:"field"`
	Tools      []resource.ToolChange  `json:"tools"`
	NAgents    int                    `json:"nAgents"`
	Agents     []resource.AgentChange `json:"agents"`
	OnlyInBase resource.Unshared      `json:"onlyInBase"`
	OnlyInRun  resource.Unshared      `json:"onlyInRun"`
	URL        string                 `json:"url"`
}

// Comparison is the answer of compareEvalRuns.
func (w Workspace) Comparison(q RunQuery, c *resource.Comparison) Answer {
	out := ownComparison{
		Base: w.side(c.Base), Run: w.side(c.Run), Category: c.Category, Paired: c.Paired, Warnings: first(c.Warnings, len(c.Warnings)), Notes: first(c.Notes, most),
		Field: len(c.Tools), Tools: first(c.Tools, q.Limit), NAgents: len(c.Agents), Agents: []resource.AgentChange{},
		OnlyInBase: unshared(c.OnlyInBase), OnlyInRun: unshared(c.OnlyInRun),
		URL: w.page("/runs/" + url.PathEscape(c.Run.ID) + "/compare?with=" + url.QueryEscape(c.Base.ID)),
	}
	for _, a := range first(c.Agents, most) {
		a.Changed, a.Tools = first(a.Changed, most), first(a.Tools, topTools)
		out.Agents = append(out.Agents, a)
	}
	return Reply(out)
}

func (w Workspace) side(s resource.Side) resource.Side {
	s.URL = w.page("/runs/" + url.PathEscape(s.ID))
	return s
}

func unshared(u resource.Unshared) resource.Unshared {
	return resource.Unshared{Prompts: first(u.Prompts, most), Agents: first(u.Agents, most), Tools: first(u.Tools, most)}
}
