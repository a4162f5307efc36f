package runner

import (
	"fmt"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

// money is the spent amount and the possible charges, for a run or for one of its
// agents. An attempt's worst case is reserved before the attempt and settled with its
// outcome.
type money struct {
	limit    float64 // 0 means unlimited
	spent    float64
	lost     float64 // worst case of attempts with unreported costs
	reserved float64
	held     int  // number of reservations; their sum may have rounding errors
	unknown  bool // an answer had an unknown cost
}

func (m *money) reserve(worst float64) {
	m.reserved += worst
	m.held++
}

// fits tolerates rounding errors of many small amounts.
func (m *money) fits(amount float64) bool {
	const slack = 1e-9
	return m.limit <= 0 || m.spent+m.lost+m.reserved+amount <= m.limit*(1+slack)
}

// settle ends a reservation with the attempt's cost, or its worst case if it may have
// been charged.
func (m *money) settle(worst float64, cost *float64, charged bool) {
	m.reserved -= worst
	if m.held--; m.held == 0 {
		m.reserved = 0
	}
	switch {
	case cost != nil:
		m.spent += *cost
	case charged:
		m.unknown = true
		m.lost += worst
	}
}

// CheckBudget returns an error if a budget cannot be enforced: an agent costs money
// without a known maximum. agents may lack some of the eval's.
func CheckBudget(e *eval.Eval, agents map[string]agent.Agent, maxCostUSD float64) error {
	for _, spec := range e.Agents {
		a := agents[spec.Name]
		if a == nil || !a.Profile().Paid || (maxCostUSD <= 0 && spec.MaxCostUSD <= 0) {
			continue
		}
		for _, p := range e.Prompts {
			if a.Worst(agent.Task{Trial: plan.Trial{Agent: spec.Name, PromptID: p.ID}, Prompt: p.Text}) != nil {
				continue
			}
			hint := "give it price: {input_per_mtok: USD, output_per_mtok: USD} in the eval, or its model a line in the file of --prices"
			if spec.IsProgram() {
				hint = "give it trial_cost_usd, the most that one trial may cost"
			}
			return fmt.Errorf("agent %s: a budget needs a known maximum cost per attempt: %s", spec.Name, hint)
		}
	}
	return nil
}
