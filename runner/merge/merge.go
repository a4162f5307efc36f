// Package merge merges the shards of an eval into one run. It first verifies that they
// are complete: the same plan, every shard once, and every planned trial with an answer
// or an exclusion. Otherwise it writes nothing.
//
// The merged run has the shards' records in the order of the plan, as a run on one
// machine would, and both publish the same snapshot.
package merge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// maxTold is how many missing trials an error lists.
const maxTold = 20

// A Source is the location of a shard: a run in a folder of runs.
type Source struct{ Root, ID string }

// A Merged describes the merged run.
type Merged struct {
	Run             journal.Run
	Valid, Excluded int
	// Mixed are the agents that were not the same on every shard, by name: another
	// version of a program, another condition.
	Mixed []string
}

// An IncompleteError lists the missing parts of the plan.
type IncompleteError struct {
	Missing []string // lines for people
}

func (e *IncompleteError) Error() string {
	return "the shards are not the whole run:\n" + strings.Join(e.Missing, "\n")
}

// Merge merges the sources into a run below root, atomically. If the id is empty, it is
// derived from the shards' ids, so that the same shards merge only once.
func Merge(ctx context.Context, root, id string, sources []Source) (Merged, error) {
	shards, err := open(sources)
	if err != nil {
		return Merged{}, err
	}
	run, trials, err := agree(shards)
	if err != nil {
		return Merged{}, err
	}
	for _, s := range shards {
		if err := s.read(ctx); err != nil {
			return Merged{}, err
		}
	}
	if err := complete(run, shards); err != nil {
		return Merged{}, err
	}
	if run.ID = id; id == "" {
		run.ID = mergedID(run.CreatedAt, shards)
	}
	if _, err := os.Stat(filepath.Join(root, run.ID)); err == nil {
		return Merged{}, fmt.Errorf("run %s already exists; if it is not the merge of these shards, choose another id", run.ID)
	}
	m := Merged{Run: run}
	for _, s := range shards {
		m.Valid += s.valid
		m.Excluded += s.excluded
	}
	m.Mixed = mixed(shards)
	return m, write(ctx, root, run, trials, shards)
}

// mergedID does not depend on the order of the shards.
func mergedID(at time.Time, shards []*shard) string {
	ids := make([]plan.Trial, len(shards))
	for i, s := range shards {
		ids[i].ID = s.run.ID
	}
	return at.UTC().Format("20060102-150405-") + plan.Digest(ids)[:6] + "-merged"
}

// open reads the plans of the shards, in order of their index.
func open(sources []Source) ([]*shard, error) {
	shards := make([]*shard, 0, len(sources))
	for _, src := range sources {
		run, err := journal.ReadRun(src.Root, src.ID)
		if err != nil {
			return nil, err
		}
		if run.Shard == nil {
			return nil, fmt.Errorf("run %s is not a shard; only runs made with --shard can be merged", run.ID)
		}
		shards = append(shards, &shard{Source: src, run: run})
	}
	sorting.StableFunc(shards, func(a, b *shard) int { return a.run.Shard.Index - b.run.Shard.Index })
	return shards, nil
}

// agree checks that the shards are parts of one plan, each given once, and returns
// the whole run without an id, and its trials.
func agree(shards []*shard) (journal.Run, []plan.Trial, error) {
	if len(shards) == 0 {
		return journal.Run{}, nil, errors.New("no shards to merge")
	}
	run := shards[0].run
	for i, s := range shards {
		if what := differs(&run, &s.run); what != "" {
			return run, nil, fmt.Errorf("runs %s and %s differ in %s; merge shards of the same run", shards[0].run.ID, s.run.ID, what)
		}
		if i > 0 && s.run.Shard.Index == shards[i-1].run.Shard.Index {
			return run, nil, fmt.Errorf("runs %s and %s are both shard %s; give one of them", shards[i-1].run.ID, s.run.ID, s.run.Shard)
		}
		if s.run.CreatedAt.Before(run.CreatedAt) {
			run.CreatedAt = s.run.CreatedAt
		}
	}
	part := *run.Shard
	run.Shard = nil
	trials := run.Trials()
	if part.Of > len(trials) {
		return run, nil, fmt.Errorf("run %s is shard %s of only %d trials", shards[0].run.ID, &part, len(trials))
	}
	if plan.Digest(trials) != part.Plan {
		return run, nil, fmt.Errorf("run %s was planned by another version of firstpick; merge with that version", shards[0].run.ID)
	}
	run.Planned = len(trials)
	for _, s := range shards {
		s.trials = plan.Shard(trials, s.run.Shard.Index, part.Of)
		if s.run.Planned != len(s.trials) {
			return run, nil, fmt.Errorf("run %s planned %d trials, and shard %s has %d", s.run.ID, s.run.Planned, s.run.Shard, len(s.trials))
		}
	}
	return run, trials, missingShards(part, trials, shards)
}

// differs names the first difference between two runs of supposedly one plan.
func differs(a, b *journal.Run) string {
	switch {
	case a.Eval.Name != b.Eval.Name:
		return fmt.Sprintf("the eval: %s and %s", a.Eval.Name, b.Eval.Name)
	case a.Eval.Source != b.Eval.Source:
		return "the text of the eval file"
	case a.Shard.Of != b.Shard.Of:
		return fmt.Sprintf("the number of shards: %d and %d", a.Shard.Of, b.Shard.Of)
	case a.Shard.Plan != b.Shard.Plan:
		return "the plan: were they given the same --agent flags?"
	case a.Catalog != b.Catalog:
		return fmt.Sprintf("the catalogue: %s and %s", a.Catalog, b.Catalog)
	case a.Extractor != b.Extractor:
		return fmt.Sprintf("the extractor: %s and %s", a.Extractor, b.Extractor)
	case a.Synthetic != b.Synthetic || !slices.Equal(a.Notes, b.Notes):
		return "the metadata of the answers"
	}
	return ""
}

func missingShards(part journal.Shard, trials []plan.Trial, shards []*shard) error {
	var missing []string
	for i := 1; i <= part.Of; i++ {
		if !slices.ContainsFunc(shards, func(s *shard) bool { return s.run.Shard.Index == i }) {
			missing = append(missing, fmt.Sprintf("shard %d of %d is missing: %d trials", i, part.Of, len(plan.Shard(trials, i, part.Of))))
		}
	}
	if len(missing) > 0 {
		return &IncompleteError{missing}
	}
	return nil
}

// complete lists the planned trials with neither an answer nor an exclusion.
func complete(run journal.Run, shards []*shard) error {
	var missing []string
	for _, s := range shards {
		if n := len(s.trials) - s.valid - s.excluded; n > 0 {
			missing = append(missing, fmt.Sprintf("shard %s, run %s: %d of %d trials are missing; resume with: firstpick run --resume %s",
				s.run.Shard, s.run.ID, n, len(s.trials), s.run.ID))
			missing = append(missing, s.missing()...)
		}
	}
	if len(missing) > 0 {
		return &IncompleteError{missing}
	}
	return nil
}

// mixed returns the agents with more than one manifest.
func mixed(shards []*shard) []string {
	first := map[string]string{}
	var out []string
	for _, s := range shards {
		for _, m := range s.manifests {
			id, name := m.Manifest.ID(), m.Manifest.Agent
			if first[name] == "" {
				first[name] = id
			}
			if first[name] != id && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
