package agentid

// A Class is a kind of visitor. The list is closed; it is stored with events.
type Class string

// The classes.
const (
	TrainingCrawler Class = "training_crawler" // collects pages to train models
	SearchIndex     Class = "search_index"     // indexes pages for an assistant's search
	UserFetch       Class = "user_fetch"       // a person asked an assistant just now
	AgenticBrowser  Class = "agentic_browser"  // a browser that an agent drives
	CodingAgent     Class = "coding_agent"     // works in a developer's editor or terminal
	DataProvider    Class = "data_provider"    // fetches for other people's agents
	LinkPreview     Class = "link_preview"     // draws a card for a shared link
	AdsReview       Class = "ads_review"       // checks the landing pages of ads
	SearchEngine    Class = "search_engine"    // a classic one
	HTTPLibrary     Class = "http_library"     // curl, axios, a headless browser: a program of unknown origin
	Monitor         Class = "monitor"          // looks whether the site is up
	ScannerProbe    Class = "scanner_probe"    // looks for holes
	Browser         Class = "browser"          // a person, or somebody who looks like one
	UnknownBot      Class = "unknown_bot"      // any other bot: SEO, archives, feeds, unnamed bots
	None            Class = "none"             // the request names nothing
)

// Classes returns all classes, those of the headline first.
func Classes() []Class {
	return []Class{
		TrainingCrawler, SearchIndex, UserFetch, AgenticBrowser, CodingAgent, DataProvider,
		LinkPreview, AdsReview, SearchEngine, HTTPLibrary, Monitor, ScannerProbe, Browser, UnknownBot, None,
	}
}

// Headline reports whether visits of the class count as visits of agents in the
// first number that a reader sees. All others are counted apart.
func (c Class) Headline() bool {
	switch c {
	case TrainingCrawler, SearchIndex, UserFetch, AgenticBrowser, CodingAgent, DataProvider:
		return true
	default:
		return false
	}
}

// Valid reports whether the class is one of the list.
func (c Class) Valid() bool {
	switch c {
	case TrainingCrawler, SearchIndex, UserFetch, AgenticBrowser, CodingAgent, DataProvider,
		LinkPreview, AdsReview, SearchEngine, HTTPLibrary, Monitor, ScannerProbe, Browser, UnknownBot, None:
		return true
	default:
		return false
	}
}

// A Blocking is the effect of blocking the agent in robots.txt, as documented by its
// operator. Few operators document it.
type Blocking string

// Effects of blocking.
const (
	LosesAnswers  Blocking = "answers"  // the site is no longer shown or cited by the assistant
	LosesTraining Blocking = "training" // nothing but training is refused
	MayBeIgnored  Blocking = "ignored"  // the operator says that the agent may ignore robots.txt
	LosesPreviews Blocking = "previews" // shared links look bare
	LosesAds      Blocking = "ads"      // ads may not be approved
)

// An Agent is a row of the table: the facts about a named visitor.
type Agent struct {
	Token    string // part of the lower-cased User-Agent that names it; ^ at its start, = the whole of it
	Name     string // as its operator writes it; empty for browsers and the nameless
	Operator string // empty if unknown
	// Family gets the credit: ChatGPT for ChatGPT-User, for a referrer of chatgpt.com
	// and for its tag. Crawlers and indexes are separate families, because they bring
	// no visitors: ClaudeBot is not Claude. Empty if the agent is not an assistant.
	Family   string
	Class    Class
	Lists    []string // lists of package ranges that its addresses are in
	DNS      []string // suffixes of the names of its addresses
	Signers  []string // origins that its Web Bot Auth signatures name
	Doc      string   // the operator's page about it
	Blocking Blocking
	Sample   string // a User-Agent of it, or one made after its documentation
	// Fake marks a robots.txt token that no agent sends in its User-Agent: a visitor
	// that sends it is spoofed.
	Fake bool
	// ListsOpen and DNSOpen mark incomplete lists and suffixes: the operator also uses
	// others, so an address outside of them proves nothing.
	ListsOpen, DNSOpen bool

	Source Source
}

// A Source is the origin of a row.
type Source string

// The sources of rows.
const (
	Ours     Source = "firstpick"
	Names    Source = "ai.robots.txt"
	Patterns Source = "crawler-user-agents"
	Shape    Source = "shape" // derived from the form of the string
)
