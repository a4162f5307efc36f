package resource

import "time"

// A Comparison lists the changes from one run of a category, the base, to another.
// Only pick rates are compared.
type Comparison struct {
	Base     Side   `json:"base"`
	Run      Side   `json:"run"`
	Category string `json:"category"`
	// Paired reports whether each prompt and agent is compared with itself, which shows
	// smaller changes. Otherwise whole rates are compared.
	Paired bool `json:"paired"`
	// Warnings are the doubts about either board, by the codes of boards.
	Warnings []string `json:"warnings"`
	// Notes list other differences, which may explain a change.
	Notes []Note `json:"notes"`
	// Tools are those of both catalogues, the largest change first. It is empty when a
	// run has no valid trial.
	Tools []ToolChange `json:"tools"`
	// Agents are those that both runs asked, in the order of the run.
	Agents []AgentChange `json:"agents"`
	// OnlyInBase and OnlyInRun are in one of the runs only.
	OnlyInBase Unshared `json:"onlyInBase"`
	OnlyInRun  Unshared `json:"onlyInRun"`
}

// A Side is one of the two runs.
type Side struct {
	ID          string `json:"id"`
	URL         string `json:"url"`
	EvalID      string `json:"evalId"`
	EvalName    string `json:"evalName"`
	EvalVersion int    `json:"evalVersion"`
	// CatalogVersion is that of the workspace's own catalogue; 0 without one.
	CatalogVersion int        `json:"catalogVersion,omitempty"`
	AsOf           *time.Time `json:"asOf"` // time of the last response, with simulated agents the end of the run; null without one
	NTrials        int        `json:"nTrials"`
	NPrompts       int        `json:"nPrompts"`
	Coverage       float64    `json:"coverage"`
	SpentUSD       float64    `json:"spentUsd"`
	Synthetic      bool       `json:"synthetic"`
}

// A ToolChange is one tool in both runs. Rates are shares of valid trials with their
// 95 % intervals over prompts.
type ToolChange struct {
	Slug         string  `json:"slug"`
	Tool         string  `json:"tool"`
	BasePickRate float64 `json:"basePickRate"`
	BaseCILow    float64 `json:"baseCiLow"`
	BaseCIHigh   float64 `json:"baseCiHigh"`
	PickRate     float64 `json:"pickRate"`
	CILow        float64 `json:"ciLow"`
	CIHigh       float64 `json:"ciHigh"`
	// Diff is the run's rate less the base's, with its 95 % interval. Where they are
	// paired it is the mean over the shared cells, which may differ a little from the
	// difference of the two rates.
	Diff       float64 `json:"diff"`
	DiffCILow  float64 `json:"diffCiLow"`
	DiffCIHigh float64 `json:"diffCiHigh"`
	// PAdjusted is the p-value after Bonferroni's correction for all picked tools of the
	// list, as the interval of Diff is; Significant is true below 0.05.
	PAdjusted   float64 `json:"pAdjusted"`
	Significant bool    `json:"significant"`
	// The same of this tool for itself, for a tool that was chosen before the runs.
	AloneCILow  float64 `json:"aloneCiLow"`
	AloneCIHigh float64 `json:"aloneCiHigh"`
	PAlone      float64 `json:"pAlone"`
}

// An AgentChange lists the changes of one agent.
type AgentChange struct {
	Agent       string `json:"agent"`
	BaseNTrials int    `json:"baseNTrials"`
	NTrials     int    `json:"nTrials"`
	Paired      bool   `json:"paired"`
	// Changed names the differences of the agent itself: model, version, parameters and
	// so on.
	Changed []string `json:"changed"`
	// Tools are those that the agent picked in either run. Their p-values are adjusted
	// over the tools of all agents.
	Tools []ToolChange `json:"tools"`
}

// Unshared lists prompts, agents and tools of only one of two runs.
type Unshared struct {
	// Prompts are ids. One that is in both lists has another text in each run.
	Prompts []string `json:"prompts"`
	Agents  []string `json:"agents"`
	Tools   []string `json:"tools"` // slugs
}

// A Note is another difference between two runs.
type Note struct {
	Code    string `json:"code"`
	Message string `json:"message"` // a sentence
}
