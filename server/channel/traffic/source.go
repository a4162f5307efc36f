package traffic

// A Source lists agents, the pages they read, missing pages, and referrals.
type Source struct {
	Agents    []AgentSource    `json:"agents"`
	Pages     []PageSource     `json:"pages"`
	Gaps      []Gap            `json:"gaps"`
	Referrals []Referral       `json:"referrals"`
	Landings  []Landing        `json:"landings"`
	Trend     []Day            `json:"trend"`
	Noise     map[string]int64 `json:"noise"`
	NoiseBy   []NoiseClass     `json:"noiseBy"`
	Site      *SiteSource      `json:"site,omitempty"` // if the owner entered its address
}

// A SiteSource is the site as agents find it.
type SiteSource struct {
	Site     string `json:"site"`
	LookedAt string `json:"lookedAt"`
	Pages    int    `json:"pages"` // that the sitemap names
	Read     int    `json:"read"`  // of these, by an agent, in the window
	LLMsTxt  bool   `json:"llmsTxt"`
	Markdown bool   `json:"markdown"` // a page can be had as Markdown
	// Unreachable says that the check reached nothing: LLMsTxt and Markdown are unknown.
	Unreachable bool     `json:"unreachable,omitempty"`
	Problems    []string `json:"problems"`
}

// An AgentSource counts the visits of an agent. Spoofed visits are from addresses that
// the agent's operator does not publish: they are among Touches, and count neither in Pages
// nor in OKRate.
type AgentSource struct {
	Agent        string   `json:"agent"`
	Operator     string   `json:"operator,omitempty"`
	Class        string   `json:"class"`
	Touches      int64    `json:"touches"`
	Pages        int64    `json:"pages"`
	Verified     int64    `json:"verified"`
	Spoofed      int64    `json:"spoofed"`
	Unverifiable int64    `json:"unverifiable"`
	Stale        int64    `json:"stale"`
	NoIP         int64    `json:"noIp"`
	FirstSeen    string   `json:"firstSeen"`
	LastSeen     string   `json:"lastSeen"`
	OKRate       *float64 `json:"okRate"` // null when no status of a genuine visit is known
}

// A PageSource is how often agents read a page.
type PageSource struct {
	Host    string           `json:"host,omitempty"`
	Path    string           `json:"path"`
	Touches int64            `json:"touches"`
	ByClass map[string]int64 `json:"byClass"`
	Agents  []string         `json:"agents"`
}

// A Gap is a page that agents requested and did not get.
type Gap struct {
	Kind    string   `json:"kind"`
	Status  int      `json:"status"`
	Host    string   `json:"host,omitempty"`
	Path    string   `json:"path"`
	Touches int64    `json:"touches"`
	Asked   int64    `json:"asked"` // because a person asked just now
	Agents  []string `json:"agents"`
	Suggest string   `json:"suggest"`
}

// A NoiseClass is the excluded visits of a class, with the most frequent names and pages.
type NoiseClass struct {
	Class   string   `json:"class"`
	Touches int64    `json:"touches"`
	Agents  []string `json:"agents"`
	Pages   []string `json:"pages"` // host and path
	LastAt  string   `json:"lastSeen"`
}

// A Referral is how many people an assistant sent, at least.
type Referral struct {
	Agent    string           `json:"agent"`
	Landings int64            `json:"landings"`
	Visitors int64            `json:"visitors"`
	Evidence map[string]int64 `json:"evidence"`
	AtLeast  bool             `json:"atLeast"`
}

// A Landing is a page on which people from assistants landed, and the conversions that are
// credited to visits to it. Some of these visits may be older than the window.
type Landing struct {
	Host        string             `json:"host,omitempty"`
	Path        string             `json:"path"`
	Landings    int64              `json:"landings"`
	Visitors    int64              `json:"visitors"`
	Assistants  []string           `json:"assistants"`
	Conversions float64            `json:"conversions"` // only with the outcome
	Kinds       map[string]float64 `json:"kinds"`       // adds up to Conversions
	Revenue     []Money            `json:"revenue"`     // by agents, net of refunds
}

// A Day counts the events of a day in the report's time zone.
type Day struct {
	Day         string           `json:"day"`
	ByClass     map[string]int64 `json:"byClass"`
	Referrals   int64            `json:"referrals"`
	Conversions int64            `json:"conversions"`
	Reads       int64            `json:"reads"`             // touches of agents whose status is below 400 or unknown
	Failed      int64            `json:"failed"`            // touches on behalf of users, of which gaps are made
	Credited    float64          `json:"credited"`          // conversions by agents; only with the outcome
	Revenue     []Money          `json:"revenue,omitempty"` // by agents, net of refunds; only with the outcome
}

// A Change is a condition that package change detects in the window.
type Change struct {
	What   string `json:"what"`
	Agent  string `json:"agent,omitempty"`
	Class  string `json:"class,omitempty"`
	Host   string `json:"host,omitempty"` // of Folder
	Folder string `json:"folder,omitempty"`
	Now    int64  `json:"now"`
	Before int64  `json:"before"`
	Since  string `json:"since"`
}
