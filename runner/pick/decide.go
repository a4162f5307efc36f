package pick

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/transcript"
)

// A finding is all evidence for the decision.
type finding struct {
	x          *Extractor
	actions    []action
	message    statements
	ownWork    *Evidence
	structured *structuredAnswer
	verdict    *verdicts
}

// decide applies the order of evidence: actions, the structured answer, statements.
func (f *finding) decide(stop transcript.Stop) Result {
	r := Result{Kind: None}
	if f.message.sentences > 0 {
		r.Language = f.message.language
	}
	switch {
	case stop == transcript.StopRefusal:
		r.Kind, r.Rule = Refused, "the provider reported a refusal"
	case f.byActions(&r), f.byStructure(&r), f.byStatements(&r, stop), f.byOutside(&r):
	}
	if len(f.message.order) > 0 {
		r.FirstNamed = f.message.order[0].slug
	}
	f.lists(&r)
	f.explain(&r)
	return r
}

// byActions decides by actions, tools before own work.
func (f *finding) byActions(r *Result) bool {
	best := f.withoutBases(f.levels(func(d action) bool { return !d.target.outside && !d.considered }))
	strong := above(best, LevelConfig)
	if len(strong) == 0 {
		strong = above(best, LevelCommand)
	}
	picked := f.breakTie(strong)
	switch {
	case picked != "":
		r.Kind, r.Picked, r.Method, r.Level = Tool, picked, MethodAction, best[picked]
		switch say := f.verdicts().say(); {
		case say == nil:
		case f.x.specific(say.slug, picked): // a client of an API does not show which compatible tool it calls
			r.Picked = say.slug
		case say.slug != picked && len(strong) == 1 && best[say.slug] == 0:
			r.Say = say.slug
		}
		return true
	case len(strong) > 1:
		r.Kind, r.Method = Ambiguous, MethodAction
		r.Level = best[strong[0]]
		return true
	case f.ownWork != nil && f.structured == nil && f.verdicts().named() == 0:
		r.Kind, r.Method, r.Level = DIY, MethodAction, f.ownWork.Level
		return true
	default:
		return false
	}
}

// withoutBases removes the tools that another one hides, unless the message commits to the one below.
func (f *finding) withoutBases(best map[string]int) map[string]int {
	live := f.levels(func(d action) bool { return !d.target.outside && !d.considered && !d.weak })
	called := f.levels(func(d action) bool { return d.Kind == "host" && !d.considered && !d.weak })
	say := f.verdicts().say()
	maps.DeleteFunc(best, func(base string, _ int) bool {
		if say != nil && say.slug == base {
			return false
		}
		for tool, level := range live {
			if hides(level, called[base] > 0) && f.x.specific(tool, base) {
				return true
			}
		}
		return false
	})
	return best
}

// withoutKeys removes the tools that only environment variables show, where a dependency or an
// import shows another: a key is also that of a service behind the SDK.
func (f *finding) withoutKeys(tools []string) []string {
	shows := func(tool string, ok func(action) bool) bool {
		return slices.ContainsFunc(f.actions, func(d action) bool { return d.target.slug == tool && !d.considered && ok(d) })
	}
	inCode := func(tool string) bool {
		return shows(tool, func(d action) bool { return !d.weak && (d.Kind == "manifest" || d.Kind == "import") })
	}
	if !slices.ContainsFunc(tools, inCode) {
		return tools
	}
	return slices.DeleteFunc(tools, func(tool string) bool { return !shows(tool, func(d action) bool { return d.Kind != "env" }) })
}

// levels returns the strongest level of each target among the actions that keep
// selects.
func (f *finding) levels(keep func(action) bool) map[string]int {
	best := map[string]int{}
	for _, d := range f.actions {
		if keep(d) {
			best[d.target.slug] = max(best[d.target.slug], d.Level)
		}
	}
	return best
}

func above(best map[string]int, level int) []string {
	var out []string
	for _, slug := range slices.Sorted(maps.Keys(best)) {
		if best[slug] >= level {
			out = append(out, slug)
		}
	}
	return out
}

