package render

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// Functions are those that templates of boards use.
func Functions() map[string]any {
	return map[string]any{
		"whole": whole, "serious": serious, "agent": AgentName, "title": warningTitle, "warnings": warnings,
		"percent": chart.Percent, "coverage": coverage, "explain": analytics.Explain, "day": Day, "outcomes": outcomes, "layers": layers,
		"domain": DomainName, "ofDomain": ofDomain, "leader": leader, "points": Points, "pvalue": PValue,
		"metrics": metrics, "metric": metric, "columns": columns, "interval": Interval, "ofAgent": ofAgent,
		"linked": linked, "single": Single, "facts": Facts, "notes": BoardNotes, "tags": tags,
		"used": used, "unused": unused, "ranks": ranks, "notice": func() string { return observed.Notice }, "tau": tau,
		"path": func(url string) string { // of an absolute URL of ours
			if _, after, ok := strings.Cut(url, "://"); ok {
				if i := strings.Index(after, "/"); i >= 0 {
					return after[i:]
				}
			}
			return url
		},
	}
}

// address matches an https address in a text, without the punctuation after it.
var address = lazyregexp.MustCompile(`https://[^\s<>()"']*[^\s<>()"'.,;:]`)

// linked returns a citation as HTML in which its addresses are links.
func linked(text string) template.HTML {
	var b strings.Builder
	at := 0
	for _, m := range address.FindAllStringIndex(text, -1) {
		url := html.EscapeString(text[m[0]:m[1]])
		b.WriteString(html.EscapeString(text[at:m[0]]) + `<a href="` + url + `" rel="nofollow">` + strings.TrimPrefix(url, "https://") + "</a>")
		at = m[1]
	}
	b.WriteString(html.EscapeString(text[at:]))
	return template.HTML(b.String()) //nolint:gosec // every part is escaped
}

// serious leaves out the warnings that a page shows in another way: a banner for simulated
// answers, a sentence in place of the interval for a single prompt.
func serious(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(code string) bool { return code == analytics.Synthetic || code == analytics.SinglePrompt })
}

func whole(n int) string { return chart.Whole(int64(n)) }

// A Warning is what a page says of a doubt.
type Warning struct{ Title, Text, Link, More string }

// warnings explains the serious of some codes.
func warnings(codes []string) (out []Warning) {
	for _, code := range serious(codes) {
		title, text, found := strings.Cut(analytics.Explain(code), ": ")
		if !found || len(title) > len("unreliable interval") {
			title, text = warningTitle(code), analytics.Explain(code)
		}
		out = append(out, Warning{Title: Capital(title), Text: Capital(text)})
	}
	return out
}

// explained explains warnings of a board and of its tools. An early result says what it lacks.
func explained(b *analytics.Board, codes []string) []Warning {
	out, lacks := warnings(codes), b.Early()
	for i, code := range serious(codes) {
		if code == analytics.Directional && len(lacks) > 0 {
			out[i].Text = "A firm result needs " + strings.Join(lacks, ", ")
		}
		if code == analytics.Directional && Single(*b) {
			out[i].Title = "One prompt only"
		}
		if code == analytics.Unlabelled {
			out[i].Text, out[i].Link, out[i].More = unlabelled, "/docs/methodology#how-well-answers-are-read", "How well answers are read"
		}
	}
	return out
}

// unlabelled has the precision that the methodology measures.
const unlabelled = "In our labelled test answers about 1 spoken pick in 20 is read wrong, and up to a third are not read. For this board that is unknown: fewer than 30 trials of a random sample are labelled by people"

// warningTitle is the code of a warning as words.
func warningTitle(code string) string { return Capital(strings.ReplaceAll(code, "_", " ")) }

// coverage is the share of planned trials that a board has, as far as it is known.
func coverage(b analytics.Board) string {
	if b.Coverage == nil {
		return "unknown"
	}
	return chart.Percent(*b.Coverage)
}

