package merge

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/plan"
)

// A shard is a source with the locations of its trials' records.
type shard struct {
	Source
	run    journal.Run
	trials []plan.Trial // its planned trials
	// records are the places of a trial's records, each the place before it.
	records         map[string][]journal.Offset
	manifests       []journal.Record
	settled         map[string]bool
	valid, excluded int
}

// read records the location of every record. Transcripts stay on disk: a shard may be
// larger than memory.
func (s *shard) read(ctx context.Context) error {
	planned := make(map[string]plan.Trial, len(s.trials))
	for _, t := range s.trials {
		planned[t.ID] = t
	}
	s.records, s.settled = map[string][]journal.Offset{}, map[string]bool{}
	answered := map[string]bool{}
	at := journal.Offset{}
	_, err := journal.Scan(s.Root, s.ID, at, func(r journal.Record, next journal.Offset) error {
		before := at
		at = next
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Kind == journal.KindManifest && r.Manifest != nil {
			s.manifests = append(s.manifests, r)
			return nil
		}
		if planned[r.Trial.ID] != r.Trial {
			return fmt.Errorf("run %s has trial %s, which does not belong to shard %s; was it made with other flags?", s.ID, r.Trial.ID, s.run.Shard)
		}
		if r.Kind == journal.KindAnswer {
			return nil // the record that settles the trial repeats it
		}
		s.records[r.Trial.ID] = append(s.records[r.Trial.ID], before)
		switch r.Kind {
		case journal.KindResult:
			s.settled[r.Trial.ID], answered[r.Trial.ID] = true, true
		case journal.KindExcluded:
			s.settled[r.Trial.ID] = true
		default: // the others settle nothing
		}
		return nil
	})
	s.valid = len(answered)
	s.excluded = len(s.settled) - s.valid
	return err
}

// missing lists the first trials that are not settled.
func (s *shard) missing() []string {
	var out []string
	for _, t := range s.trials {
		if s.settled[t.ID] {
			continue
		}
		if len(out) == maxTold {
			return append(out, "  ...")
		}
		out = append(out, fmt.Sprintf("  trial %s: prompt %s, agent %s, template %s, repeat %d", t.ID, t.PromptID, t.Agent, t.Template, t.Repeat))
	}
	return out
}

var errOne = errors.New("one record is enough")

// load reads the records of a trial.
func (s *shard) load(id string) ([]journal.Record, error) {
	var out []journal.Record
	for places := s.records[id]; len(places) > 0; places = places[1:] {
		n := len(out)
		_, err := journal.Scan(s.Root, s.ID, places[0], func(r journal.Record, _ journal.Offset) error {
			out = append(out, r)
			return errOne
		})
		if err != nil && !errors.Is(err, errOne) {
			return nil, err
		}
		if len(out) != n+1 || out[n].Trial.ID != id {
			return nil, fmt.Errorf("run %s changed during the merge; is it still running?", s.ID)
		}
	}
	return slices.Clip(out), nil
}
