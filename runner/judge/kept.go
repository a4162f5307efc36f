package judge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Kept holds the judgements of a run's journal. It is not safe for concurrent use.
type Kept struct {
	byTrial map[string][]judgement
}

// A judgement is a result of a judge.
type judgement struct {
	of     journal.Judgement
	model  string
	result pick.Result
}

// Add takes the judgement of a record; other records are none.
func (k *Kept) Add(r journal.Record) {
	if r.Kind != journal.KindJudgement || r.Judgement == nil || r.Judgement.Step != journal.KindResult || r.Result == nil {
		return
	}
	if k.byTrial == nil {
		k.byTrial = map[string][]judgement{}
	}
	j := judgement{of: *r.Judgement, model: r.Judgement.Judge, result: *r.Result}
	if r.Answer != nil && r.Answer.Model != "" {
		j.model = r.Answer.Model
	}
	k.byTrial[r.Trial.ID] = append(k.byTrial[r.Trial.ID], j)
}

// pair returns the judgements that count: the first, and the first of another vendor.
func (k *Kept) pair(trial, binding string) []judgement {
	var out []judgement
	for _, j := range k.byTrial[trial] {
		if j.of.Binding == binding && binding != "" && !slices.ContainsFunc(out, func(o judgement) bool { return o.of.Vendor == j.of.Vendor }) {
			out = append(out, j)
		}
	}
	out = out[:min(len(out), 2)]
	sorting.Func(out, func(a, b judgement) int { return cmp.Compare(a.of.Vendor, b.of.Vendor) })
	return out
}

// maxReasons limits the evidence of the rules that a judged result keeps.
const maxReasons = 10

// valid reports whether both judgements of a pair are.
func valid(pair []judgement) bool {
	return !slices.ContainsFunc(pair, func(j judgement) bool { return strings.HasPrefix(j.result.Rule, invalidPrefix) })
}

// same reports whether both judgements of a pair choose the same.
func same(pair []judgement) bool {
	a, b := pair[0].result, pair[1].result
	return a.Kind == b.Kind && a.Picked == b.Picked && a.Unresolved == b.Unresolved
}

// agree reports whether two judgements decide.
func agree(pair []judgement) bool {
	return len(pair) == 2 && valid(pair) && same(pair) && !pair[0].result.Unresolved
}

// Apply returns the result of an answer of trial: that of the rules or, if these left it
// unresolved and two kept judgements agree, the judged one. Rule says if they do not.
func (k *Kept) Apply(r *Reader, trial string, t transcript.Transcript, rules pick.Result) pick.Result {
	if !rules.Unresolved || len(k.byTrial[trial]) < 2 {
		return rules
	}
	return apply(k.pair(trial, r.Binding(t)), rules)
}

// apply returns the result after a pair of judgements.
func apply(pair []judgement, rules pick.Result) pick.Result {
	out := rules
	switch {
	case !rules.Unresolved || len(pair) < 2:
		return rules
	case !valid(pair) || !same(pair):
		out.Rule = pick.RuleJudgesDisagree
		return out
	case !agree(pair):
		out.Rule = pick.RuleJudgesUnsure
		return out
	}
	v := pair[0].result
	out.Kind, out.Picked, out.Method, out.Rule, out.Unresolved = v.Kind, v.Picked, pick.MethodJudge, pick.RuleJudgesAgree, false
	out.Level = levelOf(v.Kind)
	out.Details = nil // they are of the outcome that the rules left open
	out.Evidence = nil
	for _, j := range pair {
		for _, e := range j.result.Evidence {
			e.Path = j.model // who quotes it
			out.Evidence = append(out.Evidence, e)
		}
	}
	out.Evidence = append(out.Evidence, rules.Evidence[:min(len(rules.Evidence), maxReasons)]...)
	if v.Picked != "" {
		out.Rejected = slices.DeleteFunc(slices.Clone(rules.Rejected), func(s string) bool { return s == v.Picked })
		if len(out.Rejected) == 0 {
			out.Rejected = nil
		}
		if !slices.Contains(rules.Shortlist, v.Picked) {
			out.Shortlist = append(slices.Clone(rules.Shortlist), v.Picked)
			slices.Sort(out.Shortlist)
		}
	}
	return out
}
