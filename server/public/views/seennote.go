package views

import (
	"html/template"
	"slices"

	"github.com/firstpick/firstpick/analytics/observed"
)

// A seenNote is what a section of observed lines says of all of them.
type seenNote struct {
	Coders   string // the agents; may be empty
	Unit     string // that is counted
	SeenAge  age    // of all lines; empty where they differ
	Language string // of all lines; empty for any
	Axis     template.HTML
	Notice   string
}

// seenNote is that of lines of all agents.
func (r *Renderer) seenNote(lines ...[]line) seenNote {
	n := seenNote{Coders: r.coders(), SeenAge: commonAge(lines...), Axis: shareAxis(), Notice: observed.Notice}
	if len(r.in.Observed) > 0 {
		n.Unit = r.in.Observed[0].Unit
	}
	return n
}

// coders names the agents of the observed boards.
func (r *Renderer) coders() string {
	var names []string
	for i := range r.in.Observed {
		for _, l := range r.in.Observed[i].Languages {
			for _, a := range l.Agents {
				names = append(names, a.Agent)
			}
		}
		for _, a := range r.in.Observed[i].Agents {
			names = append(names, a.Agent)
		}
	}
	slices.Sort(names)
	return and(slices.Compact(names))
}

// commonAge returns the age that all lines share, and marks them, so that their section has it once; it is empty where they
// differ.
func commonAge(lists ...[]line) age {
	all := slices.Concat(lists...)
	if len(all) == 0 || slices.ContainsFunc(all, func(l line) bool { return l.Age != all[0].Age }) {
		return age{}
	}
	for _, lines := range lists {
		for i := range lines {
			lines[i].SameAge = true
		}
	}
	return all[0].Age
}
