package pick

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/firstpick/firstpick/runner/transcript"
)

// A Case is one labelled answer.
type Case struct {
	ID       string                `json:"id"`
	Category string                `json:"category"`
	Input    transcript.Transcript `json:"input"`
	Gold     Gold                  `json:"gold"`
	Labels   []Label               `json:"labels,omitempty"`
	Note     string                `json:"note,omitempty"`
	// Stratum names a part of the sample that is also scored alone. Language is ISO 639-1;
	// empty for that of the extracted result.
	Stratum  string `json:"stratum,omitempty"`
	Language string `json:"language,omitempty"`
}

// Gold is the label of an answer by people.
type Gold struct {
	Outcome   Kind     `json:"outcome"`
	Picked    *string  `json:"picked"`
	Shortlist []string `json:"shortlist"`
	Rejected  []string `json:"rejected"`
	Say       *string  `json:"say"`
}

// A Label is the label of one person.
type Label struct {
	By     string `json:"by"`
	Picked string `json:"picked"`
}

// Scores measure the agreement of an extractor with labels. A ratio with denominator 0 is
// null.
type Scores struct {
	Cases int `json:"cases"` // scored, without those of unknown categories
	// Accuracy is the share of cases whose outcome and pick agree.
	Accuracy float64 `json:"accuracy"`
	// PickPrecision and PickRecall are over cases that either side says picked
	// a tool; DIYPrecision over those extracted as diy; ShortlistRecall over
	// all labelled shortlist entries. Measures has the other ratios.
	PickPrecision   *float64 `json:"pickPrecision"`
	PickRecall      *float64 `json:"pickRecall"`
	DIYPrecision    *float64 `json:"diyPrecision"`
	ShortlistRecall *float64 `json:"shortlistRecall"`
	// Kappa is Cohen's, over labels: the tool, or the outcome.
	Kappa *float64 `json:"kappa"`
	// Confusion counts cases by labelled and extracted outcome. Unresolved cases are
	// extracted as ambiguous.
	Confusion map[Kind]map[Kind]int `json:"confusion"`
	Misses    []Miss                `json:"misses"`

	// Measures are those of all cases; the others those of a part: by layer of reading, by
	// labelled outcome, by stratum of the case, and by language.
	Measures   *Measures            `json:"measures"`
	ByLayer    map[string]*Measures `json:"byLayer"`
	ByOutcome  map[string]*Measures `json:"byOutcome"`
	ByStratum  map[string]*Measures `json:"byStratum"`
	ByLanguage map[string]*Measures `json:"byLanguage"`
	// UnknownCategories counts the cases that were not scored, by category.
	UnknownCategories map[string]int `json:"unknownCategories"`
}

// A Miss is a case on which extractor and label differ.
type Miss struct {
	ID   string `json:"id"`
	Want string `json:"want"`
	Got  string `json:"got"`
	// Layer is the one that decided; Rule the rule, or the last that was tried.
	Layer string `json:"layer"`
	Rule  string `json:"rule,omitempty"`
}

const maxCase = 16 << 20

// ReadCases reads labelled answers, one JSON object a line. Errors name the line.
func ReadCases(r io.Reader) ([]Case, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 1<<16), maxCase)
	var out []Case
	var errs []error
	seen := map[string]int{}
	n := 0
	for in.Scan() {
		n++
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		c, err := readCase(in.Bytes())
		if first := seen[c.ID]; err == nil && first > 0 {
			err = fmt.Errorf("duplicate id %q, first on line %d", c.ID, first)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("line %d: %w", n, err))
			continue
		}
		seen[c.ID] = n
		out = append(out, c)
	}
	if err := in.Err(); err != nil {
		errs = append(errs, fmt.Errorf("line %d: %w", n+1, err))
	}
	if len(out) == 0 && len(errs) == 0 {
		errs = append(errs, errors.New("no labelled case"))
	}
	return out, errors.Join(errs...)
}

