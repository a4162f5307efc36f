// Package explain counts why a tool loses: how many answers consider it and take something
// else, the reasons that they give, what they take, and the pages that they read before.
package explain

import (
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/pick/reason"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Reasons of a Group beside those of package reason.
const (
	// NoReason: the answer considers the tool, takes something else, and says nothing against it.
	NoReason reason.Reason = "no_reason"
	// NotConsidered: the answer never names the tool.
	NotConsidered reason.Reason = "not_considered"
)

// A Trial is one valid trial, as far as it concerns one tool.
type Trial struct {
	Run, ID, Agent string
	Tags           eval.Tags
	// Outcome is a pick.Kind, Picked the slug of what was taken.
	Outcome, Picked string
	// Considered says that the answer picks, lists, rejects or names the tool, Rejected that
	// it turns the tool down in words.
	Considered, Rejected bool
	// Against are the statements against the tool.
	Against []reason.Statement
	// Sources are the pages that the agent found or opened before it answered.
	Sources []transcript.Source
}

// A Report explains the answers about one tool in one category.
type Report struct {
	Category string `json:"category"`
	Tool     string `json:"tool"`
	Slug     string `json:"slug"`
	// Runs are the ids of the runs that were read.
	Runs []string `json:"runs"`
	// Synthetic says that simulated agents made some of the answers.
	Synthetic bool `json:"synthetic"`
	Counts
	// Reasons are why the tool was not picked, the most frequent first. An answer counts once
	// for each reason that it gives.
	Reasons []Group `json:"reasons"`
	// Switches are what the answers without the tool took.
	Switches []Switch `json:"switches"`
	// Agents are the counts of each agent, Tags those of each value of a tag of the prompts.
	Agents []Cut `json:"agents"`
	Tags   []Cut `json:"tags"`
	// Sources are the sites that agents read before they answered, the most frequent first;
	// empty where transcripts have none. NSites counts them all.
	Sources []Site `json:"sources"`
	NSites  int    `json:"nSites"`
}

// Counts are numbers of answers. NTrials = Considered + NotConsidered, and
// Considered = Picked + Lost.
type Counts struct {
	NTrials       int `json:"nTrials"`
	Picked        int `json:"picked"`
	Considered    int `json:"considered"`
	Lost          int `json:"lost"`
	NotConsidered int `json:"notConsidered"`
	// Rejected counts the lost answers that turn the tool down in words.
	Rejected int `json:"rejected"`
	// RejectedRate is Lost / Considered, 0 to 1; null if no answer considers the tool.
	RejectedRate *float64 `json:"rejectedRate"`
}

// A Group is the answers that give one reason.
type Group struct {
	// Reason is price, missing_feature, lock_in, complexity, maturity, unknown, other,
	// no_reason or not_considered.
	Reason reason.Reason `json:"reason"`
	// NTrials counts answers, and Share is of the answers that did not pick the tool, 0 to 1.
	NTrials int     `json:"nTrials"`
	Share   float64 `json:"share"`
	// Quotes are the statements, one for each sentence of an answer. NQuotes counts them
	// all.
	Quotes  []Quote `json:"quotes"`
	NQuotes int     `json:"nQuotes"`
}

// A Quote is a sentence against the tool.
type Quote struct {
	Run   string `json:"run"`
	Trial string `json:"trial"`
	Agent string `json:"agent"`
	// Picked is what the answer took: a slug, or the outcome without one.
	Picked string `json:"picked"`
	// Text is the sentence, verbatim, of at most 200 bytes.
	Text string `json:"text"`
}

// A Switch is an edge of the switch graph: from the tool to what answers took.
type Switch struct {
	// To is a slug, or the outcome if none was picked: diy, none, ambiguous, refused, truncated.
	To string `json:"to"`
	// Outcome is tool, diy, other, none, ambiguous, refused or truncated.
	Outcome string `json:"outcome"`
	// Considered counts the answers that considered the tool, Rest the others.
	Considered int `json:"considered"`
	Rest       int `json:"rest"`
}

// A Cut is the counts of the answers of one agent, or of the prompts with one value of a tag.
type Cut struct {
	// Tag is ecosystem, intent or persona; empty for an agent.
	Tag   string `json:"tag,omitempty"`
	Value string `json:"value"`
	Counts
	// Switches are as in Report. NSwitches counts them all.
	Switches  []Switch `json:"switches"`
	NSwitches int      `json:"nSwitches"`
	// Reasons have no quotes here.
	Reasons []Count `json:"reasons"`
}

// A Count is a Group without its quotes.
type Count struct {
	Reason  reason.Reason `json:"reason"`
	NTrials int           `json:"nTrials"`
}

// A Site is the pages of one domain.
type Site struct {
	Domain string `json:"domain"`
	// Own says that the domain is the tool's.
	Own bool `json:"own"`
	Reads
	// Pages are the most frequent first. NPages counts them all.
	Pages  []Page `json:"pages"`
	NPages int    `json:"nPages"`
}

// A Page is one address.
type Page struct {
	URL string `json:"url"`
	Reads
}

// Reads are numbers of answers whose agents met a site or page.
type Reads struct {
	// NTrials = Opened + answers in which a search or citation only listed it.
	NTrials int `json:"nTrials"`
	Opened  int `json:"opened"`
	// Picked counts the answers that picked the tool.
	Picked int `json:"picked"`
}

// Listed counts the answers in which a search or citation only listed it.
func (r Reads) Listed() int { return r.NTrials - r.Opened }
