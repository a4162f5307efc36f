package progress

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner"
)

// A column is one figure of a lane or an agent.
type column struct {
	name  string
	width int
	from  int  // the narrowest terminal that shows it
	left  bool // text begins at the left
}

// laneColumns come after the name.
var laneColumns = [...]column{
	{"state", 12, 50, true},
	{"in flight", 9, 0, false},
	{"max", 5, 110, false},
	{"rate", 8, 76, false},
	{"pace", 8, 110, false},
	{"left", 6, 0, false},
	{"retrying", 8, 100, false},
	{"429s", 5, 60, false},
	{"errors", 6, 60, false},
}

// whyFrom is the narrowest terminal that shows the reason of a wait in the row of a
// lane; on narrower ones it is below the lane.
const whyFrom = 140

func (f frame) laneTable(t *tally) section {
	if t.status == nil || len(t.status.Lanes) == 0 {
		return section{}
	}
	shown := slices.DeleteFunc(slices.Clone(laneColumns[:]), func(c column) bool { return c.from > f.width || t.remote && c.name != "state" })
	names := []string{"provider"}
	for _, l := range t.status.Lanes {
		names = append(names, clean(l.Name))
	}
	name := f.nameWidth(names, shown)
	s := section{rows: "providers"}
	heads := make([]string, len(shown))
	for i, c := range shown {
		heads[i] = c.name
	}
	head := row(name, "provider", shown, heads)
	if f.width >= whyFrom {
		head += "  why"
	}
	s.head = f.dim.Render(clip(strings.TrimRight(head, " "), f.width))
	for _, l := range byTrouble(t.status.Lanes) {
		s.blocks = append(s.blocks, f.lane(t, l, name, shown))
	}
	return s
}

// byTrouble puts lanes first that wait or are closed, for these are looked for
// where not all fit.
func byTrouble(lanes []runner.LaneStatus) []runner.LaneStatus {
	weight := func(l runner.LaneStatus) int {
		switch {
		case l.Phase == runner.PhaseClosed:
			return 0
		case l.Phase == runner.PhaseWaiting, l.Phase == runner.PhaseConnecting:
			return 1
		case l.Waiting+l.InFlight > 0:
			return 2
		default:
			return 3
		}
	}
	out := slices.Clone(lanes)
	sorting.StableFunc(out, func(a, b runner.LaneStatus) int { return weight(a) - weight(b) })
	return out
}

func (f frame) lane(t *tally, l runner.LaneStatus, name int, shown []column) []string {
	figures := map[string]string{
		"state": f.phase(t, l), "in flight": fmt.Sprintf("%d/%d", l.InFlight, l.Limit), "max": fmt.Sprint(l.Max),
		"rate": fmt.Sprintf("%.1f/s", t.rate(l.Agents, f.now)), "pace": "-", "left": fmt.Sprint(l.Waiting + l.InFlight),
		"retrying": fmt.Sprint(l.Retrying), "429s": fmt.Sprint(l.Limited), "errors": fmt.Sprint(l.Failed),
	}
	if l.PerSecond > 0 {
		figures["pace"] = fmt.Sprintf("%.1f/s", l.PerSecond)
	}
	values := make([]string, len(shown))
	for i, c := range shown {
		values[i] = figures[c.name]
	}
	style := lipgloss.NewStyle()
	switch l.Phase {
	case runner.PhaseClosed:
		style = f.bad
	case runner.PhaseWaiting, runner.PhaseConnecting:
		style = f.hold
	}
	line, why := row(name, clean(l.Name), shown, values), clean(l.Reason)
	if l.WaitingFor != "" && f.width < whyFrom { // without the reason, which is long
		why = "waits for " + clean(l.WaitingFor)
	}
	switch {
	case why == "":
		return []string{style.Render(clip(strings.TrimRight(line, " "), f.width))}
	case f.width >= whyFrom:
		return []string{style.Render(clip(line+"  "+why, f.width))}
	case f.width < 50 && l.WaitingFor == "": // the state is not shown
		why = f.phase(t, l) + ": " + why
	}
	return []string{style.Render(clip(strings.TrimRight(line, " "), f.width)), style.Render(clip("  └ "+why, f.width))}
}

func (f frame) phase(t *tally, l runner.LaneStatus) string {
	d := until(l, f.now)
	switch {
	case !t.remote && l.Phase != runner.PhaseClosed && l.Waiting+l.InFlight == 0:
		return "done"
	case l.WaitingFor != "": // the reason says for which
		return "waits"
	case l.Phase == runner.PhaseWaiting && d > 0:
		return "waits " + short(d)
	case l.Phase == runner.PhaseSlowStart:
		return "ramping up"
	}
	return clean(l.Phase)
}

// nameWidth is how wide the column of names is: as the longest, where the other
// columns leave as much.
func (f frame) nameWidth(names []string, shown []column) int {
	room, longest := f.width, 0
	for _, c := range shown {
		room -= c.width + 1
	}
	for _, n := range names {
		longest = max(longest, lipgloss.Width(n))
	}
	return max(minName, min(longest, room))
}

func row(width int, name string, columns []column, values []string) string {
	var b strings.Builder
	b.WriteString(pad(name, width))
	for i, c := range columns {
		v := clip(values[i], c.width)
		gap := strings.Repeat(" ", c.width-lipgloss.Width(v))
		if c.left {
			b.WriteString(" " + v + gap)
		} else {
			b.WriteString(" " + gap + v)
		}
	}
	return b.String()
}
