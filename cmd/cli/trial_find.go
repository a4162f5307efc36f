package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/analytics/trialstore"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A history is all that is known of one trial.
type history struct {
	Run      string             `json:"run"`
	Trial    plan.Trial         `json:"trial"`
	Prompt   string             `json:"prompt"`
	Answer   *journal.Answer    `json:"answer"`
	Result   *pick.Result       `json:"result"`
	Attempts []journal.Record   `json:"attempts"` // failed ones, and the answer
	Manifest []journal.Manifest `json:"manifests"`
	Excluded string             `json:"excluded,omitempty"` // why it has no answer

	agent  eval.Agent
	remote bool // of a server
}

// find looks a trial up by the start of its id: among the answers of the trial
// store first, then, for a trial without an answer, in the journals.
func (a *app) find(ctx context.Context, id, run string) (h history, err error) {
	store, err := a.trials(ctx)
	if err != nil {
		return h, err
	}
	row, _, result, err := store.Trial(ctx, id)
	err = errors.Join(err, store.Close())
	switch {
	case run != "" || errors.Is(err, trialstore.ErrNotFound):
		return a.search(id, run)
	case errors.Is(err, trialstore.ErrAmbiguous):
		return h, usageErr("give a longer prefix, or --run", "%s is the prefix of more than one trial", id)
	case err != nil:
		return h, err
	}
	h, err = a.history(row.RunID, row.TrialID)
	h.Result = &result // it may have been extracted again
	return h, err
}

// search looks through the journals, the latest run first.
func (a *app) search(id, run string) (history, error) {
	runs, unreadable, err := journal.List(a.runsRoot())
	if err != nil {
		return history{}, err
	}
	slices.Reverse(runs)
	for _, r := range runs {
		if run != "" && r.ID != run {
			continue
		}
		h, findErr := a.history(r.ID, id)
		if findErr != nil || h.Run != "" {
			return h, findErr
		}
	}
	for _, bad := range unreadable {
		if run == "" || run == bad.ID {
			err = errors.Join(err, bad)
		}
	}
	if err != nil {
		return history{}, err
	}
	return history{}, usageErr("firstpick trial lists some", "no trial %s", id)
}

// history reads a trial's records; its Run is empty where the run has no such trial.
func (a *app) history(run, id string) (h history, err error) {
	records, err := journal.Find(a.runsRoot(), run, id)
	if err != nil || len(records) == 0 {
		return h, err
	}
	of, err := journal.ReadRun(a.runsRoot(), run)
	if err != nil {
		return h, err
	}
	for _, r := range records {
		if r.Manifest == nil && h.Trial.ID == "" {
			h.Run, h.Trial = run, r.Trial
		}
		if r.Manifest == nil && r.Trial.ID != h.Trial.ID {
			return history{}, usageErr("give a longer prefix", "%s is the prefix of more than one trial", id)
		}
		h.take(r)
	}
	for _, p := range of.Eval.Prompts {
		if p.ID == h.Trial.PromptID {
			h.Prompt = p.Text
		}
	}
	for _, one := range of.Eval.Agents {
		if one.Name == h.Trial.Agent {
			h.agent = one
		}
	}
	return h, nil
}

func (h *history) take(r journal.Record) {
	switch r.Kind {
	case journal.KindManifest:
		h.Manifest = append(h.Manifest, *r.Manifest)
	case journal.KindResult:
		h.Answer, h.Result, h.Excluded = r.Answer, r.Result, ""
		h.Attempts = append(h.Attempts, r)
	case journal.KindAttempt:
		h.Attempts = append(h.Attempts, r)
	case journal.KindExcluded:
		h.Excluded = r.Reason
	case journal.KindExtraction:
		h.Result = r.Result
	case journal.KindAnswer: // its result follows, unless the run was killed
	case journal.KindAsked: // its attempt follows, unless the run was killed
	case journal.KindJudgement: // the extraction that follows two of them quotes both
	}
}

// attempt returns the record of an attempt with the answer as it came; 0 is the one
// with the answer, or else the last.
func (h *history) attempt(n int) (journal.Record, error) {
	if n == 0 && len(h.Attempts) > 0 {
		return h.Attempts[len(h.Attempts)-1], nil
	}
	for _, r := range h.Attempts {
		if r.Attempt == n {
			return r, nil
		}
	}
	return journal.Record{}, usageErr("", "trial %s has no attempt %d", h.Trial.ID, n)
}

// raw reads an answer as it came; empty where none was kept.
func (a *app) raw(h history, r journal.Record) ([]byte, error) {
	if r.Raw == nil {
		return nil, nil
	}
	raw, err := journal.ReadRaw(a.runsRoot(), h.Run, *r.Raw)
	if err != nil {
		return nil, fmt.Errorf("attempt %d of trial %s: %w", r.Attempt, h.Trial.ID, err)
	}
	return raw, nil
}
