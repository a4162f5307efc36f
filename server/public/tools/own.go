package tools

import (
	_ "embed"
	"slices"
)

//go:embed own.json
var ownDefinitions []byte

// The names of the tools of Own.
const (
	ListEvals       = "listEvals"
	ListEvalRuns    = "listEvalRuns"
	StartEvalRun    = "startEvalRun"
	GetEvalRun      = "getEvalRun"
	GetEvalScores   = "getEvalScores"
	CompareEvalRuns = "compareEvalRuns"
	ExplainLoss     = "explainLoss"
)

// Own returns the tools of a workspace's evals, in the order in which they are used. They
// need an eval key, so no public document lists them.
func Own() []Tool { return parse(ownDefinitions) }

// IsOwn reports whether Own has a tool.
func IsOwn(tool string) bool {
	return slices.Contains([]string{ListEvals, ListEvalRuns, StartEvalRun, GetEvalRun, GetEvalScores, CompareEvalRuns, ExplainLoss}, tool)
}

// An EvalsQuery has the arguments of listEvals.
type EvalsQuery struct {
	Limit  int
	Cursor string
}

// A RunsQuery has the arguments of listEvalRuns.
type RunsQuery struct {
	EvalID, Status string
	Limit          int
	Cursor         string
}

// A StartQuery has the arguments of startEvalRun.
type StartQuery struct {
	EvalID         string
	BudgetUSD      float64
	IdempotencyKey string
	Version        int // 0 for the latest
}

// A RunQuery has the arguments of the tools that read a run; each takes some of them.
type RunQuery struct {
	RunID     string
	BaseRunID string // empty for the run before
	Agent     string // empty for all
	Tool      string
	Limit     int
}

const (
	ownEvals, ownRows, maxOwnRows = 20, 10, 50

	maxOwnID      = 100
	maxOwnAgent   = 200
	maxOwnCursor  = 1000
	maxOwnKey     = 255
	maxOwnVersion = 1_000_000
)

// ReadEvals parses the arguments of listEvals, or returns the error response.
func ReadEvals(raw []byte) (EvalsQuery, *Answer) {
	a := read(raw, "limit", "cursor")
	q := EvalsQuery{a.number("limit", ownEvals, maxOwnRows), a.stored("cursor", false, maxOwnCursor)}
	return q, a.wrong()
}

// ReadRuns parses the arguments of listEvalRuns, or returns the error response.
func ReadRuns(raw []byte) (RunsQuery, *Answer) {
	a := read(raw, "evalId", "status", "limit", "cursor")
	q := RunsQuery{
		a.stored("evalId", true, maxOwnID), a.word("status", "", "queued", "running", "done", "failed", "cancelled"), a.number("limit", ownRows, maxOwnRows),
		a.stored("cursor", false, maxOwnCursor),
	}
	return q, a.wrong()
}

// ReadStart parses the arguments of startEvalRun, or returns the error response.
func ReadStart(raw []byte) (StartQuery, *Answer) {
	a := read(raw, "evalId", "budgetUsd", "idempotencyKey", "version")
	q := StartQuery{a.stored("evalId", true, maxOwnID), a.amount("budgetUsd"), a.stored("idempotencyKey", false, maxOwnKey), a.number("version", 0, maxOwnVersion)}
	return q, a.wrong()
}

// ReadRun parses the arguments of a tool that reads a run, or returns the error response.
func ReadRun(tool string, raw []byte) (RunQuery, *Answer) {
	names := map[string][]string{GetEvalRun: {"runId"}, GetEvalScores: {"runId", "agent", "limit"}, CompareEvalRuns: {"runId", "baseRunId", "limit"}, ExplainLoss: {"runId", "tool"}}[tool]
	a := read(raw, names...)
	q := RunQuery{
		RunID: a.stored("runId", true, maxOwnID), BaseRunID: a.stored("baseRunId", false, maxOwnID), Agent: a.stored("agent", false, maxOwnAgent),
		Tool: a.stored("tool", tool == ExplainLoss, MaxQuery), Limit: a.number("limit", ownRows, maxOwnRows),
	}
	return q, a.wrong()
}

// wrong returns the error response of the issues; nil if absent.
func (a *arguments) wrong() *Answer {
	if len(a.issues) == 0 {
		return nil
	}
	out := invalid(a.issues)
	return &out
}
