package evalclient

import "time"

// A Comparison is what changed from one run of a category, the base, to another.
type Comparison struct {
	Base     Side   `json:"base"`
	Run      Side   `json:"run"`
	Category string `json:"category"`
	// Paired says that each prompt and agent is compared with itself.
	Paired   bool     `json:"paired"`
	Warnings []string `json:"warnings"` // codes, of either board
	// Notes say what else is different.
	Notes  []Note        `json:"notes"`
	Tools  []ToolChange  `json:"tools"` // the largest change first
	Agents []AgentChange `json:"agents"`
	// What only one of the runs has.
	OnlyInBase Unshared `json:"onlyInBase"`
	OnlyInRun  Unshared `json:"onlyInRun"`
}

// A Side is one of the two runs.
type Side struct {
	ID          string     `json:"id"`
	URL         string     `json:"url"`
	EvalID      string     `json:"evalId"`
	EvalName    string     `json:"evalName"`
	EvalVersion int        `json:"evalVersion"`
	AsOf        *time.Time `json:"asOf"`
	NTrials     int        `json:"nTrials"`
	NPrompts    int        `json:"nPrompts"`
	Coverage    float64    `json:"coverage"`
	SpentUSD    float64    `json:"spentUsd"`
	Synthetic   bool       `json:"synthetic"`
}

// A ToolChange is one tool in both runs: shares of valid trials, 0 to 1, and their
// difference, each with its 95 % interval.
type ToolChange struct {
	Slug         string  `json:"slug"`
	Tool         string  `json:"tool"`
	BasePickRate float64 `json:"basePickRate"`
	BaseCILow    float64 `json:"baseCiLow"`
	BaseCIHigh   float64 `json:"baseCiHigh"`
	PickRate     float64 `json:"pickRate"`
	CILow        float64 `json:"ciLow"`
	CIHigh       float64 `json:"ciHigh"`
	Diff         float64 `json:"diff"`
	DiffCILow    float64 `json:"diffCiLow"`
	DiffCIHigh   float64 `json:"diffCiHigh"`
	// PAdjusted is the p-value after Holm; Significant says that it is below 0.05.
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
}

// An AgentChange is what changed with one agent.
type AgentChange struct {
	Agent       string       `json:"agent"`
	BaseNTrials int          `json:"baseNTrials"`
	NTrials     int          `json:"nTrials"`
	Paired      bool         `json:"paired"`
	Changed     []string     `json:"changed"` // what is different about the agent itself
	Tools       []ToolChange `json:"tools"`
}

// Unshared is what only one of two runs has.
type Unshared struct {
	Prompts []string `json:"prompts"`
	Agents  []string `json:"agents"`
	Tools   []string `json:"tools"`
}

// A Note is something else that is different.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}
