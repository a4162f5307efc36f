package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/label"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// promptOf returns the text of a trial's prompt.
func (w *labelling) promptOf(t plan.Trial) string {
	for _, p := range w.run.Eval.Prompts {
		if p.ID == t.PromptID {
			return p.Text
		}
	}
	return ""
}

// lines returns what a labeller sees of a trial.
func (w *labelling) lines(r journal.Record) []string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "--- asked\n%s\n", printableText(w.promptOf(r.Trial)))
	writeAnswer(&b, r.Answer, false)
	if text := stopText(r.Answer.Transcript.Stop); text != "" {
		_, _ = fmt.Fprintf(&b, "\n--- end\n%s\n", text)
	}
	return strings.Split(strings.TrimRight(printableText(b.String()), "\n"), "\n")
}

func (w *labelling) slugs() []string {
	slugs := make([]string, len(w.category.Entries))
	for i, e := range w.category.Entries {
		slugs[i] = e.Tool.Slug
	}
	return slugs
}

// export prints the trials that the labeller has not labelled as a blind sheet.
func (w *labelling) export() error {
	answers, err := w.answers(w.set)
	if err != nil {
		return err
	}
	own, enc := w.set.By(w.by), json.NewEncoder(w.env.Stdout)
	enc.SetEscapeHTML(false)
	for _, d := range w.set.Sample.Trials {
		if _, done := own[d.Trial]; done {
			continue
		}
		r := answers[d.Trial]
		row := label.Row{
			Trial: d.Trial, Category: r.Trial.Category, Tools: w.slugs(), Outcomes: pick.Kinds(), Prompt: w.promptOf(r.Trial),
			Input: r.Answer.Transcript, Shortlist: []string{}, Rejected: []string{},
		}
		if err := enc.Encode(row); err != nil {
			return err
		}
	}
	return nil
}

// importSheet stores the labels of a blind sheet, all of them or none.
func (w *labelling) importSheet() error {
	f, err := os.Open(w.importFile)
	if err != nil {
		return badInput(err)
	}
	defer func() { _ = f.Close() }()
	for _, l := range w.set.By(w.by) {
		if l.Adjudicates {
			return usageErr("--by NAME", "%s has decided labels of this run that differ, and cannot label it", w.by)
		}
	}
	labels, empty, err := label.ReadSheet(f, w.set, w.slugs(), w.by)
	if err != nil {
		return &codedError{fmt.Errorf("%s: %w", w.importFile, err), exitUsage, "nothing was stored"}
	}
	for i := range labels {
		labels[i].At = w.env.Now().UTC()
	}
	if len(labels) > 0 {
		if err := w.file.Add(labels...); err != nil {
			return err
		}
	}
	w.note("stored %d labels by %s; %d rows have no outcome", len(labels), w.by, empty)
	return nil
}

// printCases prints the labelled answers as cases for `extract score`.
func (w *labelling) printCases() error {
	set, err := w.labels()
	if err != nil {
		return err
	}
	answers, err := w.answers(set)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w.env.Stdout)
	enc.SetEscapeHTML(false)
	for _, s := range set.Settle() {
		if err := enc.Encode(s.Case(w.run.Eval.Category, answers[s.Trial].Answer.Transcript)); err != nil {
			return err
		}
	}
	return nil
}

// labels returns the set of a run that has labels.
func (w *labelling) labels() (*label.Set, error) {
	set, err := w.file.Read()
	if err != nil {
		return nil, badInput(err)
	}
	if set == nil || len(set.Labels) == 0 {
		return nil, usageErr("firstpick label "+w.run.ID, "run %s has no labels", w.run.ID)
	}
	return set, nil
}

// An agreement is that of all labellers of a run.
type agreement struct {
	Run      string `json:"run"`
	Sampled  int    `json:"sampled"`
	Labelled int    `json:"labelled"`
	// Undecided is how many trials have labels that differ and no adjudication.
	Undecided     int            `json:"undecided"`
	Pairs         []pairOf       `json:"pairs"`
	Disagreements []disagreement `json:"disagreements"`
}

// A pairOf is the agreement of two labellers on the trials that both labelled.
type pairOf struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Trials int    `json:"trials"`
	// Agreed is the share of trials with the same label; Kappa is Cohen's. Both are null
	// where they do not exist.
	Agreed *float64 `json:"agreed"`
	Kappa  *float64 `json:"kappa"`
}

type disagreement struct {
	Trial   string            `json:"trial"`
	Labels  map[string]string `json:"labels"` // by labeller
	Decided string            `json:"decided,omitempty"`
}

func agreementOf(set *label.Set) agreement {
	a := agreement{Run: set.Sample.Run, Sampled: len(set.Sample.Trials), Pairs: []pairOf{}, Disagreements: []disagreement{}}
	for _, s := range set.Settle() {
		a.Labelled++
		d := disagreement{Trial: s.Trial, Labels: map[string]string{}}
		differ := false
		for _, l := range s.All {
			d.Labels[l.By] = l.Text()
			differ = differ || l.Text() != s.All[0].Text()
		}
		if s.Disputed {
			a.Undecided++
		} else if s.Adjudicates {
			d.Decided = s.Text()
		}
		if differ {
			a.Disagreements = append(a.Disagreements, d)
		}
	}
	names := set.Labellers()
	for i, one := range names {
		for _, two := range names[i+1:] {
			pairs, _ := set.Pairs(one, two)
			p := pairOf{A: one, B: two, Trials: len(pairs)}
			same := 0
			for _, pair := range pairs {
				if pair[0] == pair[1] {
					same++
				}
			}
			if len(pairs) > 0 {
				share := float64(same) / float64(len(pairs))
				p.Agreed = &share
			}
			if kappa, ok := stats.CohenKappa(pairs); ok {
				p.Kappa = &kappa
			}
			a.Pairs = append(a.Pairs, p)
		}
	}
	return a
}

func (w *labelling) printAgreement() error {
	set, err := w.labels()
	if err != nil {
		return err
	}
	a := agreementOf(set)
	if w.json {
		return printJSON(w.env, a)
	}
	t := table{header: []string{"measure", "value"}}
	t.add("sampled", fmt.Sprint(a.Sampled))
	t.add("labelled", fmt.Sprint(a.Labelled))
	t.add("undecided", fmt.Sprint(a.Undecided))
	for _, p := range a.Pairs {
		t.add(p.A+", "+p.B, fmt.Sprintf("%d trials, agreed %s, kappa %s", p.Trials, ratio(p.Agreed), ratio(p.Kappa)))
	}
	for _, d := range a.Disagreements {
		var parts []string
		for _, name := range set.Labellers() {
			if text := d.Labels[name]; text != "" {
				parts = append(parts, name+" "+text)
			}
		}
		if d.Decided != "" {
			parts = append(parts, "decided "+d.Decided)
		}
		t.add("differ "+d.Trial, strings.Join(parts, ", "))
	}
	if err := t.print(w.env, format{}); err != nil {
		return err
	}
	if names := set.Labellers(); len(names) == 1 {
		w.note("no kappa: it needs two people, and only %s has labelled; firstpick label %s --by NAME", names[0], w.run.ID)
	}
	return nil
}
