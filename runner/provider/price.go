package provider

import (
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

// Assumptions of the worst case.
const (
	// slackTokens are for text that a provider adds to a prompt.
	slackTokens = 2000
	// bytesPerToken is low for every language of prompts.
	bytesPerToken = 3
	// searchTokens is how much one web search gives the model to read.
	searchTokens = 10_000
	// unknownOutput is the longest output if no limit is known: high, because reasoning
	// counts and too small a reservation exceeds a budget.
	unknownOutput = 32_768
)

// priceOf returns an agent's price, and where it comes from: the eval, or the
// version of the table. It is nil if unknown, which does not mean free.
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

// Price returns the price of the model; nil if unknown.
func (c *client) Price() *prices.Price {
	if c.kind.free {
		return &prices.Price{}
	}
	return c.price
}

// cost returns nil if price or tokens are unknown, never 0, which would mean free.
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

// Worst estimates the most expensive answer: all input at the highest rate, the longest
// output, and with web search all allowed searches, each read again with every later
// one.
func (c *client) Worst(t agent.Task) *float64 {
	if c.kind.free {
		return new(float64)
	}
	if c.price == nil {
		return nil
	}
	in, out := (len(t.Prompt)+len(t.System))/bytesPerToken+slackTokens, c.MaxTokens
	if out == 0 {
		out = c.price.MaxOutput
	}
	if out == 0 {
		out = unknownOutput
	}
	found := 0
	if searchesWeb(c.Agent) {
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
