package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/transcript"
)

// A DetailName names what an outcome does not say. Details change no outcome and no rate.
type DetailName string

// The details.
const (
	// AskedUser means that the answer picks nothing and ends by asking the user to choose, or
	// for missing facts.
	AskedUser DetailName = "asked_user"
	// FollowedIncumbent means that the picked tool was in the project before the agent began.
	FollowedIncumbent DetailName = "followed_incumbent"
)

// DetailNames returns every detail in the order in which they are printed.
func DetailNames() []DetailName { return []DetailName{AskedUser, FollowedIncumbent} }

// The rules of details.
const (
	ruleAsksChoice = "ends with a question"
	ruleAsksFacts  = "ends by asking for facts"
	ruleInstalled  = "the project's manifests have the picked tool"
)

// A Detail is a property of an outcome, with the rule that found it and its evidence.
type Detail struct {
	Name     DetailName `json:"name"`
	Rule     string     `json:"rule"`
	Evidence []Evidence `json:"evidence,omitempty"`
}

// Has reports whether a result has a detail.
func (r Result) Has(name DetailName) bool {
	return slices.ContainsFunc(r.Details, func(d Detail) bool { return d.Name == name })
}

// Installs reports whether the picked tool's package is in the project: it was added to a
// manifest or installed by a command, or was there before.
func (r Result) Installs() bool {
	return r.Kind == Tool && (r.Has(FollowedIncumbent) || slices.ContainsFunc(r.Evidence, func(e Evidence) bool {
		return e.Tool == r.Picked && (e.Kind == "manifest" || e.Kind == "command")
	}))
}

// detail adds the details of a decided outcome. installed are the rivals that were in the
// project's manifests before the agent began.
func (f *finding) detail(r *Result, installed []action) {
	if rule := f.asksUser(r); rule != "" {
		r.Details = append(r.Details, Detail{AskedUser, rule, []Evidence{{"", LevelStatement, "question", "", 0, clipQuote(f.message.ending)}}})
	}
	if r.Kind != Tool {
		return
	}
	d := Detail{Name: FollowedIncumbent, Rule: ruleInstalled}
	for _, a := range installed {
		if a.target.slug == r.Picked {
			d.Evidence = append(d.Evidence, a.Evidence)
		}
	}
	if len(d.Evidence) > 0 {
		r.Details = append(r.Details, d)
	}
}

// asksUser returns the rule by which an answer without a pick asks the user; empty if none
// applies. An offer to go on ("shall I add it?") asks for no choice.
func (f *finding) asksUser(r *Result) string {
	m := &f.message
	switch {
	case r.Kind != None && r.Kind != Ambiguous, r.Method == MethodAction, r.Method == MethodStructured:
		return ""
	case m.asks:
		return ruleAsksChoice
	case asksForFacts(m.ending):
		return ruleAsksFacts
	}
	return ""
}

// requests are sentences that ask the reader for facts, by language. They are no class of the
// lexicons: a longer phrase there would win over one that decides an outcome.
var requests = lazyregexp.MustCompile(`(?i)^(?:` +
	`(?:please |just |so |then |and |but |first,? |if you )*(?:tell me|send me|give me|share (?:your|the|a few|some|those|these|more|how|which|what|me)|let me know (?:your|the|which|what|how (?:many|much|often|big|large)|whether|those|these|more)|reply with|answer (?:these|those)|provide (?:your|the|more|a few|some)|could you (?:share|tell)|confirm (?:your|the|which|what|whether))|` +
	`(?:bitte |dann |also |erst )*(?:sag(?:t|en sie)?|nenn(?:t|en sie)?|schreib(?:t|en sie)?|schick(?:t|en sie)?|gib|gebt|geben sie|verrat(?:e|et)?) (?:mir|uns|mal|bitte|kurz)\b|` +
	`(?:alors |d'abord )?(?:dis|dites|indique|indiquez|précise|précisez|donne|donnez|envoie|envoyez|partage|partagez)(?:-| )(?:moi|nous|votre|ton|ta|vos|tes)\b|` +
	`(?:por favor,? )?(?:dime|dígame|cuéntame|indícame|envíame|pásame|compárteme|comparte tu)\b|` + //nolint:misspell // Spanish
	`(?:per favore,? )?(?:dimmi|mi dica|fammi sapere|indicami|mandami|condividi (?:i|il|la|le))\b|` +
	`(?:por favor,? )?(?:me diga|diga-me|me conte|me informe|me envie|compartilhe)\b` +
	`)|(?:教えて(?:ください|下さい)|お知らせください|알려\s?(?:주세요|주시면)|말씀해\s?(?:주세요|주시면)|请(?:先)?(?:告诉|提供|说明|分享|发给)|告诉我)`)

func asksForFacts(sentence string) bool {
	return requests.MatchString(strings.Trim(sentence, " \t*_>"))
}

// installed returns a trace for each rival among the dependencies of manifests.
func (x *Extractor) installed(manifests []transcript.Manifest) (out []action) {
	for _, m := range manifests {
		for _, d := range x.deps(transcript.FileChange{Path: m.Path, AddedDeps: m.Deps}) {
			for _, t := range x.byDep(d) {
				if !t.outside {
					out = append(out, action{target: t, Evidence: Evidence{t.slug, LevelManifest, "installed", m.Path, 0, clipQuote(d.text)}})
				}
			}
		}
	}
	return out
}
