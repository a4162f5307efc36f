package runner

import (
	"github.com/firstpick/firstpick/runner/journal"
)

// Progress is what a journal says of a run.
type Progress struct {
	Valid    map[string]bool   // ids of trials that have an answer
	Excluded map[string]string // reasons by id of trials that were given up
	SpentUSD float64           // what the answers cost, as far as known
}

// Replay reads how far a run has come.
func Replay(root, id string) (Progress, error) {
	p := Progress{Valid: map[string]bool{}, Excluded: map[string]string{}}
	_, err := journal.Scan(root, id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		p.take(r)
		return nil
	})
	return p, err
}

func (p *Progress) take(r journal.Record) {
	switch r.Kind {
	case journal.KindResult:
		p.Valid[r.Trial.ID] = true
		delete(p.Excluded, r.Trial.ID)
		if r.Answer != nil && r.Answer.CostUSD != nil {
			p.SpentUSD += *r.Answer.CostUSD
		}
	case journal.KindExcluded:
		if !p.Valid[r.Trial.ID] {
			p.Excluded[r.Trial.ID] = r.Reason
		}
	case journal.KindAttempt, journal.KindExtraction: // neither settles a trial
	}
}
