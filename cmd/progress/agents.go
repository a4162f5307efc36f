package progress

import (
	"fmt"
	"math"
	"strings"
)

// agentColumns come after the name; the pick in front follows them.
var agentColumns = [...]column{
	{"done", 11, 0, false},
	{"excluded", 8, 76, false},
	{"errors", 6, 60, false},
	{"cost", 9, 90, false},
}

// leadFrom is the narrowest terminal that shows the base of a share.
const leadFrom = 60

func (f frame) agentTable(t *tally) section {
	if len(t.agents) == 0 {
		return section{}
	}
	var shown []column
	for _, c := range agentColumns {
		if c.from <= f.width {
			shown = append(shown, c)
		}
	}
	names, heads := []string{"agent"}, make([]string, len(shown))
	for _, a := range t.agents {
		names = append(names, clean(a.name))
	}
	for i, c := range shown {
		heads[i] = c.name
	}
	lead := column{width: 13}
	if f.width >= leadFrom {
		lead.width = 24
	}
	name := f.nameWidth(names, append(shown, lead))
	s := section{rows: "agents", head: f.dim.Render(clip(row(name, "agent", shown, heads)+"  picks first", f.width))}
	for _, a := range t.agents {
		figures := map[string]string{
			"done": t.share(a), "excluded": fmt.Sprint(a.excluded), "errors": fmt.Sprint(a.attempts), "cost": a.cost(),
		}
		values := make([]string, len(shown))
		for i, c := range shown {
			values[i] = figures[c.name]
		}
		line := row(name, clean(a.name), shown, values)
		if label, share := a.lead(); label != "" {
			line += fmt.Sprintf("  %.0f%% %s", math.Round(100*share), clean(label))
		}
		s.blocks = append(s.blocks, []string{clip(strings.TrimRight(line, " "), f.width)})
	}
	return s
}

// share is the completed part of an agent, and only the new part where the part
// of each agent is not known: in a resumed run and in a shard.
func (t *tally) share(a *agentTally) string {
	if t.already > 0 || t.run.Shard != nil {
		return fmt.Sprintf("+%d", a.done)
	}
	return fmt.Sprintf("%d/%d", a.done, a.planned)
}

// cost is what an agent's answers have cost.
func (a *agentTally) cost() string {
	switch {
	case a.unpriced && a.spent == 0:
		return "-"
	case a.unpriced:
		return USD(a.spent) + "+"
	}
	return USD(a.spent)
}

func (f frame) failureLines(t *tally) section {
	s := section{rows: "reasons"}
	for _, x := range t.failures.top() {
		s.blocks = append(s.blocks, []string{f.bad.Render(clip("! "+x.String(), f.width))})
	}
	return s
}
