package pick

import (
	"bufio"
	"bytes"
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
	Cases int `json:"cases"`
	// Accuracy is the share of cases whose outcome and pick agree.
	Accuracy float64 `json:"accuracy"`
	// PickPrecision and PickRecall are over cases that either side says picked
	// a tool; DIYPrecision over those extracted as diy; ShortlistRecall over
	// all labelled shortlist entries.
	PickPrecision   *float64 `json:"pickPrecision"`
	PickRecall      *float64 `json:"pickRecall"`
	DIYPrecision    *float64 `json:"diyPrecision"`
	ShortlistRecall *float64 `json:"shortlistRecall"`
	// Kappa is Cohen's, over labels: the tool, or the outcome.
	Kappa *float64 `json:"kappa"`
	// Confusion counts cases by labelled and extracted outcome.
	Confusion map[Kind]map[Kind]int `json:"confusion"`
	Misses    []Miss                `json:"misses"`
}

// A Miss is a case on which extractor and label differ.
type Miss struct {
	ID   string `json:"id"`
	Want string `json:"want"`
	Got  string `json:"got"`
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

// A ratio is a pair of counters.
type ratio struct{ n, of int }

func (r *ratio) count(hit bool) {
	r.of++
	if hit {
		r.n++
	}
}

func (r ratio) value() *float64 {
	if r.of == 0 {
		return nil
	}
	v := float64(r.n) / float64(r.of)
	return &v
}

// Score extracts every case and compares.
func Score(cases []Case, extract func(category string, t transcript.Transcript) (Result, error)) (Scores, error) {
	s := Scores{Cases: len(cases), Confusion: map[Kind]map[Kind]int{}, Misses: []Miss{}}
	var right, precision, recall, diy, short ratio
	var pairs [][2]string
	for _, c := range cases {
		got, err := extract(c.Category, c.Input)
		if err != nil {
			return Scores{}, fmt.Errorf("case %s: %w", c.ID, err)
		}
		want := label(c.Gold.Outcome, c.Gold.picked())
		have := label(got.Kind, got.Picked)
		pairs = append(pairs, [2]string{want, have})
		right.count(want == have)
		if want != have {
			s.Misses = append(s.Misses, Miss{c.ID, want, have})
		}
		if got.Kind == Tool {
			precision.count(want == have)
		}
		if c.Gold.Outcome == Tool {
			recall.count(want == have)
		}
		if got.Kind == DIY {
			diy.count(c.Gold.Outcome == DIY)
		}
		for _, slug := range c.Gold.Shortlist {
			short.count(slices.Contains(got.Shortlist, slug))
		}
		if s.Confusion[c.Gold.Outcome] == nil {
			s.Confusion[c.Gold.Outcome] = map[Kind]int{}
		}
		s.Confusion[c.Gold.Outcome][got.Kind]++
	}
	if v := right.value(); v != nil {
		s.Accuracy = *v
	}
	s.PickPrecision, s.PickRecall, s.DIYPrecision, s.ShortlistRecall = precision.value(), recall.value(), diy.value(), short.value()
	s.Kappa = kappa(pairs)
	return s, nil
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
