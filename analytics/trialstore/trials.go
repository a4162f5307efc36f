package trialstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
)

// Unresolved as Filter.Outcome selects the ambiguous trials that no rule decided.
const Unresolved = "unresolved"

// A Filter selects trials. Empty fields select everything; an empty Run means
// the current runs.
type Filter struct {
	Run, Category, Agent, Outcome, Picked string
	// Limit is how many to return at most; 0 means all.
	Limit int
}

// A TrialRow is one valid trial without its transcript.
type TrialRow struct {
	RunID    string `json:"run"`
	TrialID  string `json:"id"`
	Eval     string `json:"eval"`
	Category string `json:"category"`
	PromptID string `json:"prompt_id"`
	Agent    string `json:"agent"`
	Template string `json:"template"`
	// Repeat counts from 1.
	Repeat    int      `json:"repeat"`
	Outcome   string   `json:"outcome"`
	Picked    string   `json:"picked"`
	Shortlist []string `json:"shortlist"`
	// Mismatch says that the agent said one tool and used another.
	Mismatch bool `json:"mismatch"`
	// Unresolved says that no rule decided; Outcome is then ambiguous.
	Unresolved bool   `json:"unresolved"`
	Method     string `json:"method"`
	Level      int    `json:"level"`
	Model      string `json:"model"`
	InTokens   int    `json:"in_tokens"`
	OutTokens  int    `json:"out_tokens"`
	// CostUSD is null where the price is unknown.
	CostUSD    *float64  `json:"cost_usd"`
	WallMS     int64     `json:"wall_ms"`
	FinishedAt time.Time `json:"finished_at"`
	// Family is the prompt's task; the prompt's id if its eval names none.
	Family string    `json:"family"`
	Tags   eval.Tags `json:"tags"`
	// Details are the details of the outcome; see pick.DetailNames.
	Details []string `json:"details,omitempty"`
}

// Trials returns the selected trials in the order in which they finished.
func (s *Store) Trials(ctx context.Context, f Filter) ([]TrialRow, error) {
	limit := int64(math.MaxInt64)
	if f.Limit > 0 {
		limit = int64(f.Limit)
	}
	runs := f.Run
	if runs == "" {
		var err error
		if runs, err = s.chosen(ctx, nil); err != nil {
			return nil, err
		}
	}
	return collect(ctx, s, "trials", scanTrial, runs, f.Category, f.Agent, f.Outcome, f.Picked, limit)
}

// Trial returns the trial whose id starts with idPrefix, with its transcript
// and the evidence for its outcome. A trial that several runs made is taken
// from the latest. The error is ErrNotFound or ErrAmbiguous where they apply.
func (s *Store) Trial(ctx context.Context, idPrefix string) (TrialRow, journal.Answer, pick.Result, error) {
	var answer journal.Answer
	var result pick.Result
	row, err := s.only(ctx, idPrefix)
	if err != nil {
		return row, answer, result, err
	}
	var a, r string
	if err := s.db.QueryRowContext(ctx, query("texts"), row.RunID, row.TrialID).Scan(&a, &r); err != nil {
		return row, answer, result, s.fail("trial "+row.TrialID, err)
	}
	if err := json.Unmarshal([]byte(a), &answer); err != nil {
		return row, answer, result, &DamagedError{Path: s.path, Err: fmt.Errorf("answer of trial %s: %w", row.TrialID, err)}
	}
	if err := json.Unmarshal([]byte(r), &result); err != nil {
		return row, answer, result, &DamagedError{Path: s.path, Err: fmt.Errorf("result of trial %s: %w", row.TrialID, err)}
	}
	return row, answer, result, nil
}

func (s *Store) only(ctx context.Context, idPrefix string) (TrialRow, error) {
	if idPrefix == "" {
		return TrialRow{}, fmt.Errorf("trial with an empty id: %w", ErrNotFound)
	}
	rows, err := collect(ctx, s, "trial", scanTrial, idPrefix)
	if err != nil {
		return TrialRow{}, err
	}
	if len(rows) == 0 {
		return TrialRow{}, fmt.Errorf("trial %s: %w", idPrefix, ErrNotFound)
	}
	for _, r := range rows {
		if r.TrialID != rows[0].TrialID {
			return TrialRow{}, fmt.Errorf("trial %s: %w: %s and %s start so; give more of the id", idPrefix, ErrAmbiguous, rows[0].TrialID, r.TrialID)
		}
	}
	return rows[0], nil
}

func scanTrial(rows *sql.Rows) (TrialRow, error) {
	var t TrialRow
	var list, details string
	err := rows.Scan(&t.RunID, &t.TrialID, &t.Eval, &t.Category, &t.PromptID, &t.Agent, &t.Template, &t.Repeat,
		&t.Outcome, &t.Picked, &list, &t.Mismatch, &t.Unresolved, &t.Method, &t.Level, &t.Model, &t.InTokens, &t.OutTokens,
		&t.CostUSD, &t.WallMS, &t.FinishedAt, &t.Family, &t.Tags.Ecosystem, &t.Tags.Intent, &t.Tags.Persona, &details)
	t.Shortlist, t.Details = splitList(list), splitList(details)
	t.FinishedAt = micro(t.FinishedAt)
	return t, err
}
