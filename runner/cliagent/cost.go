package cliagent

import (
	"github.com/firstpick/firstpick/fixtures/prices"
	"github.com/firstpick/firstpick/runner/cliagent/stream"
	"github.com/firstpick/firstpick/runner/eval"
)

// priceOf returns the price of a model in the eval, or else in the table; nil if neither
// has one.
func priceOf(a eval.Agent, vendor string, t *prices.Table) *prices.Price {
	if p := a.Price; p != nil {
		or := func(v *float64, otherwise float64) float64 {
			if v != nil {
				return *v
			}
			return otherwise
		}
		return &prices.Price{
			Input: p.InputPerMTok, Output: p.OutputPerMTok, CacheRead: or(p.CacheReadPerMTok, p.InputPerMTok),
			CacheWrite: or(p.CacheWritePerMTok, p.InputPerMTok), Searches: or(p.PerThousandSearches, 0),
		}
	}
	if t == nil || vendor == "" {
		return nil
	}
	if p, ok := t.Find(vendor, bareModel(a.Model)); ok {
		return &p
	}
	return nil
}

// bareModel returns a model's name without its vendor.
func bareModel(model string) string {
	for i := range len(model) {
		if model[i] == '/' {
			return model[i+1:]
		}
	}
	return model
}

// cost returns the cost of an outcome: by the eval's price, else as the program reports
// it, else by the table. A program that reports 0 for used tokens does not know the
// price.
func (p *program) cost(o stream.Outcome) *float64 {
	reported := o.CostUSD
	if reported != nil && *reported == 0 && o.Usage != nil && o.Usage.In()+o.Usage.Output > 0 {
		reported = nil
	}
	if reported != nil && p.Price == nil {
		return reported
	}
	if p.price != nil && o.Usage != nil {
		usd := p.price.Cost(*o.Usage)
		return &usd
	}
	return reported
}
