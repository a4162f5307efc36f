// Package eval reads eval files: category, prompts, agents and repeats of a
// measurement. People write them as YAML, so parsing is strict and every error has
// file and line. Editors validate with eval.schema.json.
package eval

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/incumbent"
	"github.com/firstpick/firstpick/runner/project"
)

// MaxSize is the largest eval file that is read, in bytes.
const MaxSize = 4 << 20

// NoTemplate is the project template of a trial that starts with nothing.
const NoTemplate = "none"

// How much of a user's setup an agent CLI sees.
const (
	PurityDefault = "default" // a fresh home with everything the CLI ships
	PurityClean   = "clean"   // no settings, no custom instructions
	PurityBare    = "bare"    // the minimum that the CLI supports
)

//go:embed eval.schema.json
var schema []byte

// Schema returns the JSON Schema of an eval file.
func Schema() []byte { return schema }

// An Eval is a category, unbranded prompts, agents, templates and repeats.
type Eval struct {
	Name        string `json:"name"`
	Category    string `json:"category"`
	Description string `json:"description,omitempty"`
	Seed        uint64 `json:"seed"`
	Repeats     int    `json:"repeats"`
	Concurrency int    `json:"concurrency,omitempty"`
	// Templates are the projects to start from. With an incumbent, each project but none is
	// followed by its condition with the incumbent installed.
	Templates []string `json:"templates"`
	// Sources are where the user's own templates come from.
	Sources []project.Source `json:"template_sources,omitempty"`
	// Incumbent is the rival that is installed in half of the projects; nil if absent.
	Incumbent *incumbent.Tool `json:"incumbent,omitempty"`
	// Builds runs after each trial of an agent that is a program; nil for no command.
	Builds  *Builds  `json:"builds,omitempty"`
	Prompts []Prompt `json:"prompts"`
	Agents  []Agent  `json:"agents"`
	// Weights are the weights of the agents in a board's rates, by name, relative to each
	// other and above 0. Nil weighs agents equally; otherwise every agent has one.
	Weights map[string]float64 `json:"weights,omitempty"`
	// Frame says which requests the prompts stand for; it ends the sentence "prompts as if
	// drawn from ...". Empty if the file does not say.
	Frame string `json:"frame,omitempty"`
	// Source is the file as it was read; empty for an imported eval.
	Source string `json:"source,omitempty"`

	file  string         // for errors
	lines map[string]int // by key, in the form of Line
}

// Line returns the line of a key in the parsed file, such as category or agents.0.model.
// For a missing key it is the line of the enclosing mapping, and 0 if the eval was not
// parsed.
func (e *Eval) Line(key string) int {
	for {
		if line, ok := e.lines[key]; ok {
			return line
		}
		i := strings.LastIndexByte(key, '.')
		if i < 0 {
			return 0
		}
		key = key[:i]
	}
}

// An Agent is an agent under test and its settings. Kind decides which fields apply.
type Agent struct {
	Name string `json:"name"`
	Kind string `json:"kind"`

	// Recorded: an embedded study, or a file in the form of `firstpick import`.
	Study string `json:"study,omitempty"`
	File  string `json:"file,omitempty"`

	// Simulated: Truth is the share of every outcome (tool slugs, "diy", "none",
	// "refused"), scaled to sum to 1; PromptSpread is the standard deviation of a
	// tool's logit between prompts; FailRate is the share of attempts that fail with a
	// simulated infrastructure error; Reasons makes answers name a rival with a made-up reason against it.
	Truth        map[string]float64 `json:"truth,omitempty"`
	Seed         uint64             `json:"seed,omitempty"`
	LatencyMS    int                `json:"latency_ms,omitempty"`
	FailRate     float64            `json:"fail_rate,omitempty"`
	PromptSpread float64            `json:"prompt_spread,omitempty"`
	Reasons      bool               `json:"reasons,omitempty"`

	Model string `json:"model,omitempty"`
	// APIKeyEnv names the variable that holds the key; empty means Kind.KeyEnv.
	APIKeyEnv string `json:"api_key_env,omitempty"`
	BaseURL   string `json:"base_url,omitempty"`
	// WebSearch switches it on or off; nil leaves it as the agent has it.
	WebSearch *bool `json:"web_search,omitempty"`
	// Effort is the reasoning effort, in the provider's term.
	Effort string `json:"effort,omitempty"`
	Price  *Price `json:"price,omitempty"`

	// Models behind an API. Unset parameters are not sent.
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TimeoutS    int      `json:"timeout_s,omitempty"`

	// CLI holds the settings of agents that are programs.
	CLI *CLI `json:"cli,omitempty"`

	// MaxCostUSD limits the cost of the agent in a run; 0 means no limit.
	MaxCostUSD float64 `json:"max_cost_usd,omitempty"`
	// MaxConcurrency limits its concurrent attempts; 0 leaves it to the run.
	MaxConcurrency int `json:"max_concurrency,omitempty"`
}

