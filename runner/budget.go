package runner

import (
	"context"
	"fmt"
	"sync"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/plan"
)

const (
	// assumedOutput is the length of an answer that has no limit of its own, in
	// tokens.
	assumedOutput = 4096
	// bytesPerToken is below what tokenisers reach on prose, so that a prompt
	// is reckoned too dear rather than too cheap.
	bytesPerToken = 3
)

// A budget keeps what is spent, and what may yet be charged, under a limit. An
// attempt's worst case is reserved before it is made and settled when its
// outcome is known.
type budget struct {
	limit  float64 // 0 means none
	prices map[string]eval.Price
	output map[string]int // most tokens of an answer, by agent
	paid   map[string]bool

	mu       sync.Mutex
	settled  chan struct{} // closed and replaced whenever a reservation ends
	reserved float64
	pending  int     // reservations
	lost     float64 // worst case of attempts that gave no answer and may be charged
	spent    float64
	unknown  bool // an answer came without a known cost
}

func newBudget(r *Runner, spent float64) *budget {
	b := &budget{
		limit: r.MaxCostUSD, spent: spent, settled: make(chan struct{}),
		prices: map[string]eval.Price{}, output: map[string]int{}, paid: map[string]bool{},
	}
	for _, a := range r.Eval.Agents {
		b.paid[a.Name] = a.Kind == eval.KindOpenAIChat
		b.output[a.Name] = a.MaxTokens
		if a.MaxTokens == 0 {
			b.output[a.Name] = assumedOutput
		}
		if p, ok := r.price(a); ok {
			b.prices[a.Name] = p
		}
	}
	return b
}

func (r *Runner) price(a eval.Agent) (eval.Price, bool) {
	if p, ok := r.Prices[a.Name]; ok {
		return p, true
	}
	if a.Price != nil {
		return *a.Price, true
	}
	return eval.Price{}, false
}

// checkPrices refuses a bounded run that asks an agent of unknown price.
func (r *Runner) checkPrices(trials []plan.Trial) error {
	if r.MaxCostUSD <= 0 {
		return nil
	}
	asked := map[string]bool{}
	for _, t := range trials {
		asked[t.Agent] = true
	}
	for _, a := range r.Eval.Agents {
		if _, ok := r.price(a); asked[a.Name] && a.Kind == eval.KindOpenAIChat && !ok {
			return fmt.Errorf("agent %s has no price, so its cost cannot be kept under %.2f USD: set price.input_per_mtok and price.output_per_mtok", a.Name, r.MaxCostUSD)
		}
	}
	return nil
}

// worst is the most that one attempt may cost.
func (b *budget) worst(agent, prompt string) float64 {
	p := b.prices[agent]
	in := float64(len(prompt)/bytesPerToken + 1)
	return (in*p.InputPerMTok + float64(b.output[agent])*p.OutputPerMTok) / 1e6
}

// reserve sets the amount aside. Where it does not fit it waits for others to
// settle for less, and reports false once nothing is pending and it still does
// not fit, or the context has ended.
func (b *budget) reserve(ctx context.Context, amount float64) bool {
	for {
		b.mu.Lock()
		fits := b.fits(amount)
		if fits {
			b.reserved += amount
			b.pending++
		}
		wait, hopeless := b.settled, b.pending == 0
		b.mu.Unlock()
		if fits || hopeless {
			return fits
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return false
		}
	}
}

// fits tolerates what adding many small amounts rounds off.
func (b *budget) fits(amount float64) bool {
	const slack = 1e-9
	return b.limit <= 0 || b.spent+b.lost+b.reserved+amount <= b.limit*(1+slack)
}

// renew makes room for another attempt of a trial that holds a reservation and
// whose last attempt may be charged although no answer came.
func (b *budget) renew(amount float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost += amount
	return b.fits(0)
}

// release ends a reservation and wakes who waits for room.
func (b *budget) release(amount float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= amount
	b.pending--
	close(b.settled)
	b.settled = make(chan struct{})
}

// book adds the cost of an answer. An agent that costs money and does not say
// how much is booked at its worst case against the limit.
func (b *budget) book(agent string, cost *float64, worst float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case cost != nil:
		b.spent += *cost
	case b.paid[agent]:
		b.unknown = true
		b.lost += worst
	}
}

// cost reckons what an answer cost where the agent did not.
func (b *budget) cost(agent string, in, out int) *float64 {
	p, ok := b.prices[agent]
	if !ok || in+out == 0 {
		return nil
	}
	usd := (float64(in)*p.InputPerMTok + float64(out)*p.OutputPerMTok) / 1e6
	return &usd
}

// state returns what was spent, and whether that is all.
func (b *budget) state() (usd float64, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent, !b.unknown && b.lost == 0
}