// metric formats a metric that a standing has.
func metric(m analytics.Metric, s analytics.Standing) string {
	v := m.Value(s)
	if m.Rate {
		return chart.Fixed(*v)
	}
	if *v == math.Trunc(*v) {
		return chart.Whole(int64(*v))
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// metrics returns the metrics that a standing has: all of a board have the same.
func metrics(s analytics.Standing) []analytics.Metric {
	return slices.DeleteFunc(analytics.Metrics(), func(m analytics.Metric) bool { return m.Value(s) == nil })
}

// columns is the number of columns of the table of standings: rank, tool, pick rate, its
// interval, and the metrics.
func columns(b analytics.Board) int { return 4 + len(metrics(leader(b))) }

// Day is a date for people; "not measured" for nil.
func Day(t *time.Time) string {
	if t == nil {
		return "not measured"
	}
	return t.UTC().Format("2 January 2006")
}

// PickedRange returns the ranks that are possible at 95 % for a picked tool among the picked tools of a
// whole board: a tool without a pick that may still be ahead widens the range of all. ok is false where
// that is not known. Boards of own runs have no Breakdown. There all tools without a pick have the same
// data, so either all or none are in the range.
func PickedRange(b *analytics.Board, s analytics.Standing) (low, high int, ok bool) {
	unpicked := len(b.Tools) - CountPicked(b)
	high = s.RankHigh
	switch {
	case s.Breakdown != nil:
		for _, c := range s.Breakdown.Rivals {
			if i := slices.IndexFunc(b.Tools, func(o analytics.Standing) bool { return o.Slug == c.Slug }); i >= 0 && b.Tools[i].Picks == 0 && !c.Significant {
				high--
			}
		}
	case len(b.Tools) != b.Field:
		return s.RankLow, s.RankHigh, false
	case s.RankHigh > len(b.Tools)-unpicked:
		high -= unpicked
	}
	if s.Picks == 0 || high < s.RankLow {
		return s.RankLow, s.RankHigh, false
	}
	return s.RankLow, high, true
}

// CountPicked returns how many tools of a board an answer picked.
func CountPicked(b *analytics.Board) (n int) {
	for i := range b.Tools {
		if b.Tools[i].Picks > 0 {
			n++
		}
	}
	return n
}

// RankRange writes the ranks that are possible at 95 % for a tool, among the picked tools where that is
// known: 2–16, or 1.
func RankRange(b *analytics.Board, s analytics.Standing) string {
	low, high, _ := PickedRange(b, s)
	return ranks(low, high)
}

// AmongPicked writes the rank range of a picked tool among the picked tools; empty where the others do
// not widen it.
func AmongPicked(b *analytics.Board, s analytics.Standing) string {
	if low, high, ok := PickedRange(b, s); ok && high < s.RankHigh {
		return ranks(low, high)
	}
	return ""
}

func ranks(low, high int) string {
	if low == high {
		return fmt.Sprint(low)
	}
	return fmt.Sprintf("%d–%d", low, high)
}

// DomainName is the name of a tree of categories.
func DomainName(d string) string {
	if d == "saas" {
		return "Services"
	}
	return "Developer tools"
}

func ofDomain(boards []analytics.Board, domain string) []analytics.Board {
	return slices.DeleteFunc(slices.Clone(boards), func(b analytics.Board) bool { return b.Domain != domain })
}

func leader(b analytics.Board) analytics.Standing {
	if len(b.Tools) == 0 {
		return analytics.Standing{}
	}
	return b.Tools[0]
}

// shown are the tools that some answer picked or named, and those that always names; rest are
// the others.
func shown(b *analytics.Board, always ...string) []analytics.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.ShortlistRate == 0 && !slices.Contains(always, s.Slug) })
}

func rest(b *analytics.Board, always ...string) []analytics.Standing {
	return slices.DeleteFunc(slices.Clone(b.Tools), func(s analytics.Standing) bool { return s.ShortlistRate > 0 || slices.Contains(always, s.Slug) })
}
