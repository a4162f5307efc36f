package evals

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// Compare returns the changes from the run base to the run id. Both must have results
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
		side.CatalogVersion = r.CatalogVersion
		if side.Synthetic { // answers of simulated agents have a fixed time
			side.AsOf = r.EndedAt
		}
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

// measure reads the compared parts of a bundle. Prompts are compared by id and text: a
// reworded prompt is another prompt.
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
		AsOf: m.board.AsOf, NTrials: m.board.NTrials, NPrompts: m.board.NPrompts, Coverage: covered(&m.board),
		SpentUSD: b.Manifest.SpentUSD, Synthetic: b.Manifest.Synthetic,
	}
	return m, nil
}

// measurement returns some of the cells with the design of the eval. A prompt without a
// family is known by its id and text.
func (m *measured) measurement(cells []analytics.Cell) analytics.Measurement {
	d := analytics.Design{Families: map[string]string{}, Weights: m.manifest.Eval.Weights}
	for _, p := range m.manifest.Eval.Prompts {
		d.Families[p.ID+"\n"+p.Text] = p.Family
	}
	return analytics.Measurement{Cells: cells, Design: d}
}

// covered is the coverage of a board. A run of a workspace always has a plan.
func covered(b *analytics.Board) float64 {
	if b.Coverage == nil {
		return 0
	}
	return *b.Coverage
}

// compare computes the changes from base to run.
func compare(base, run *measured) (*Comparison, error) {
	if base.board.Category != run.board.Category {
		return nil, apierr.BadBody("category_differs", "The two runs measured different categories. Choose two of the same one.")
	}
	c := &Comparison{
		Base: base.side, Run: run.side, Category: run.board.Category, Warnings: union(base.board.Warnings, run.board.Warnings),
		Tools: []ToolChange{}, Agents: []AgentChange{},
	}
	c.OnlyInBase, c.OnlyInRun = base.without(run), run.without(base)
	var all tests
	c.Tools, c.Paired = all.tools(&base.board, &run.board, base.measurement(base.cells), run.measurement(run.cells))
	all.finish()
	compareAgents(c, base, run)
	addNotes(c, base, run)
	return c, nil
}
