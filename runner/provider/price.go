package provider

import (
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

// What the worst case reckons with.
const (
	// slackTokens is for what a provider adds to a question by itself.
	slackTokens = 2000
	// bytesPerToken is few for any language that prompts are written in.
	bytesPerToken = 3
	// searchTokens is how much one web search gives the model to read.
	searchTokens = 10_000
	// unknownOutput is what a model is reckoned to write at most where nobody says:
	// much, for reasoning counts, and what is reserved too little breaks a budget.
	unknownOutput = 32_768
)

// priceOf returns an agent's price, and where it comes from: the eval, or the
// version of the table. It is nil where nobody knows, which is not free.
func priceOf(a eval.Agent, provider string, table *prices.Table) (price *prices.Price, source string) {
	if p := a.Price; p != nil {
		own := prices.Price{Input: p.InputPerMTok, CacheRead: p.InputPerMTok, CacheWrite: p.InputPerMTok, Output: p.OutputPerMTok}
		for to, from := range map[*float64]*float64{
			&own.CacheRead: p.CacheReadPerMTok, &own.CacheWrite: p.CacheWritePerMTok, &own.Searches: p.PerThousandSearches,
		} {
			if from != nil {
				*to = *from
			}
		}
		return &own, "eval"
	}
	if table != nil {
		if p, ok := table.Find(provider, a.Model); ok {
			return &p, table.Version
		}
	}
	return nil, ""
}

// Price returns the price of the model; nil where it is unknown.
func (c *client) Price() *prices.Price {
	if c.kind.free {
		return &prices.Price{}
	}
	return c.price
}

// cost is nil where the price or the tokens are unknown: never 0, which would mean
// free.
func (c *client) cost(u *prices.Usage) *float64 {
	switch {
	case c.kind.free:
		return new(float64)
	case c.price == nil || u == nil:
		return nil
	}
	usd := c.price.Cost(*u)
	return &usd
}

// Worst reckons the dearest answer: all input at the dearest rate, the longest
// output, and with web search all searches that are allowed, each read again with
// every later one.
func (c *client) Worst(t agent.Task) *float64 {
	if c.kind.free {
		return new(float64)
	}
	if c.price == nil {
		return nil
	}
	in, out := len(t.Prompt)/bytesPerToken+slackTokens, c.MaxTokens
	if out == 0 {
		out = c.price.MaxOutput
	}
	if out == 0 {
		out = unknownOutput
	}
	found := 0
	if wants(c.Agent) {
		found = maxSearches
		in += searchTokens * found * (found + 1) / 2
		if c.kind.pauses {
			found += maxPauses // each round may search once more, and reads all again
			in *= 1 + maxPauses
		}
	}
	dearest := *c.price
	dearest.Input = max(dearest.Input, dearest.CacheRead, dearest.CacheWrite)
	usd := dearest.Cost(prices.Usage{Input: in, Output: out, Searches: found})
	return &usd
}
