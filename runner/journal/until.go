package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/firstpick/firstpick/runner/plan"
)

// Until is the stopping rule of a run. Such a run asks one prompt family after the other,
// in waves of whole families, and ends after the wave in which the rule is decided.
type Until struct {
	Rule string `json:"rule"`
	// Tools are the slugs of the category when the run began.
	Tools []string `json:"tools"`
	// Families counts those of the eval; Wave is how many of them are asked together.
	Families int `json:"families"`
	Wave     int `json:"wave"`
	// Stopped is nil while the rule is open.
	Stopped *Stopped `json:"stopped,omitempty"`
}

// A Verdict is the answer to a stopping rule.
type Verdict struct {
	Met bool `json:"met"`
	// Text is the verdict in words, such as "rank(stripe) <= 2 is met".
	Text string `json:"verdict"`
}

// Stopped is how a stopping rule ended its run.
type Stopped struct {
	Verdict
	// After is how many families decide it, in the order of the plan. Asked is how many
	// the run has: those that decide it, and the others of waves that had begun.
	After int `json:"after"`
	Asked int `json:"asked"`
}

// Trials returns the trials of a run in the order of the plan. An imported run has no
// plan. A run that its stopping rule ended has those of the families that it asked.
func (r *Run) Trials() []plan.Trial {
	if r.Until != nil {
		return slices.Concat(r.Families()...)
	}
	trials := plan.New(&r.Eval)
	if r.Shard != nil {
		trials = plan.Shard(trials, r.Shard.Index, r.Shard.Of)
	}
	return trials
}

// Families returns the trials of a run with a stopping rule by family.
func (r *Run) Families() [][]plan.Trial {
	families := plan.Families(&r.Eval)
	if s := r.Until.Stopped; s != nil {
		families = families[:min(s.Asked, len(families))]
	}
	return families
}

// Stop records that the stopping rule ended the run: run.json then plans only the families
// that were asked. What Run returns stays as it was.
func (j *Journal) Stop(s Stopped) error {
	r := j.run
	if r.Until == nil || r.Until.Stopped != nil {
		return fmt.Errorf("run %s has no open stopping rule", r.ID)
	}
	until := *r.Until
	until.Stopped, r.Until = &s, &until
	r.Planned = len(r.Trials())
	r.Notes = append(slices.Clone(r.Notes), fmt.Sprintf(
		"Eval %s stopped by its rule after %d of %d prompt families: %s. The intervals and ranks on boards assume a number of prompts fixed beforehand; after such a stop, rates lean towards the verdict.",
		r.Eval.Name, s.After, until.Families, s.Text))
	if err := j.rewrite(r); err != nil {
		return fmt.Errorf("run %s: the stop could not be stored: %w", r.ID, err)
	}
	return nil
}

// rewrite replaces run.json atomically.
func (j *Journal) rewrite(r Run) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	dir := j.records.dir
	next := filepath.Join(dir, runFile+".next")
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) { // of a killed process
		return err
	}
	if err := writeSynced(next, data); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(dir, runFile)); err != nil {
		return err
	}
	return syncDir(dir)
}
