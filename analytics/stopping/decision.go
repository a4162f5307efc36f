package stopping

import (
	"slices"

	"github.com/firstpick/firstpick/analytics/stats"
	"github.com/firstpick/firstpick/runner/journal"
)

// A Decision looks at the families of one run for the answer to a rule.
type Decision struct {
	rule    Rule
	judge   judge
	verdict journal.Verdict
	decided bool
}

// A judge gathers evidence from the means of tools in one family after the other.
type judge interface {
	add(means []float64)
	// verdict reports whether the claim holds; ok is false while that is open.
	verdict() (holds, ok bool)
}

// New returns the decision about a rule before the first family.
func New(r Rule) *Decision {
	d := &Decision{rule: r}
	switch k := len(r.tools); {
	case r.rank > 0:
		d.judge = &rankJudge{tool: r.tool, rank: r.rank, ahead: make([]evidence, k), behind: make([]evidence, k)}
	case r.rate > 0:
		d.judge = &rateJudge{tool: r.tool, rate: r.rate}
	default:
		d.judge = &firstJudge{sums: make([]float64, k), notFirst: make([]evidence, k)}
	}
	return d
}

// Add adds the means of all tools in one family: shares of its trials, 0 to 1, in the order
// of the tools. After the verdict it does nothing.
func (d *Decision) Add(means []float64) {
	if d.decided {
		return
	}
	d.judge.add(means)
	var holds bool
	if holds, d.decided = d.judge.verdict(); !d.decided {
		return
	}
	if first, is := d.judge.(*firstJudge); is {
		d.verdict = journal.Verdict{Met: true, Text: d.rule.tools[first.left()] + " is ahead of all other tools"}
	} else if holds != d.rule.against {
		d.verdict = journal.Verdict{Met: true, Text: d.rule.text + " is met"}
	} else {
		d.verdict = journal.Verdict{Text: d.rule.text + " is not met"}
	}
}

// Decided returns the verdict; ok is false before it is reached.
func (d *Decision) Decided() (v journal.Verdict, ok bool) { return d.verdict, d.decided }

// evidence is an e-process that is kept at its highest value.
type evidence struct {
	process stats.Ahead
	most    float64
}

func (e *evidence) add(difference float64) {
	e.process.Add(difference)
	e.most = max(e.most, e.process.E())
}

// reaches reports whether the evidence ever reached limit: if its claim is wrong, the
// chance of that is at most 1/limit (Ville 1939).
func (e *evidence) reaches(limit float64) bool { return e.most >= limit }

func count(list []evidence, limit float64) (n int) {
	for i := range list {
		if list[i].reaches(limit) {
			n++
		}
	}
	return n
}

// A rankJudge asks whether the rank of a tool among k is at most r: fewer than r tools have
// a higher rate. It says yes when the tool is shown ahead of k-r others, each at the limit
// r/Error. If at least r tools are not behind, say m, then a wrong yes takes m-r+1 wrong
// claims out of m; by Markov's inequality the chance is at most m/(m-r+1) Error/r, which is
// Error at most. It says no when r tools are shown ahead of it, at the limit (k-r)/Error, by
// the same argument. Only one of the two can be wrong, so each may have all of Error.
type rankJudge struct {
	tool, rank    int
	ahead, behind []evidence // that the tool is ahead of another one, or behind
}

func (j *rankJudge) add(means []float64) {
	for i, m := range means {
		if i != j.tool {
			j.ahead[i].add(means[j.tool] - m)
			j.behind[i].add(m - means[j.tool])
		}
	}
}

func (j *rankJudge) verdict() (holds, ok bool) {
	r, rest := j.rank, len(j.ahead)-j.rank
	if count(j.ahead, float64(r)/Error) >= rest {
		return true, true
	}
	return false, count(j.behind, float64(rest)/Error) >= r
}

// A rateJudge asks whether the rate of a tool is above a limit. The differences from the
// limit are scaled to be at least -1, as far as an e-process may bet.
type rateJudge struct {
	tool         int
	rate         float64
	above, below evidence
}

func (j *rateJudge) add(means []float64) {
	d := means[j.tool] - j.rate
	j.above.add(d / j.rate)
	j.below.add(-d / (1 - j.rate))
}

func (j *rateJudge) verdict() (holds, ok bool) {
	above := j.above.reaches(1 / Error)
	return above, above || j.below.reaches(1/Error)
}

// A firstJudge asks which tool is ahead of all others. For each tool there is one e-process
// against "no other tool is ahead of it": it bets on the tool that has the most picks of
// the others in the families before, whatever that is. When all tools but one are
// rejected, that one is first. The limit is 2/Error. If one tool is first, a wrong verdict
// rejects it. If m >= 2 tools share the highest rate, a verdict rejects m-1 of them; by
// Markov's inequality the chance is at most m/(m-1) Error/2, which is Error at most. No
// correction for the number of tools is needed.
type firstJudge struct {
	sums     []float64
	notFirst []evidence
}

func (j *firstJudge) add(means []float64) {
	best, second := -1, -1
	for i, s := range j.sums {
		switch {
		case best < 0 || s > j.sums[best]:
			best, second = i, best
		case second < 0 || s > j.sums[second]:
			second = i
		}
	}
	for i, m := range means {
		rival := best
		if i == best {
			rival = second
		}
		if j.sums[rival] > 0 {
			j.notFirst[i].add(means[rival] - m)
		}
	}
	for i, m := range means {
		j.sums[i] += m
	}
}

func (j *firstJudge) verdict() (holds, ok bool) {
	return true, count(j.notFirst, 2/Error) == len(j.notFirst)-1
}

// left returns the one tool that is not rejected.
func (j *firstJudge) left() int {
	return slices.IndexFunc(j.notFirst, func(e evidence) bool { return !e.reaches(2 / Error) })
}
