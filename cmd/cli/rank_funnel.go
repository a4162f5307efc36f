package cli

import (
	"fmt"

	"github.com/firstpick/firstpick/analytics"
)

// printFunnels prints how far the trials of programs came with each tool.
func (o *rankOptions) printFunnels(boards []analytics.Board) error {
	t := table{header: []string{"category", "tool", "trials", "named", "picked", "installed", "builds", "builds ran"}}
	var notes boardNotes
	for _, b := range boards {
		c := o.counted[b.Category]
		if c.Funnel == nil {
			notes.add(b.Category, "no agent works in a folder: there is no funnel")
			continue
		}
		of, ran := c.Funnel.Trials, 0
		step := func(n int, share float64) string { return fmt.Sprintf("%d (%s)", n, percent(share)) }
		for _, tool := range c.Funnel.Tools {
			ran += tool.Ran
			passed := "-"
			if tool.Ran > 0 {
				passed = step(tool.Builds, tool.BuildsShare)
			}
			t.add(b.Category, tool.Slug, fmt.Sprint(of), step(tool.Named, tool.NamedShare), step(tool.Picked, tool.PickedShare),
				step(tool.Installed, tool.InstalledShare), passed, fmt.Sprint(tool.Ran))
		}
		if ran == 0 {
			notes.add(b.Category, "no trial ran a builds command; builds: in the eval names one")
		}
		notes.board(b, 0)
		notes.counts(b, c)
	}
	return t.printWith(o.env, o.format, notes)
}
