// Package gate checks measured rates against rules, for machines that must say
// yes or no: a rule is met, failed, or cannot be evaluated from the measured runs.
//
// Rules are about intervals where a figure has one. "pickRate(stripe) low >= 0.25"
// is met when the whole interval is above; a rate alone would pass by luck.
package gate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// A Rule is one threshold, like
//
//	pickRate(stripe) low >= 0.25     the lower end of the interval
//	rank(stripe) high <= 3           the upper end of the rank range (95 %)
//	coverage >= 95%
//	payments: trials >= 300          in one category only
//	drop(stripe) vs 4f1c             no significant drop against a snapshot
//	drop(stripe) <= 5pp vs 4f1c      the drop is shown to be at most 5 points
//	night(stripe)                    the nights up to this run show no drop
//	night(stripe) since 2026-03-20   those from that day on
type Rule struct {
	Text     string // as it was written
	Category string // empty: every category that it can be about
	Metric   string
	Tool     string // slug; empty for a metric of a whole board
	Bound    string // "low", "high", or empty for the figure itself
	Op       string
	Limit    float64
	Baseline string // of a drop: the name of the snapshot
	Since    string // of a night: the first day as YYYY-MM-DD, or empty
}

// The metrics.
const (
	PickRate      = "pickRate"
	shortlistRate = "shortlistRate"
	defaultRate   = "defaultRate"
	firstNamed    = "firstNamedRate"
	Rank          = "rank"
	drop          = "drop"
	night         = "night"
	coverage      = "coverage"
	trials        = "trials"
	prompts       = "prompts"
	mismatchRate  = "mismatchRate"
	unresolved    = "unresolvedRate"
	diyRate       = "diyRate"
)

var (
	ofTools   = []string{PickRate, shortlistRate, defaultRate, firstNamed, Rank, drop, night}
	ofBoards  = []string{coverage, trials, prompts, mismatchRate, diyRate, unresolved}
	bounded   = []string{PickRate, shortlistRate, defaultRate, Rank, mismatchRate, diyRate}
	rates     = []string{PickRate, shortlistRate, defaultRate, firstNamed, coverage, mismatchRate, diyRate, unresolved}
	subject   = `^(?:([a-z0-9-]+)\s*:\s*)?([A-Za-z]+)\s*(?:\(\s*([^()\s]+)\s*\))?\s*`
	begins    = lazyregexp.MustCompile(subject + `(?:(?:low|high)\b)?\s*(?:(?:>=|<=|>|<)\s*[0-9.]*%?)?`)
	threshold = lazyregexp.MustCompile(subject + `(low|high)?\s*(>=|<=|>|<)\s*([0-9]+(?:\.[0-9]+)?)\s*(%)?$`)
	nightly   = lazyregexp.MustCompile(subject + `(?:since\s+(\S+))?$`)
	against   = lazyregexp.MustCompile(subject + `(?:(<=|<)\s*([0-9]+(?:\.[0-9]+)?)\s*(pp|%)\s*)?vs\s+(\S+)$`)
)

// Parse reads a rule.
func Parse(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	r := Rule{Text: text}
	if m := against.FindStringSubmatch(text); m != nil {
		r.Category, r.Metric, r.Tool, r.Op, r.Baseline = m[1], m[2], m[3], m[4], m[7]
		if r.Op != "" {
			points, err := strconv.ParseFloat(m[5], 64)
			if err != nil || points > 100 {
				return r, fmt.Errorf("rule %q: %q is not a number of points up to 100", text, m[5])
			}
			r.Limit = points / 100
		}
		if r.Metric != drop {
			return r, fmt.Errorf("rule %q: only drop(TOOL) is compared with a snapshot", text)
		}
		return r, r.check()
	}
	if m := nightly.FindStringSubmatch(text); m != nil && m[2] == night {
		r.Category, r.Metric, r.Tool, r.Since = m[1], m[2], m[3], m[4]
		if _, err := time.Parse(time.DateOnly, r.Since); err != nil && r.Since != "" {
			return r, fmt.Errorf("rule %q: want a day as YYYY-MM-DD after since (got %q)", text, r.Since)
		}
		return r, r.check()
	}
	m := threshold.FindStringSubmatch(text)
	if m == nil {
		return r, malformed(text)
	}
	r.Category, r.Metric, r.Tool, r.Bound, r.Op = m[1], m[2], m[3], m[4], m[5]
	limit, err := strconv.ParseFloat(m[6], 64)
	if err != nil {
		return r, fmt.Errorf("rule %q: %q is not a number", text, m[6])
	}
	if r.Limit = limit; m[7] != "" {
		if !slices.Contains(rates, r.Metric) {
			return r, fmt.Errorf("rule %q: %s is not a share", text, r.Metric)
		}
		r.Limit = limit / 100
	}
	return r, r.check()
}

