package evalpages

import (
	"cmp"
	"slices"

	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

// maxSteps is how many next steps a page names: those for the reasons of most answers.
const maxSteps = 3

// A nextStep is what to do about a reason for which a tool is not picked.
type nextStep struct {
	Reason, N, Do string
	Lost          []picks.Lost // the tasks that it is about; nil for all
	Few           string       // they have too few answers to say of one; empty else
}

// maxLost is how many lost prompts a step names.
const maxLost = 3

// nextSteps returns what to do about the reasons of a tool, those of most answers first. The
// steps change what agents read of the product; the next run shows whether they help.
// The step for answers that never name the tool names the lost prompts.
func nextSteps(e *evals.Explanation, lost []picks.Lost) (out []nextStep) {
	reasons := slices.Clone(e.Reasons)
	sorting.StableFunc(reasons, func(a, b explain.Group) int { return cmp.Compare(b.NTrials, a.NTrials) })
	for _, g := range reasons {
		do := remedy(string(g.Reason))
		if do == "" || g.NTrials == 0 || len(out) == maxSteps {
			continue
		}
		step := nextStep{Reason: traceview.Of(lostReasons(), string(g.Reason)).Name, N: chart.Count(g.NTrials, "answer", "answers"), Do: do}
		if g.Reason == explain.NotConsidered {
			step.Lost = lost[:min(len(lost), maxLost)]
			step.Few = picks.Few(step.Lost)
		}
		out = append(out, step)
	}
	return out
}

// remedy returns what to do about a reason; empty where its sentences must be read.
func remedy(reason string) string {
	switch reason {
	case "not_considered":
		return "Publish a page for each lost task, with the task and the tool in its title. List it in llms.txt, and compare the tool with the rivals below. Agents name what they have read."
	case "price":
		return "State the price and the free tier in text on one page, with an example for a small project."
	case "missing_feature":
		return "Read the sentences. If the tool has the feature, give it a page of its own; if not, it is a decision about the product."
	case "lock_in":
		return "Document how to export the data and how to leave."
	case "complexity":
		return "Put a quickstart of a few lines at the top of the documentation, as text that an agent can fetch."
	case "maturity":
		return "Show the last release, the changelog, and who uses it."
	case "unknown":
		return "Publish the package under the tool’s name, and describe the tool in one sentence in its README, its registry entry and llms.txt."
	case "no_reason":
		return "It is known, and nothing is said against it. Show what it does better than the tool picked most often."
	}
	return ""
}