func readCase(line []byte) (Case, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	var c Case
	if err := dec.Decode(&c); err != nil {
		return c, fmt.Errorf("not a labelled case: %w", err)
	}
	switch {
	case c.ID == "":
		return c, errors.New("id is missing")
	case c.Category == "":
		return c, errors.New("category is missing")
	case !slices.Contains(Kinds(), c.Gold.Outcome):
		return c, fmt.Errorf("gold outcome %q is unknown", c.Gold.Outcome)
	}
	return c, nil
}

func (g Gold) picked() string {
	if g.Picked == nil {
		return ""
	}
	return *g.Picked
}

func label(k Kind, picked string) string {
	if picked == "" {
		return string(k)
	}
	return string(k) + ":" + picked
}

// ErrUnknownCategory is what extract returns in Score for a case that it cannot read.
var ErrUnknownCategory = errors.New("unknown category")

// Score extracts every case and compares. A case of an unknown category is only counted.
func Score(cases []Case, extract func(category string, t transcript.Transcript) (Result, error)) (Scores, error) {
	s := Scores{
		Confusion: map[Kind]map[Kind]int{}, Misses: []Miss{}, Measures: &Measures{}, UnknownCategories: map[string]int{},
		ByLayer: map[string]*Measures{}, ByOutcome: map[string]*Measures{}, ByStratum: map[string]*Measures{}, ByLanguage: map[string]*Measures{},
	}
	var pairs [][2]string
	for i := range cases {
		got, err := extract(cases[i].Category, cases[i].Input)
		if errors.Is(err, ErrUnknownCategory) {
			s.UnknownCategories[cases[i].Category]++
			continue
		} else if err != nil {
			return Scores{}, fmt.Errorf("case %s: %w", cases[i].ID, err)
		}
		pairs = append(pairs, s.add(&cases[i], &got))
	}
	m := s.Measures
	s.Cases = m.Cases
	if m.Accuracy.Value != nil {
		s.Accuracy = *m.Accuracy.Value
	}
	s.PickPrecision, s.PickRecall = m.PickPrecision.Value, m.PickRecall.Value
	s.DIYPrecision, s.ShortlistRecall = m.DIYPrecision.Value, m.ShortlistRecall.Value
	s.Kappa = kappa(pairs)
	return s, nil
}

// add counts a case, and returns its labels by people and by the extractor.
func (s *Scores) add(c *Case, got *Result) [2]string {
	want, have := label(c.Gold.Outcome, c.Gold.picked()), label(got.Kind, got.Picked)
	if want != have {
		s.Misses = append(s.Misses, Miss{c.ID, want, have, got.Layer(), got.Rule})
	}
	if s.Confusion[c.Gold.Outcome] == nil {
		s.Confusion[c.Gold.Outcome] = map[Kind]int{}
	}
	s.Confusion[c.Gold.Outcome][got.Kind]++
	s.Measures.add(c.Gold, got)
	for _, part := range []struct {
		by   map[string]*Measures
		name string
	}{
		{s.ByLayer, got.Layer()}, {s.ByOutcome, string(c.Gold.Outcome)}, {s.ByStratum, c.Stratum},
		{s.ByLanguage, cmp.Or(c.Language, got.Language, "unknown")},
	} {
		if part.name == "" {
			continue
		}
		if part.by[part.name] == nil {
			part.by[part.name] = &Measures{}
		}
		part.by[part.name].add(c.Gold, got)
	}
	return [2]string{want, have}
}

// kappa is Cohen's (1960): agreement beyond that of the margins.
func kappa(pairs [][2]string) *float64 {
	left, right := map[string]float64{}, map[string]float64{}
	agree, n := 0.0, float64(len(pairs))
	for _, p := range pairs {
		left[p[0]]++
		right[p[1]]++
		if p[0] == p[1] {
			agree++
		}
	}
	chance := 0.0
	for k, v := range left {
		chance += v * right[k] / (n * n)
	}
	if n == 0 || math.Abs(1-chance) < 1e-12 {
		return nil
	}
	v := (agree/n - chance) / (1 - chance)
	return &v
}