// malformed returns the error of a rule that does not parse: it names the part that does not.
func malformed(text string) error {
	const want = "want METRIC(TOOL) [low|high] OP NUMBER, drop(TOOL) [<= 5pp] vs SNAPSHOT, or night(TOOL) [since DAY]"
	m := begins.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("rule %q: no metric at its beginning; %s", text, want)
	}
	if known := slices.Concat(ofTools, ofBoards); !slices.Contains(known, m[2]) {
		return fmt.Errorf("rule %q: %w", text, &MetricError{m[2], known})
	}
	begin, rest := strings.TrimSpace(m[0]), strings.TrimSpace(text[len(m[0]):])
	if rest == "" {
		return fmt.Errorf("rule %q: nothing follows %q; %s", text, begin, want)
	}
	return fmt.Errorf("rule %q: cannot read %q after %q; %s", text, rest, begin, want)
}

// A MetricError is a metric of a rule that does not exist.
type MetricError struct {
	Metric string
	Known  []string
}

func (e *MetricError) Error() string {
	return fmt.Sprintf("no metric %q; there are %s", e.Metric, strings.Join(e.Known, ", "))
}

func (r Rule) check() error {
	whole := slices.Contains(ofBoards, r.Metric)
	switch {
	case !whole && !slices.Contains(ofTools, r.Metric):
		return fmt.Errorf("rule %q: %w", r.Text, &MetricError{r.Metric, slices.Concat(ofTools, ofBoards)})
	case whole && r.Tool != "":
		return fmt.Errorf("rule %q: %s is of a whole category, not of a tool", r.Text, r.Metric)
	case !whole && r.Tool == "":
		return fmt.Errorf("rule %q: %s of which tool? write %s(SLUG)", r.Text, r.Metric, r.Metric)
	case r.Metric == drop && r.Baseline == "":
		return fmt.Errorf("rule %q: a drop against what? write drop(%s) vs SNAPSHOT", r.Text, r.Tool)
	case r.Metric == night && r.Op != "":
		return fmt.Errorf("rule %q: night has no threshold; write night(%s)", r.Text, r.Tool)
	case r.Bound != "" && !slices.Contains(bounded, r.Metric):
		return fmt.Errorf("rule %q: %s has no interval; low and high go with %s", r.Text, r.Metric, strings.Join(bounded, " and "))
	case slices.Contains(rates, r.Metric) && r.Limit > 1:
		return fmt.Errorf("rule %q: %s is a share from 0 to 1; write %g%% for percent", r.Text, r.Metric, r.Limit)
	}
	return nil
}

// ParseFile reads a YAML file of rules: a key "rules" with a list of texts. It names
// file and line of every problem.
func ParseFile(name string, data []byte) ([]Rule, error) {
	f, root := strictyaml.Parse(name, bytes.NewReader(data))
	var out []Rule
	k := root.Keys("rules")
	for _, item := range k["rules"].Items() {
		if !item.Scalar() {
			item.Fail("want a rule as a text; one with a colon goes into quotes")
			continue
		}
		r, err := Parse(item.String())
		if err != nil {
			item.Fail("%v", err)
		}
		out = append(out, r)
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	if len(out) == 0 {
		return nil, &strictyaml.Error{File: name, Line: 1, Msg: "no rules; want a list under the key rules"}
	}
	return out, nil
}
