package eval

import (
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

const (
	minWeight = 1e-6
	maxWeight = 1e6
	maxFrame  = 200 // bytes
)

// parseWeights returns the weights of the agents. A weight that is missing would count as
// either 0 or 1, so every agent needs one.
func parseWeights(f *strictyaml.File, n *strictyaml.Node, agents []Agent) map[string]float64 {
	if n == nil {
		return nil
	}
	var names []string
	for _, a := range agents {
		names = append(names, a.Name)
	}
	weights := map[string]float64{}
	n.Each(func(name string, line int, v *strictyaml.Node) {
		if !slices.Contains(names, name) {
			f.Add(line, "weights: no agent is named %q; %s", name, nearest.Hint(name, names))
			return
		}
		weights[name] = v.Float(minWeight, maxWeight)
	})
	for _, name := range names {
		if _, ok := weights[name]; !ok {
			n.Fail("weights: agent %q has no weight; name every agent, or leave weights out", name)
		}
	}
	return weights
}

// parseFrame returns the end of the sentence "prompts as if drawn from ...".
func parseFrame(n *strictyaml.Node) string {
	if n == nil {
		return ""
	}
	s := strings.TrimSpace(n.String())
	_, isText := n.Text()
	switch {
	case s == "" && isText:
		n.Fail("frame is empty: want what the prompts stand for, or leave frame out")
	case len(s) > maxFrame:
		n.Fail("frame: %d bytes; want at most %d", len(s), maxFrame)
	case strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		n.Fail("frame: want one line of printable text")
	case strings.HasSuffix(s, "."):
		n.Fail("frame: leave out the full stop; frame ends the sentence %q", "prompts as if drawn from ...")
	}
	return s
}
