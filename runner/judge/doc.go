// Package judge lets two models read the answers that the rules left unresolved.
//
// Both models are of different vendors and choose from one closed list, each in an order
// of its own: the tools of the category, an own build, something else, nothing, several,
// and "cannot tell". A judgement is valid only with a verbatim quote out of the answer
// that supports it. Two valid judgements that agree decide; otherwise the answer stays
// unresolved. The first two judgements of different vendors count, and nothing is asked
// again because of its content: some two of many models agree by chance.
//
// The answer is data. It is sent apart from the instructions, between lines with a random
// code; lines that address a judge are left out; a quote cannot come from them; and two
// orders of the list make a number that an answer demands name two different tools.
//
// The requests are a run of runner.Runner, with its lanes, limits, retries and budget. Its
// records lie in the journal of the judged run as records of kind judgement, so that
// `firstpick extract` applies them again without a model.
package judge

// Version names the prompt, the excerpt and the rules for valid judgements. It is part of
// every binding: a judgement of another version does not apply.
const Version = "1"
