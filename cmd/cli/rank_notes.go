package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
)

// boardNotes collects the caveats of boards, so that those of several boards are printed once,
// below the table.
type boardNotes struct {
	texts      []string            // in the order in which they were added
	categories map[string][]string // by text
}

func (n *boardNotes) add(category, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if n.categories == nil {
		n.categories = map[string][]string{}
	}
	if !slices.Contains(n.texts, text) {
		n.texts = append(n.texts, text)
	}
	n.categories[text] = append(n.categories[text], category)
}

// board adds the caveats of a board of which some tools are hidden.
func (n *boardNotes) board(b analytics.Board, hidden int) {
	if b.Estimand != "" {
		n.add(b.Category, "%s", printable(b.Estimand))
	}
	if u := b.Unresolved; u != nil && *u > 0 {
		n.add(b.Category, "%d of %d trials (%s) are unresolved: no rule applies, and they count as ambiguous (firstpick trial --outcome unresolved)", *u, b.NTrials, percent(float64(*u)/float64(b.NTrials)))
	}
	if j := b.Judge; j != nil {
		n.add(b.Category, "two judge models read %d answers that no rule decided: they agreed on %d and resolved %d", j.Judged, j.Agreed, j.Resolved)
	}
	for _, code := range b.Warnings {
		n.add(b.Category, "%s: %s", code, analytics.Explain(code))
	}
	if e := b.ExtractionError; e != nil {
		n.add(b.Category, "extraction is wrong in %s of trials (%s–%s, %d labels)", percent(e.Rate), percent(e.CILow), percent(e.CIHigh), e.NLabels)
	}
	if hidden > 0 {
		n.add(b.Category, "%d tools without a pick or mention are hidden (--all shows them)", hidden)
	}
}

// counts adds what the outcomes do not say.
func (n *boardNotes) counts(b analytics.Board, c rankCounts) {
	d := c.Details
	if d.AskedUser > 0 {
		n.add(b.Category, "%d of %d trials (%s) end by asking the user, without a pick", d.AskedUser, b.NTrials, percent(float64(d.AskedUser)/float64(b.NTrials)))
	}
	if d.FollowedIncumbent > 0 {
		n.add(b.Category, "%d of %d trials (%s) pick the tool that their project already had", d.FollowedIncumbent, b.NTrials, percent(float64(d.FollowedIncumbent)/float64(b.NTrials)))
	}
	if c.Funnel == nil {
		return
	}
	ran, passed := 0, 0
	for _, t := range c.Funnel.Tools {
		ran, passed = ran+t.Ran, passed+t.Builds
	}
	if ran > 0 {
		n.add(b.Category, "%d of %d builds passed in trials with an installed pick (firstpick rank --funnel)", passed, ran)
	}
}

// printWith prints a table, and the notes below it to stderr.
func (t *table) printWith(env *Env, f format, n boardNotes) error {
	if err := t.print(env, f); err != nil {
		return err
	}
	for _, text := range n.texts {
		_, _ = fmt.Fprintf(env.Stderr, "note: %s: %s\n", strings.Join(n.categories[text], ", "), text)
	}
	return nil
}
