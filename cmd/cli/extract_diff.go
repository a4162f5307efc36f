package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/pick"
)

// exampleTrials is how many trials of a change are shown.
const exampleTrials = 2

func newExtractDiffCmd(env *Env) *cobra.Command {
	var asJSON bool
	var examples int
	cmd := &cobra.Command{
		Use:   "diff RUN",
		Short: "Show what the current extractor and catalogue change in a run",
		Long: `Extract the stored transcripts of a run again, and count the outcomes that change, by
old and new outcome, with example trials and the reason of each side. Nothing is
written: firstpick extract --run RUN does that. Imported outcomes have no transcript and
do not change.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			if examples < 0 {
				return usageErr("", "--examples is %d, want 0 or more", examples)
			}
			return a.extractDiff(args[0], examples, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().IntVar(&examples, "examples", exampleTrials, "example trials per change")
	return cmd
}

// An extractDiff is what extracting a run again changes.
type extractDiff struct {
	Run string `json:"run"`
	// Trials counts all answered trials, Outcomes those whose outcome changes, and
	// Evidence those that change only in the rest of their result.
	Trials   int `json:"trials"`
	Outcomes int `json:"outcomes"`
	Evidence int `json:"evidence"`
	// Changes are sorted by their trials, the most frequent first.
	Changes []outcomeChange `json:"changes"`
}

// An outcomeChange counts trials with the same old and new outcome.
type outcomeChange struct {
	From     string         `json:"from"`
	To       string         `json:"to"`
	Trials   int            `json:"trials"`
	Examples []trialChanged `json:"examples"`
}

type trialChanged struct {
	Trial  string  `json:"trial"`
	Prompt string  `json:"prompt"`
	Agent  string  `json:"agent"`
	Was    reading `json:"was"`
	Now    reading `json:"now"`
}

// A reading is why a result has its outcome.
type reading struct {
	Layer string `json:"layer"`
	Rule  string `json:"rule,omitempty"`
	// Quote is the strongest evidence.
	Quote     string `json:"quote,omitempty"`
	Extractor string `json:"extractor,omitempty"`
	Catalog   string `json:"catalog,omitempty"`
}

// extractDiff prints what extracting a run again changes.
func (a *app) extractDiff(runID string, examples int, asJSON bool) error {
	cat, err := a.catalog()
	if err != nil {
		return err
	}
	if runID, err = a.findRun(runID); err != nil {
		return err
	}
	changed, total, err := a.changedPicks(runID, cat)
	if err != nil {
		return err
	}
	d := summarize(changed, total)
	d.Run, d.Changes = runID, changesOf(changed, examples)
	a.noteDiff(d, "would change")
	if asJSON {
		return printJSON(a.env, d)
	}
	if len(d.Changes) == 0 {
		return nil
	}
	t := table{header: []string{"from", "to", "trials"}}
	for _, c := range d.Changes {
		t.add(c.From, c.To, fmt.Sprint(c.Trials))
	}
	if err := t.print(a.env, format{}); err != nil {
		return err
	}
	_, err = io.WriteString(a.env.Stdout, harmless(func(w io.Writer) {
		for _, c := range d.Changes {
			c.writeExamples(w)
		}
	}))
	return err
}

// summarize counts changed trials among all.
func summarize(changed []changedPick, total int) extractDiff {
	d := extractDiff{Trials: total}
	for _, c := range changed {
		if c.moved {
			d.Outcomes++
		} else {
			d.Evidence++
		}
	}
	return d
}

// noteDiff prints the counts; verb is what the outcomes did, or would do.
func (a *app) noteDiff(d extractDiff, verb string) {
	_, _ = fmt.Fprintf(a.env.Stderr, "%s: %s %s, %d more in the evidence only\n", counted(d.Trials, "trial"), counted(d.Outcomes, "outcome"), verb, d.Evidence)
}

// changesOf groups changed outcomes, with up to n examples of each.
func changesOf(changed []changedPick, n int) []outcomeChange {
	out := []outcomeChange{}
	for _, c := range changed {
		if !c.moved {
			continue
		}
		from, to := outcomeLabel(c.was), outcomeLabel(c.record.Result)
		i := slices.IndexFunc(out, func(o outcomeChange) bool { return o.From == from && o.To == to })
		if i < 0 {
			i, out = len(out), append(out, outcomeChange{From: from, To: to, Examples: []trialChanged{}})
		}
		out[i].Trials++
		if len(out[i].Examples) < n {
			t := c.record.Trial
			out[i].Examples = append(out[i].Examples, trialChanged{t.ID, t.PromptID, t.Agent, readingOf(c.was), readingOf(c.record.Result)})
		}
	}
	sorting.StableFunc(out, func(a, b outcomeChange) int {
		return cmp.Or(cmp.Compare(b.Trials, a.Trials), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

// outcomeLabel is an outcome with its pick, like tool:stripe.
func outcomeLabel(r *pick.Result) string {
	switch {
	case r == nil:
		return "-"
	case r.Unresolved:
		return "unresolved"
	case r.Picked != "":
		return string(r.Kind) + ":" + r.Picked
	}
	return string(r.Kind)
}

func readingOf(r *pick.Result) reading {
	if r == nil {
		return reading{}
	}
	out := reading{Layer: r.Layer(), Rule: r.Rule, Extractor: r.Extractor, Catalog: r.Catalog}
	for _, e := range r.Evidence {
		if out.Quote == "" || e.Tool == r.Picked && r.Picked != "" {
			out.Quote = cmp.Or(e.Quote, e.Path)
		}
		if e.Tool == r.Picked {
			break // evidence is sorted, strongest first
		}
	}
	return out
}

func (c outcomeChange) writeExamples(w io.Writer) {
	for _, e := range c.Examples {
		_, _ = fmt.Fprintf(w, "\n%s → %s: trial %s, prompt %s, agent %s\n", c.From, c.To, e.Trial, e.Prompt, e.Agent)
		e.Was.write(w, "was")
		e.Now.write(w, "now")
	}
}

func (r reading) write(w io.Writer, when string) {
	_, _ = fmt.Fprintf(w, "  %s  %s", when, cmp.Or(r.Layer, "no result"))
	if r.Rule != "" {
		_, _ = fmt.Fprintf(w, ", rule %q", r.Rule)
	}
	if r.Extractor != "" {
		_, _ = fmt.Fprintf(w, ", extractor %s", r.Extractor)
	}
	_, _ = fmt.Fprintln(w)
	if r.Quote != "" {
		_, _ = fmt.Fprintf(w, "       %q\n", r.Quote)
	}
}
