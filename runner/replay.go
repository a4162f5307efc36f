package runner

import (
	"unique"

	"github.com/firstpick/firstpick/runner/journal"
)

// Progress is the state of a run according to its journal.
type Progress struct {
	Valid    map[string]bool   // ids of trials that have an answer
	Picked   map[string]string // the tools that answers picked, by id of the trial
	Excluded map[string]string // reasons by id of excluded trials
	Attempts map[string]int    // made, by id of the trial
	// SpentUSD is the known cost of answers and failed attempts. LostUSD is the worst
	// case of further charges: answers without a price, and attempts without a recorded
	// end. SpentBy and LostBy are the same by agent, without the amounts of a lost
	// journal (journal.Run.Before).
	SpentUSD, LostUSD float64
	SpentBy, LostBy   map[string]float64
	Bounded           bool              // it ran under a budget
	Manifests         map[string]string // the id of each agent's latest manifest

	// Answered are the locations of stored, unread answers, by id of the trial. Their
	// costs are counted.
	Answered map[string]journal.Offset

	open map[string]journal.Record // attempts without a recorded end, by id of the trial
}

// Replay reads the progress of a run.
func Replay(root, id string) (Progress, error) {
	p := NewProgress()
	run, err := journal.ReadRun(root, id)
	if err != nil {
		return p, err
	}
	if b := run.Before; b != nil {
		p.SpentUSD, p.LostUSD = b.SpentUSD, max(0, b.AtMostUSD-b.SpentUSD)
	}
	at := journal.Offset{Segment: 1}
	_, err = journal.Scan(root, id, journal.Offset{}, func(r journal.Record, next journal.Offset) error {
		if next.Segment != at.Segment {
			at = journal.Offset{Segment: next.Segment}
		}
		p.Add(r, at)
		at = next
		return nil
	})
	p.End()
	return p, err
}

// NewProgress returns the progress of a run without records.
func NewProgress() Progress {
	return Progress{
		Valid: map[string]bool{}, Picked: map[string]string{}, Excluded: map[string]string{}, Attempts: map[string]int{}, SpentBy: map[string]float64{}, LostBy: map[string]float64{},
		Manifests: map[string]string{}, Answered: map[string]journal.Offset{}, open: map[string]journal.Record{},
	}
}

// End books the attempts without a recorded end, once all records are added.
func (p *Progress) End() {
	for _, r := range p.open {
		p.lose(r)
	}
	clear(p.open)
}

// Add books a record that begins at an offset.
func (p *Progress) Add(r journal.Record, at journal.Offset) {
	t := r.Trial
	switch r.Kind {
	case journal.KindAsked:
		p.Bounded = true
		p.lose(p.open[t.ID]) // attempted before, and the run was killed
		p.open[t.ID] = r
		p.Attempts[t.ID] = max(p.Attempts[t.ID], r.Attempt)
	case journal.KindAttempt:
		p.ended(r, r.CostUSD)
	case journal.KindAnswer:
		if r.Answer != nil && !p.Valid[t.ID] {
			p.ended(r, r.Answer.CostUSD)
			p.Answered[t.ID] = at
			delete(p.Excluded, t.ID) // attempted again
		}
	case journal.KindResult:
		if tool := picked(r.Result); tool != "" && !p.Valid[t.ID] { // the first result counts
			p.Picked[t.ID] = unique.Make(tool).Value()
		}
		p.Valid[t.ID] = true
		delete(p.Excluded, t.ID)
		if r.Answer != nil {
			p.ended(r, r.Answer.CostUSD)
		}
	case journal.KindExcluded:
		p.ended(r, r.CostUSD)
		if !p.Valid[t.ID] {
			p.Excluded[t.ID] = r.Reason
		}
	case journal.KindManifest:
		if r.Manifest != nil {
			p.Manifests[r.Manifest.Agent] = r.Manifest.ID()
		}
	case journal.KindExtraction: // costs nothing and settles nothing
	case journal.KindJudgement: // has a budget of its own
	}
}

// ended books the end of an attempt. The cost of an already stored answer is
// booked already.
func (p *Progress) ended(r journal.Record, cost *float64) {
	delete(p.open, r.Trial.ID)
	p.Attempts[r.Trial.ID] = max(p.Attempts[r.Trial.ID], r.Attempt)
	if _, booked := p.Answered[r.Trial.ID]; booked {
		delete(p.Answered, r.Trial.ID)
		return
	}
	if cost == nil {
		p.lose(r)
		return
	}
	p.SpentUSD += *cost
	p.SpentBy[r.Trial.Agent] += *cost
}

// lose books an attempt at its worst.
func (p *Progress) lose(r journal.Record) {
	if r.AtMostUSD != nil {
		p.LostUSD += *r.AtMostUSD
		p.LostBy[r.Trial.Agent] += *r.AtMostUSD
	}
}