// A CLI configures an agent program. Zero fields take the kind's default.
type CLI struct {
	// Binary is the program's name. Parse refuses a path.
	Binary string `json:"binary,omitempty"`
	// Version is the version that the program must report; empty accepts and records any.
	Version string   `json:"version,omitempty"`
	Args    []string `json:"args,omitempty"` // more of them
	Env     []string `json:"env,omitempty"`  // names of variables that it may see too
	Purity  string   `json:"purity,omitempty"`
	// Network is "on" or "off": whether its processes reach other machines. Off needs a
	// sandbox, and a model on this machine.
	Network  string `json:"network,omitempty"`
	MaxTurns int    `json:"max_turns,omitempty"`
	// TrialCostUSD limits the cost of one trial.
	TrialCostUSD float64 `json:"trial_cost_usd,omitempty"`
	// WallS limits a trial, StallS the time without a byte of output, GraceS the
	// time that the program may live after its result; in seconds.
	WallS  int `json:"wall_s,omitempty"`
	StallS int `json:"stall_s,omitempty"`
	GraceS int `json:"grace_s,omitempty"`
	// MemoryMB limits the memory of all processes of a trial; it also limits the trials
	// in flight. DiskMB limits the size of a trial's folders, MaxProcesses its
	// concurrent processes.
	MemoryMB     int `json:"memory_mb,omitempty"`
	DiskMB       int `json:"disk_mb,omitempty"`
	MaxProcesses int `json:"max_processes,omitempty"`
	// Command is the whole command line of kind command; {prompt}, {workdir} and
	// {home} are replaced. Format names the stream that it writes: "text", or the
	// kind of a CLI that it imitates.
	Command []string `json:"command,omitempty"`
	Format  string   `json:"format,omitempty"`
	// Builds is that of the eval.
	Builds *Builds `json:"builds,omitempty"`
}

// A Price is the price of a model in US dollars per million tokens. A nil cache price
// means the price of uncached input.
type Price struct {
	InputPerMTok      float64  `json:"input_per_mtok"`
	OutputPerMTok     float64  `json:"output_per_mtok"`
	CacheReadPerMTok  *float64 `json:"cache_read_per_mtok,omitempty"`
	CacheWritePerMTok *float64 `json:"cache_write_per_mtok,omitempty"`
	// PerThousandSearches is the price of web searches; nil means that they are free.
	PerThousandSearches *float64 `json:"per_thousand_searches,omitempty"`
}

// Trials returns how many trials the eval plans.
func (e *Eval) Trials() int {
	return len(e.Prompts) * len(e.Agents) * len(e.Templates) * e.Repeats
}

// maxTrials is the most trials that an eval plans.
const maxTrials = 20_000_000

// size is Trials without overflow.
func (e *Eval) size() float64 {
	return float64(len(e.Prompts)) * float64(len(e.Agents)) * float64(len(e.Templates)) * float64(e.Repeats)
}

// CheckSize fails for an eval that Parse would refuse for its number of trials. Its plan
// cannot be made.
func (e *Eval) CheckSize() error {
	if n := e.size(); n < 1 || n > maxTrials {
		return fmt.Errorf("%.0f trials; one eval plans from 1 to %d", n, maxTrials)
	}
	return nil
}

// Studies returns the distinct studies whose answers the agents replay.
func (e *Eval) Studies() []string {
	var out []string
	for _, a := range e.Agents {
		if a.Study != "" && !slices.Contains(out, a.Study) {
			out = append(out, a.Study)
		}
	}
	return out
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

// ValidName reports whether s can name an eval, category, prompt, family, agent or template.
func ValidName(s string) bool { return namePattern.MatchString(s) }

var (
	namePattern = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:-]{0,99}$`)
	envPattern  = lazyregexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,99}$`)
)
