package eval

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// Why a phrase leads.
const (
	byFame    = "it asks for fame, and the answer is the tool that is written about most; say what the task needs"
	byCustom  = "it presents one choice as settled; leave the choice open"
	byPraise  = "vendors call themselves that; say what the task needs"
	byClass   = "few vendors call their product that; describe the task instead"
	byCompany = "it points to the products of that company"
)

// leadingPhrases returns the phrases that steer an answer without naming a tool, with
// the reason of each.
func leadingPhrases() map[string][]string {
	return map[string][]string{
		byFame: {
			"best", "top rated", "most popular", "popular", "most used", "widely used", "well known", "famous", "number one",
			"award winning", "market leader", "market leading", "everyone is talking about",
		},
		byCustom: {
			"as everyone uses", "everyone uses", "everybody uses", "most people use", "most teams use", "usual choice", "obvious choice",
			"default choice", "safe choice", "de facto", "industry standard", "gold standard", "the standard tool", "the standard library for",
		},
		byPraise: {
			"modern", "next generation", "cutting edge", "state of the art", "world class", "enterprise grade", "blazing fast", "blazingly fast",
			"developer friendly", "developer first", "battle tested", "all in one", "ai powered", "ai native",
		},
		byClass: {
			"durable execution", "utility first", "copy paste components", "copy and paste components", "merchant of record", "backend as a service",
			"serverless postgres", "database branching", "branching database", "reactive database", "local first", "atomic state", "state charts",
			"statecharts", "time travel debugging", "type safe rpc", "wide events", "progressive delivery",
			"unstyled components", "service bus", "data lakehouse",
		},
	}
}

// companies returns names of companies whose name alone is not a tool of the catalogue,
// with the words by which their products begin.
func companies() map[string][]string {
	return map[string][]string{
		"aws": {"aws", "amazon"}, "amazon": {"aws", "amazon"}, "azure": {"azure", "microsoft"}, "microsoft": {"azure", "microsoft"},
		"google": {"google", "gcp", "firebase"}, "google cloud": {"google", "gcp", "firebase"}, "gcp": {"google", "gcp", "firebase"},
		"cloudflare": {"cloudflare"}, "vercel": {"vercel"}, "apache": {"apache"}, "oracle": {"oracle"}, "ibm": {"ibm"}, "adobe": {"adobe"},
		"atlassian": {"jira", "atlassian", "confluence", "bitbucket"}, "salesforce": {"salesforce"}, "zoho": {"zoho"}, "apple": {"apple"},
		"github": {"github"}, "gitlab": {"gitlab"}, "jetbrains": {"jetbrains", "teamcity"}, "meta": {"meta"}, "facebook": {"meta", "facebook"},
	}
}

// leading returns a warning for each phrase in a prompt that steers the answer without
// naming a tool.
func (e *Eval) leading(c *catalog.Category) (warnings []error) {
	reasons := leadingPhrases()
	for phrase, products := range companies() {
		if slices.ContainsFunc(products, func(begin string) bool { return sells(c, begin) }) {
			reasons[byCompany] = append(reasons[byCompany], phrase)
		}
	}
	for _, p := range e.Prompts {
		text := " " + strings.Join(wordsOf(p.Text), " ") + " "
		for reason, phrases := range reasons {
			for _, phrase := range phrases {
				if strings.Contains(text, " "+phrase+" ") {
					warnings = append(warnings, e.fail(p.line, "prompt %q: %q leads the answer: %s", p.ID, phrase, reason))
				}
			}
		}
	}
	return warnings
}

// sells reports whether the name of a tool of the category begins with a word.
func sells(c *catalog.Category, word string) bool {
	return slices.ContainsFunc(c.Entries, func(e catalog.Entry) bool {
		return slices.ContainsFunc(e.Aliases, func(a catalog.Alias) bool {
			words := wordsOf(a.Text)
			return len(words) > 0 && words[0] == word
		})
	})
}
