package bundle

import (
	"cmp"
	"math"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/gather"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

// sumUp sets the manifest's totals of trials and money.
func sumUp(g *gather.Run, root, id string, m *format.Manifest) error {
	p, err := runner.Replay(root, id)
	if err != nil {
		return err
	}
	m.Money = moneyOf(p.SpentUSD, p.LostUSD)
	m.Extractor = g.Extractors()
	byName := map[string]*format.Agent{}
	for i := range m.Agents {
		a := &m.Agents[i]
		byName[a.Name] = a
		a.Money = moneyOf(p.SpentBy[a.Name], p.LostBy[a.Name])
		if of := g.Agents[a.Name]; of != nil {
			for _, is := range of.Manifests {
				a.Manifests = append(a.Manifests, encodeManifest(is))
			}
		}
	}
	c := &m.Counts
	c.Planned = len(g.Trials)
	for i := range g.Trials {
		t := &g.Trials[i]
		a := byName[t.Agent]
		a.Planned++
		switch {
		case t.Valid:
			c.Valid++
			a.Valid++
			if m.AsOf == nil || t.At.After(*m.AsOf) {
				m.AsOf = &t.At
			}
		case t.Excluded != "":
			c.Excluded++
			a.Excluded++
			c.ExcludedBy[gather.Code(t.Excluded)]++
		default:
			c.Missing++
			c.MissingBy[cmp.Or(t.LastFailure(), format.NotAsked)]++
		}
	}
	return nil
}

// moneyOf rounds to a millionth of a dollar: sums of floats depend on their order.
func moneyOf(spent, lost float64) format.Money {
	round := func(v float64) float64 { return math.Round(v*1e6) / 1e6 }
	return format.Money{SpentUSD: round(spent), AtMostUSD: round(spent + lost)}
}

func encodeManifest(m journal.Manifest) format.AgentManifest {
	return format.AgentManifest{
		ID: m.ID(), Kind: m.Kind, Model: m.Model, Endpoint: m.Endpoint, Version: m.Version, Binary: m.Binary, Args: m.Args, Env: m.Env,
		Web: m.Web, Network: m.Network, Sandbox: m.Sandbox, Purity: m.Purity, Auth: m.Auth, Parameters: m.Parameters, Templates: m.Templates, Prices: m.Prices,
	}
}
