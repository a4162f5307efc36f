// Package eval is the eval file: which category is measured, with which
// prompts, by which agents, how often. It is YAML that people write, so reading
// is strict and every problem is told with file and line; eval.schema.json says
// the same to editors.
package eval

import (
	_ "embed"
	"regexp"
)

// MaxSize is the largest eval file that is read, in bytes.
const MaxSize = 4 << 20

// NoTemplate is the project template of a trial that starts with nothing.
const NoTemplate = "none"

// The kinds of agent.
const (
	KindRecorded   = "recorded"    // answers recorded earlier
	KindSimulated  = "simulated"   // answers invented from a known truth; synthetic
	KindOpenAIChat = "openai-chat" // any endpoint that speaks the OpenAI chat protocol
)

//go:embed eval.schema.json
var schema []byte

// Schema returns the JSON Schema of an eval file.
func Schema() []byte { return schema }

// An Eval is a category, unbranded prompts, agents, templates and repeats.
type Eval struct {
	Name        string   `json:"name"`
	Category    string   `json:"category"`
	Description string   `json:"description,omitempty"`
	Seed        uint64   `json:"seed"`
	Repeats     int      `json:"repeats"`
	Concurrency int      `json:"concurrency,omitempty"`
	Templates   []string `json:"templates"`
	Prompts     []Prompt `json:"prompts"`
	Agents      []Agent  `json:"agents"`
	// Source is the file as it was read; empty for an imported eval.
	Source string `json:"source,omitempty"`

	file string // what errors call it
}

// A Prompt is one unbranded request.
type Prompt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	line int
}

// An Agent is who is asked, and how. Which fields apply depends on Kind.
type Agent struct {
	Name string `json:"name"`
	Kind string `json:"kind"`

	// Recorded: an embedded study, or a file in the form of `firstpick import`.
	Study string `json:"study,omitempty"`
	File  string `json:"file,omitempty"`

	// Simulated: Truth is the share of every outcome (tool slugs, "diy",
	// "none", "refused"), scaled to sum to 1; PromptSpread is the standard
	// deviation of a tool's logit between prompts; FailRate is the share of
	// attempts that fail like a network does.
	Truth        map[string]float64 `json:"truth,omitempty"`
	Seed         uint64             `json:"seed,omitempty"`
	LatencyMS    int                `json:"latency_ms,omitempty"`
	FailRate     float64            `json:"fail_rate,omitempty"`
	PromptSpread float64            `json:"prompt_spread,omitempty"`

	// OpenAI chat. APIKeyEnv names the variable that holds the key. MaxTokens
	// and Temperature are sent only where they are set.
	BaseURL     string   `json:"base_url,omitempty"`
	Model       string   `json:"model,omitempty"`
	APIKeyEnv   string   `json:"api_key_env,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TimeoutS    int      `json:"timeout_s,omitempty"`
	Price       *Price   `json:"price,omitempty"`
}

// A Price is what a model costs, in US dollars per million tokens.
type Price struct {
	InputPerMTok  float64 `json:"input_per_mtok"`
	OutputPerMTok float64 `json:"output_per_mtok"`
}

// Trials returns how many trials the eval plans.
func (e *Eval) Trials() int {
	return len(e.Prompts) * len(e.Agents) * len(e.Templates) * e.Repeats
}

// Synthetic reports whether any agent is simulated.
func (e *Eval) Synthetic() bool {
	for _, a := range e.Agents {
		if a.Kind == KindSimulated {
			return true
		}
	}
	return false
}

var (
	namePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]{0,99}$`)
	envPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
)
