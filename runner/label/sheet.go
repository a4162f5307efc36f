package label

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A Row is one trial of a blind sheet, for people who label elsewhere: without the agent
// and the extracted outcome. The labeller fills in Outcome and what belongs to it; rows
// with an empty outcome are not labelled.
type Row struct {
	Trial    string `json:"trial"`
	Category string `json:"category"`
	// Tools are the slugs that Picked may be for outcome tool, Outcomes the outcomes.
	Tools    []string    `json:"tools"`
	Outcomes []pick.Kind `json:"outcomes"`
	Prompt   string      `json:"prompt"`
	// Input is the answer.
	Input     transcript.Transcript `json:"input"`
	Outcome   pick.Kind             `json:"outcome"`
	Picked    string                `json:"picked"`
	Shortlist []string              `json:"shortlist"`
	Rejected  []string              `json:"rejected"`
	Quote     string                `json:"quote"`
}

const maxRow = 64 << 20

// ReadSheet reads the filled-in rows of a blind sheet and returns them as labels of the
// set's sample by a person, and how many rows have no outcome. A row needs no more than
// its trial, outcome and pick. Errors name lines, all of them; then no label is returned.
func ReadSheet(r io.Reader, set *Set, tools []string, by string) (labels []Label, empty int, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), maxRow)
	var errs []error
	seen := map[string]int{}
	n := 0
	for in.Scan() {
		n++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		l, err := readRow(in.Bytes(), set, tools)
		if first := seen[l.Trial]; err == nil && first > 0 {
			err = fmt.Errorf("trial %s again, first on line %d", l.Trial, first)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		seen[l.Trial] = n
		if l.Outcome == "" {
			empty++
			continue
		}
		l.By = by
		labels = append(labels, l)
	}
	if err := in.Err(); err != nil {
		errs = append(errs, fmt.Errorf("line %d: %w", n+1, err))
	}
	if len(errs) > 0 {
		return nil, 0, joined(errs)
	}
	return labels, empty, nil
}

func readRow(text []byte, set *Set, tools []string) (Label, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var row Row
	if err := dec.Decode(&row); err != nil {
		return Label{}, fmt.Errorf("not a row of a blind sheet: %w", err)
	}
	l := Label{
		Run: set.Sample.Run, Trial: row.Trial, Outcome: row.Outcome, Picked: row.Picked,
		Shortlist: slices.Sorted(slices.Values(row.Shortlist)), Rejected: slices.Sorted(slices.Values(row.Rejected)), Quote: row.Quote,
	}
	at := slices.IndexFunc(set.Sample.Trials, func(d Drawn) bool { return d.Trial == row.Trial })
	if at < 0 {
		return l, fmt.Errorf("trial %q is not in the sample of run %s", row.Trial, set.Sample.Run)
	}
	if l.P = set.Sample.Trials[at].P; l.Outcome == "" {
		return l, nil
	}
	named := slices.Concat(l.Shortlist, l.Rejected)
	if l.Outcome == pick.Tool {
		named = append(named, l.Picked)
	}
	for _, slug := range named {
		if slug != "" && !slices.Contains(tools, slug) {
			return l, fmt.Errorf("unknown tool %q; the category has %s", slug, strings.Join(tools, ", "))
		}
	}
	checked := l
	checked.By = "by" // the caller's
	return l, checked.check()
}

// Case returns a settled label as a labelled case of `extract score`.
func (s Settled) Case(category string, input transcript.Transcript) pick.Case {
	c := pick.Case{ID: s.Trial, Category: category, Input: input, Gold: pick.Gold{
		Outcome: s.Outcome, Shortlist: slices.Clone(s.Shortlist), Rejected: append([]string{}, s.Rejected...),
	}}
	if s.Picked != "" {
		c.Gold.Picked = &s.Picked
	}
	if s.Outcome == pick.Tool && !slices.Contains(c.Gold.Shortlist, s.Picked) {
		c.Gold.Shortlist = append(c.Gold.Shortlist, s.Picked)
	}
	c.Gold.Shortlist = append([]string{}, slices.Sorted(slices.Values(c.Gold.Shortlist))...)
	for _, l := range s.All {
		c.Labels = append(c.Labels, pick.Label{By: l.By, Picked: l.Text()})
	}
	c.Note = s.Quote
	return c
}
