package evals

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// A Comparison is what changed from one run of a category, the base, to another.
// Pick rates are compared, and nothing else: what a run knows of shortlists is in
// its scores.
type Comparison struct {
	Base     Side   `json:"base"`
	Run      Side   `json:"run"`
	Category string `json:"category"`
	// Paired says that the same prompts were put to the same agents, so that each is
	// compared with itself, which shows smaller changes. Otherwise whole rates are.
	Paired bool `json:"paired"`
	// Warnings are the doubts about either board, by the codes of boards.
	Warnings []string `json:"warnings"`
	// Notes say what else is different, so that a change need not be the agents' doing.
	Notes []Note `json:"notes"`
	// Tools are those that both catalogues have, the largest change first; none where a
	// run has no valid trial.
	Tools []ToolChange `json:"tools"`
	// Agents are those that both runs asked, in the order of the run.
	Agents []AgentChange `json:"agents"`
	// What only one of the runs has.
	OnlyInBase Unshared `json:"onlyInBase"`
	OnlyInRun  Unshared `json:"onlyInRun"`
}

// A Side is one of the two runs.
type Side struct {
	ID          string     `json:"id"`
	URL         string     `json:"url"`
	EvalID      string     `json:"evalId"`
	EvalName    string     `json:"evalName"`
	EvalVersion int        `json:"evalVersion"`
	AsOf        *time.Time `json:"asOf"` // when the last answer came; null for none
	NTrials     int        `json:"nTrials"`
	NPrompts    int        `json:"nPrompts"`
	Coverage    float64    `json:"coverage"`
	SpentUSD    float64    `json:"spentUsd"`
	Synthetic   bool       `json:"synthetic"`
}

// A ToolChange is one tool in both runs. Rates are shares of valid trials with their
// 95 % intervals over prompts.
type ToolChange struct {
	Slug         string  `json:"slug"`
	Tool         string  `json:"tool"`
	BasePickRate float64 `json:"basePickRate"`
	BaseCILow    float64 `json:"baseCiLow"`
	BaseCIHigh   float64 `json:"baseCiHigh"`
	PickRate     float64 `json:"pickRate"`
	CILow        float64 `json:"ciLow"`
	CIHigh       float64 `json:"ciHigh"`
	// Diff is the run's rate less the base's, with its 95 % interval. Where they are
	// paired it is the mean over what both have, which may differ a little from the
	// difference of the two rates.
	Diff       float64 `json:"diff"`
	DiffCILow  float64 `json:"diffCiLow"`
	DiffCIHigh float64 `json:"diffCiHigh"`
	// PAdjusted is the p-value after Holm over all tools of the list that anybody
	// picked; Significant says that it is below 0.05.
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
}

// An AgentChange is what changed with one agent.
type AgentChange struct {
	Agent       string `json:"agent"`
	BaseNTrials int    `json:"baseNTrials"`
	NTrials     int    `json:"nTrials"`
	Paired      bool   `json:"paired"`
	// Changed names what is different about the agent itself: model, version,
	// parameters and so on. Empty for nothing that was recorded.
	Changed []string `json:"changed"`
	// Tools are those that the agent picked in either run. Their p-values are adjusted
	// over the tools of all agents.
	Tools []ToolChange `json:"tools"`
}

// Unshared is what only one of two runs has.
type Unshared struct {
	// Prompts are ids. One that is in both lists has another text in each run.
	Prompts []string `json:"prompts"`
	Agents  []string `json:"agents"`
	Tools   []string `json:"tools"` // slugs
}

// A Note is something else that is different.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"` // a sentence
}

// Compare tells what changed from the run base to the run id. Both must have results,
// and measure the same category.
func (s *Service) Compare(ctx context.Context, a Actor, id, base string) (*Comparison, error) {
	var sides [2]measured
	for i, id := range []string{base, id} {
		r, err := s.Run(ctx, a, id)
		if err != nil {
			return nil, err
		}
		b, release, err := s.Results(ctx, a, id)
		if err != nil {
			return nil, err
		}
		defer release()
		if sides[i], err = measure(ctx, b); err != nil {
			return nil, s.fail(err)
		}
		side := &sides[i].side
		side.ID, side.URL, side.EvalID, side.EvalName, side.EvalVersion = r.ID, r.URL, r.EvalID, r.EvalName, r.EvalVersion
	}
	c, err := compare(&sides[0], &sides[1])
	return c, s.fail(err)
}

// measured is a run as it is compared.
type measured struct {
	side     Side
	manifest *format.Manifest
	board    analytics.Board
	agents   []agentScores
	cells    []analytics.Cell
	prompts  map[string]string // texts by id
}

// agentScores is one agent in the scores of a bundle.
type agentScores struct {
	Agent string          `json:"agent"`
	Board analytics.Board `json:"board"`
}

// measure reads what is compared of a bundle. The prompts of its cells are ids with
// texts: a prompt that was reworded is another one.
func measure(ctx context.Context, b *bundle.Bundle) (measured, error) {
	var scores struct {
		Board  analytics.Board `json:"board"`
		Agents []agentScores   `json:"agents"`
	}
	if err := json.Unmarshal(b.Scores(), &scores); err != nil {
		return measured{}, fmt.Errorf("scores of run bundle %s: %w", b.ID, err)
	}
	cells, err := b.Cells(ctx)
	if err != nil {
		return measured{}, err
	}
	m := measured{manifest: &b.Manifest, board: scores.Board, agents: scores.Agents, cells: cells, prompts: map[string]string{}}
	for _, p := range b.Manifest.Eval.Prompts {
		m.prompts[p.ID] = p.Text
	}
	for i, c := range cells {
		cells[i].Prompt = c.Prompt + "\n" + m.prompts[c.Prompt]
	}
	m.side = Side{
		AsOf: m.board.AsOf, NTrials: m.board.NTrials, NPrompts: m.board.NPrompts, Coverage: m.board.Coverage,
		SpentUSD: b.Manifest.SpentUSD, Synthetic: b.Manifest.Synthetic,
	}
	return m, nil
}

// compare tells what changed from base to run.
func compare(base, run *measured) (*Comparison, error) {
	if base.board.Category != run.board.Category {
		return nil, apierr.BadBody("category_differs", "The two runs measured different categories. Choose two of the same one.")
	}
	c := &Comparison{
		Base: base.side, Run: run.side, Category: run.board.Category, Warnings: union(base.board.Warnings, run.board.Warnings),
		Tools: []ToolChange{}, Agents: []AgentChange{},
	}
	c.OnlyInBase, c.OnlyInRun = base.without(run), run.without(base)
	var family family
	c.Tools, c.Paired = family.tools(&base.board, &run.board, base.cells, run.cells)
	family.adjust()
	c.agents(base, run)
	c.note(base, run)
	return c, nil
}