// breakTie returns the only prominent tool, or nothing: only one outside
// tests and documents; one that the message commits to; one in code, where the
// others are keys; one that is both a dependency and used; one used in three
// times as many files.
func (f *finding) breakTie(tools []string) string {
	if len(tools) == 1 {
		return tools[0]
	}
	if len(tools) == 0 {
		return ""
	}
	live := f.levels(func(d action) bool { return !d.weak && !d.considered && slices.Contains(tools, d.target.slug) })
	if len(live) == 1 {
		return slices.Collect(maps.Keys(live))[0]
	}
	if say := f.verdicts().say(); say != nil && slices.Contains(tools, say.slug) {
		return say.slug
	}
	if tools = f.withoutKeys(tools); len(tools) == 1 {
		return tools[0]
	}
	files := map[string]map[string]bool{}
	kinds := map[string]map[int]bool{}
	for _, d := range f.actions {
		if d.weak || d.considered || !slices.Contains(tools, d.target.slug) {
			continue
		}
		if files[d.target.slug] == nil {
			files[d.target.slug], kinds[d.target.slug] = map[string]bool{}, map[int]bool{}
		}
		files[d.target.slug][d.Path] = true
		kinds[d.target.slug][d.Level] = true
	}
	var both []string
	for slug, k := range kinds {
		if k[LevelManifest] && k[LevelCode] {
			both = append(both, slug)
		}
	}
	if len(both) == 1 {
		return both[0]
	}
	order := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(files[b]), len(files[a])), strings.Compare(a, b))
	})
	if len(order) > 1 && len(files[order[0]]) >= 3*len(files[order[1]]) {
		return order[0]
	}
	return ""
}

// byOutside decides for a known name that does not compete, by action.
func (f *finding) byOutside(r *Result) bool {
	var best *action
	for i, d := range f.actions {
		if d.target.outside && !d.considered && (best == nil || d.Level > best.Level) {
			best = &f.actions[i]
		}
	}
	if best != nil {
		r.Kind, r.Picked, r.Method, r.Level, r.Rule = Other, best.target.slug, MethodAction, best.Level, ""
		return true
	}
	return false
}

const maxEvidence = 12

// explain lists the evidence, strongest first.
func (f *finding) explain(r *Result) {
	for _, d := range f.actions {
		e := d.Evidence
		if d.considered {
			e.Level, e.Kind = LevelMention, "considered"
		}
		r.Evidence = append(r.Evidence, e)
	}
	if r.Kind == DIY && r.Method == MethodAction {
		r.Evidence = append(r.Evidence, *f.ownWork)
	}
	if f.message.mixed {
		r.Evidence = append(r.Evidence, Evidence{"", LevelMention, "lookalike", "", 0, ""})
	}
	for _, m := range f.message.remarks {
		kind := "mention"
		if m.stance == rejects {
			kind = "rejection"
		} else if m.stance >= praised {
			kind = "statement"
		}
		level := LevelMention
		if kind == "statement" {
			level = LevelStatement
		}
		r.Evidence = append(r.Evidence, Evidence{m.target.slug, level, kind, "", 0, m.quote})
	}
	slices.SortStableFunc(r.Evidence, func(a, b Evidence) int { return cmp.Compare(b.Level, a.Level) })
	r.Evidence = slices.Compact(r.Evidence)
	r.Evidence = slices.Clip(r.Evidence[:min(len(r.Evidence), maxEvidence)])
}

// A structuredAnswer is the JSON that a prompt asked for.
type structuredAnswer struct {
	choice       string
	alternatives []string
	diy          bool
}

func (x *Extractor) structured(raw json.RawMessage) *structuredAnswer {
	var in struct {
		Choice       string   `json:"choice"`
		Alternatives []string `json:"alternatives"`
		DIY          bool     `json:"build_it_yourself"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &in) != nil || in.Choice == "" && !in.DIY {
		return nil
	}
	out := &structuredAnswer{choice: x.named(in.Choice), diy: in.DIY}
	for _, a := range in.Alternatives {
		if slug := x.named(a); slug != "" {
			out.alternatives = append(out.alternatives, slug)
		}
	}
	return out
}

// named returns the rival that a text is the name of.
func (x *Extractor) named(text string) string {
	for _, t := range x.targets {
		if t.outside {
			continue
		}
		if strings.EqualFold(text, t.slug) || slices.ContainsFunc(t.aliasTexts(), func(a string) bool { return strings.EqualFold(a, text) }) {
			return t.slug
		}
	}
	if ts := x.byPackage("", depName(text)); len(ts) == 1 && !ts[0].outside {
		return ts[0].slug
	}
	return ""
}

func (t *target) aliasTexts() []string {
	out := make([]string, len(t.Aliases))
	for i, a := range t.Aliases {
		out[i] = a.Text
	}
	return out
}

func (f *finding) byStructure(r *Result) bool {
	s := f.structured
	switch {
	case s == nil:
		return false
	case s.choice != "":
		r.Kind, r.Picked = Tool, s.choice
	case s.diy:
		r.Kind = DIY
	default:
		return false
	}
	r.Method, r.Level = MethodStructured, LevelStructured
	r.Evidence = append(r.Evidence, Evidence{r.Picked, LevelStructured, "structured", "", 0, ""})
	return true
}
