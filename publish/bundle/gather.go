package bundle

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// plannedTrial is the summary of a planned trial. Long texts are in the buffer.
type plannedTrial struct {
	trial          plan.Trial
	answer, result span
	valid          bool
	excluded       string // the reason
	at             time.Time
	attempt        int
	outcome        pick.Kind
	picked         string
	mismatch       bool
	unresolved     bool
	costUSD        *float64
	wallMS         int64
	failed         []format.Attempt
}

// gathered is a run, by place in the plan.
type gathered struct {
	buffer     *buffer
	trials     []plannedTrial
	places     map[string]int
	prompts    map[string]string             // texts by id
	manifests  map[string][]journal.Manifest // by agent
	extractors map[string]bool
}

func gather(ctx context.Context, root string, run journal.Run, s *buffer) (*gathered, error) {
	planned := run.Trials()
	g := &gathered{
		buffer: s, trials: make([]plannedTrial, len(planned)), places: make(map[string]int, len(planned)),
		prompts: map[string]string{}, manifests: map[string][]journal.Manifest{}, extractors: map[string]bool{},
	}
	for _, p := range run.Eval.Prompts {
		g.prompts[p.ID] = p.Text
	}
	for i, t := range planned {
		g.trials[i].trial, g.places[t.ID] = t, i
	}
	_, err := journal.Scan(root, run.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return g.take(r)
	})
	if err != nil {
		return nil, err
	}
	return g, s.flush()
}

func (g *gathered) take(r journal.Record) error {
	if r.Kind == journal.KindManifest {
		if r.Manifest != nil {
			g.manifests[r.Manifest.Agent] = append(g.manifests[r.Manifest.Agent], *r.Manifest)
		}
		return nil
	}
	place, ok := g.places[r.Trial.ID]
	if !ok {
		return fmt.Errorf("trial %s is not in the plan of the run; run.json and journal do not belong together", r.Trial.ID)
	}
	t := &g.trials[place]
	switch r.Kind {
	case journal.KindAttempt:
		t.fail(r)
	case journal.KindExcluded:
		t.fail(r)
		t.excluded = r.Reason
	case journal.KindResult:
		return g.answered(t, r)
	case journal.KindExtraction:
		return g.extracted(t, r.Result)
	case journal.KindAsked, journal.KindAnswer, journal.KindManifest, journal.KindJudgement:
	}
	return nil
}

// fail stores a failed attempt. The record that excludes a trial repeats the last one.
func (t *plannedTrial) fail(r journal.Record) {
	if n := len(t.failed); r.Kind == journal.KindExcluded && n > 0 && t.failed[n-1].Attempt == r.Attempt {
		return
	}
	t.failed = append(t.failed, format.Attempt{Attempt: r.Attempt, At: r.At.UTC(), Reason: r.Reason, CostUSD: r.CostUSD, AtMostUSD: r.AtMostUSD})
}

// answered stores an answer. The first answer of a trial counts.
func (g *gathered) answered(t *plannedTrial, r journal.Record) error {
	if t.valid {
		return nil
	}
	answer := r.Answer
	if answer == nil {
		answer = &journal.Answer{}
	}
	var err error
	if t.answer, err = g.buffer.put(answer); err != nil {
		return err
	}
	t.valid, t.at, t.attempt, t.costUSD, t.wallMS = true, r.At.UTC(), r.Attempt, answer.CostUSD, answer.WallMS
	return g.extracted(t, r.Result)
}

func (g *gathered) extracted(t *plannedTrial, r *pick.Result) (err error) {
	if r == nil {
		return fmt.Errorf("trial %s: a record without its result", t.trial.ID)
	}
	if r.Extractor != "" {
		g.extractors[r.Extractor] = true
	}
	t.outcome, t.picked, t.mismatch, t.unresolved = r.Kind, r.Picked, r.Mismatch(), r.Unresolved
	t.result, err = g.buffer.put(r)
	return err
}

// missing returns why a trial is unfinished.
func (t *plannedTrial) missing() string {
	if len(t.failed) == 0 {
		return format.NotAsked
	}
	return code(t.failed[len(t.failed)-1].Reason)
}

// code is the short code that a reason begins with.
func code(reason string) string {
	c, _, _ := strings.Cut(reason, ": ")
	return c
}

// sumUp sets the manifest's totals of trials and money.
func (g *gathered) sumUp(root, id string, m *format.Manifest) error {
	p, err := runner.Replay(root, id)
	if err != nil {
		return err
	}
	m.Money = moneyOf(p.SpentUSD, p.LostUSD)
	m.Extractor = strings.Join(slices.Sorted(maps.Keys(g.extractors)), ",")
	byName := map[string]*format.Agent{}
	for i := range m.Agents {
		a := &m.Agents[i]
		byName[a.Name] = a
		a.Money = moneyOf(p.SpentBy[a.Name], p.LostBy[a.Name])
		for _, is := range g.manifests[a.Name] {
			a.Manifests = append(a.Manifests, encodeManifest(is))
		}
	}
	c := &m.Counts
	c.Planned = len(g.trials)
	for i := range g.trials {
		t := &g.trials[i]
		a := byName[t.trial.Agent]
		a.Planned++
		switch {
		case t.valid:
			c.Valid++
			a.Valid++
			if m.AsOf == nil || t.at.After(*m.AsOf) {
				m.AsOf = &t.at
			}
		case t.excluded != "":
			c.Excluded++
			a.Excluded++
			c.ExcludedBy[code(t.excluded)]++
		default:
			c.Missing++
			c.MissingBy[t.missing()]++
		}
	}
	return nil
}

// moneyOf rounds to a millionth of a dollar: sums of floats depend on their order.
func moneyOf(spent, lost float64) format.Money {
	round := func(v float64) float64 { return math.Round(v*1e6) / 1e6 }
	return format.Money{SpentUSD: round(spent), AtMostUSD: round(spent + lost)}
}
