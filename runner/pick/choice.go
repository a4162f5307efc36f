package pick

import "github.com/firstpick/firstpick/runner/transcript"

// byStatements decides by the final message.
func (f *finding) byStatements(r *Result, stop transcript.Stop) bool {
	v := f.verdicts()
	top, others := v.top(praised), v.others()
	level := stance(0)
	if len(top) > 0 {
		level = v.of[top[0]]
	}
	presented := len(v.rivals(neutral, suits)) // an overview says of each what it does without
	own := v.of[v.own] >= praised && presented < 3 || v.of[v.own] == suits && level == 0 && presented < 2
	tied, cases := v.tied(), v.cases()
	r.Method, r.Level = MethodStatement, LevelStatement
	switch {
	case v.refusal != "" && level < chosen:
		r.Kind, r.Rule = Refused, "refuses"
		r.Evidence = append(r.Evidence, Evidence{"", LevelStatement, "statement", "", 0, clipQuote(v.refusal)})
	case (stop.Cut() || v.cut == surelyCut) && level < chosen && !own || v.cut == maybeCut && level <= done && !own && len(others) == 0:
		r.Kind, r.Rule = Truncated, "ends in the middle"
	case len(tied) > 1 && v.asks && level < done:
		r.Method, r.Level, r.Rule = "", 0, "asks"
	case len(tied) > 1:
		r.Kind, r.Rule = Ambiguous, "no preference between two or more"
	case own && level < chosen && len(others) == 0 || own && level <= praised && (len(others) == 0 || !v.overOwn(others[0])):
		r.Kind, r.Rule = DIY, "commits to own work"
		r.Evidence = append(r.Evidence, Evidence{"", LevelStatement, "diy", "", 0, v.best[v.own].quote})
	case len(v.single(top)) == 1 && len(top) > 1 && level > praised:
		f.pick(r, Tool, v.single(top)[0], "prefers one of those")
	case level == chosen && len(top) > 1 && len(v.unlimited(top)) == 1:
		f.pick(r, Tool, v.unlimited(top)[0], "prefers one of those")
	case level == chosen && len(top) > 1:
		r.Kind, r.Rule = Ambiguous, "commits to two or more"
	case len(others) > 0 && level < done:
		f.pick(r, Other, others[0], "commits to what does not compete here")
	case level == praised && len(v.rivals(neutral, suits)) > maxCrowd:
		r.Method, r.Level, r.Rule = "", 0, "praises one of many"
	case level == praised && v.asks:
		r.Method, r.Level, r.Rule = "", 0, "asks"
	case len(top) == 1:
		f.pick(r, Tool, top[0], map[stance]string{chosen: "commits", advised: "advises", done: "reports", praised: "praises"}[level])
	case level == done && len(v.begun(top)) == 1:
		f.pick(r, Tool, v.begun(top)[0], "reports first")
	case len(top) > 1 && level > praised:
		r.Kind, r.Rule = Ambiguous, "uses two or more"
	case len(top) == 0 && len(cases) == 1 && v.opensWith(cases[0]) && !v.asks:
		f.pick(r, Tool, cases[0], "chooses under a condition")
	case len(top) == 0 && len(cases) > 1 && !v.asks:
		r.Kind, r.Rule = Ambiguous, "chooses by case"
	case f.byContrast(r, v), f.byFavour(r, v):
	default:
		f.undecided(r, v)
	}
	return r.Kind != None || r.Rule != "nothing is named"
}

// maxCrowd is the number of other options beside which praise for one is a feature of an
// overview and no choice.
const maxCrowd = 4

func (f *finding) pick(r *Result, k Kind, t *target, rule string) {
	r.Kind, r.Picked, r.Rule = k, t.slug, rule
	r.Evidence = append(r.Evidence, Evidence{t.slug, LevelStatement, "statement", "", 0, f.verdicts().best[t].quote})
}

// byContrast decides for the only rival with a point in its favour, where the others are
// turned down: "X can't do this. Y can."
func (f *finding) byContrast(r *Result, v *verdicts) bool {
	good := v.rivals(suits, suits)
	against := len(v.rivals(rejects, faults))
	if len(good) != 1 || against == 0 || len(v.rivals(considered, considered)) > 0 || v.defers || v.asks || len(v.rivals(neutral, neutral))+len(v.rivals(suits, chosen)) > 1 {
		return false
	}
	f.pick(r, Tool, good[0], "contrasts with what is turned down")
	return true
}

// byFavour adds up what speaks for each name without saying that it is the choice: the only
// bold name of the running text, others that are second choices or turned down, the first
// name, a point in its favour. Three points more than nothing, and more than any other has,
// are a choice.
func (f *finding) byFavour(r *Result, v *verdicts) bool {
	var bold []*target
	behind := map[*target]bool{}
	for _, m := range v.remarks {
		if m.bold && m.stance != rejects {
			bold = append(bold, m.target)
		}
		if m.behind {
			behind[m.target] = true
		}
	}
	bold = compact(bold)
	against := len(v.rivals(rejects, faults))
	candidates := v.rivals(neutral, suits)
	if len(bold) == 1 && bold[0].outside {
		candidates = append(candidates, bold[0])
	}
	var best *target
	most, next := 0, 0
	for _, t := range candidates {
		alone := len(bold) == 1 && bold[0] == t
		if behind[t] || v.of[t] == considered {
			continue
		}
		n := 0
		add := func(points int, is bool) {
			if is {
				n += points
			}
		}
		add(2, alone)
		add(1, len(behind) > 0)
		add(1, against > 0)
		add(1, v.leads(t))
		add(1, v.of[t] == suits)
		if len(behind) == 0 && !alone && (v.of[t] != suits || !v.leads(t) || len(candidates) > 1) {
			continue
		}
		if n > most {
			best, most, next = t, n, most
		} else {
			next = max(next, n)
		}
	}
	if most < 3 || next == most || v.asks || v.cut != whole || v.defers && len(bold) != 1 {
		return false
	}
	kind := Tool
	if best.outside {
		kind = Other
	}
	f.pick(r, kind, best, "favours")
	return true
}

// undecided separates none from what the rules cannot read.
func (f *finding) undecided(r *Result, v *verdicts) {
	r.Method, r.Level = "", 0
	presented, against := v.rivals(neutral, chosen), v.rivals(rejects, faults)
	switch {
	case len(presented)+len(against) == 0:
		r.Rule = "nothing is named"
	case v.defers || v.asks:
		r.Rule = "no choice yet"
	case len(presented) > maxCrowd, len(v.rivals(suits, suits)) > 1, len(v.rivals(rejects, rejects)) == 0 && len(v.rivals(considered, chosen)) == 0 && len(presented)+len(against) > 1, len(against) == 0 && len(v.top(suits)) == 0:
		r.Rule = "names without a choice"
	default:
		r.Kind, r.Unresolved, r.Rule = Ambiguous, true, "no rule reads a choice"
	}
}
