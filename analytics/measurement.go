package analytics

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// A Measurement is what a board is computed from.
type Measurement struct {
	Category *catalog.Category
	Cells    []Cell
	// Planned is the number of trials that should have been valid.
	Planned   int
	Synthetic bool
	// Doubts are the warnings that Cells and Planned cannot show: CoverageUnknown, and
	// Incomplete where one run of several lacks too many trials.
	Doubts []string
	Design Design
	// CutProjects adds a cut for each project template to the board. Published boards have
	// none.
	CutProjects bool
}

// A Design says how the trials of a category count. Prompts are named as in cells.
type Design struct {
	// Families holds the family of a prompt. A prompt without one is a family of its own.
	Families map[string]string
	// Tags holds the values of a prompt's tags by the tag's name.
	Tags map[string]map[string]string
	// Weights holds the weights of agents; nil for equal ones.
	Weights map[string]float64
	// Frame says what the prompts are drawn from; empty if the evals do not say it.
	Frame string
	// Formulas2 asks for the tests of an older snapshot (stats.Design).
	Formulas2 bool
}

// DesignOf returns the design of a category's evals. Agents weigh equally where the evals'
// weights do not fit together.
func DesignOf(pool eval.Pool) Design {
	d := Design{Families: pool.Clusters(), Tags: map[string]map[string]string{}, Frame: pool.Frame()}
	d.Weights, _ = pool.Weights()
	for prompt, t := range pool.Tags() {
		d.Tags[prompt] = map[string]string{"ecosystem": t.Ecosystem, "intent": t.Intent, "persona": t.Persona}
	}
	return d
}

// family returns the cluster of a prompt.
func (d Design) family(prompt string) string {
	if f := d.Families[prompt]; f != "" {
		return "family " + f
	}
	return "prompt " + prompt
}

// weightsOf returns the weights of agents in their order; nil if they are equal.
func (d Design) weightsOf(agents []string) []float64 {
	if len(d.Weights) == 0 || len(agents) == 0 {
		return nil
	}
	out := make([]float64, len(agents))
	for i, a := range agents {
		out[i] = d.Weights[a]
	}
	if slices.Min(out) == slices.Max(out) {
		return nil
	}
	return out
}

// estimand describes the rates of a board in one sentence.
func (d Design) estimand(agents []string, weighted bool) string {
	if len(agents) == 0 {
		return ""
	}
	how := "equally weighted"
	if weighted {
		how = "weighted as the eval says"
	}
	who := fmt.Sprintf("these %d agents, %s", len(agents), how)
	if len(agents) == 1 {
		who = "this one agent"
	}
	frame := strings.TrimSuffix(d.Frame, ".")
	if frame == "" {
		frame = "all tasks of this kind"
	}
	return fmt.Sprintf("Share of answers of %s; prompts as if drawn from %s, each prompt family counts the same.", who, frame)
}
