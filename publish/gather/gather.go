package gather

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/plan"
)

// A Trial is the summary of a trial. Its long texts are on disk.
type Trial struct {
	ID, Agent, Prompt, Template string
	// Valid means that it has an answer, at the time At. Excluded is why it was given up
	// otherwise; empty for a trial that is missing.
	Valid    bool
	At       time.Time
	Excluded string

	repeat         int
	answer, result span
	attempt        int
	outcome        pick.Kind
	picked         string
	mismatch       bool
	unresolved     bool
	costUSD        *float64
	wallMS         int64
	failed         []trialset.Attempt
}

// A Run is a gathered run.
type Run struct {
	// Trials are in the order of the plan; those of imported answers, which have none, in
	// the order of their ids.
	Trials []Trial
	// Agents are the agents that have conditions or answers, by name.
	Agents map[string]*Agent

	imported   bool
	buffer     *buffer
	places     map[string]int
	prompts    map[string]string // texts by id
	extractors map[string]bool
}

// Read gathers a run below root. The new file scratch holds the long texts meanwhile; the
// caller removes it after Close.
func Read(ctx context.Context, root string, run journal.Run, scratch string) (_ *Run, err error) {
	s, err := newBuffer(scratch)
	if err != nil {
		return nil, err
	}
	g := &Run{
		imported: run.Imported, buffer: s, places: map[string]int{}, prompts: map[string]string{},
		Agents: map[string]*Agent{}, extractors: map[string]bool{},
	}
	defer func() {
		if err != nil {
			g.Close()
		}
	}()
	for _, p := range run.Eval.Prompts {
		g.prompts[p.ID] = p.Text
	}
	if !run.Imported {
		for _, t := range run.Trials() {
			g.add(t)
		}
	}
	_, err = journal.Scan(root, run.ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return g.take(r)
	})
	if err != nil {
		return nil, err
	}
	if run.Imported {
		slices.SortFunc(g.Trials, func(a, b Trial) int { return strings.Compare(a.ID, b.ID) })
	}
	for _, a := range g.Agents {
		a.Conditions() // numbers them
	}
	return g, s.flush()
}

// Close closes the file of the long texts.
func (g *Run) Close() { g.buffer.close() }

// Extractors returns the versions of the rules that read the answers, joined by commas.
func (g *Run) Extractors() string { return strings.Join(slices.Sorted(maps.Keys(g.extractors)), ",") }

func (g *Run) add(t plan.Trial) int {
	g.places[t.ID] = len(g.Trials)
	g.Trials = append(g.Trials, Trial{ID: t.ID, Agent: intern(t.Agent), Prompt: intern(t.PromptID), Template: intern(t.Template), repeat: t.Repeat})
	return len(g.Trials) - 1
}

// intern returns one copy of equal texts: those of 100,000 trials are few.
func intern(s string) string { return unique.Make(s).Value() }

func (g *Run) take(r journal.Record) error {
	if r.Kind == journal.KindManifest {
		if r.Manifest != nil {
			a := g.agent(r.Manifest.Agent)
			a.Manifests = append(a.Manifests, *r.Manifest)
		}
		return nil
	}
	place, ok := g.places[r.Trial.ID]
	switch {
	case !ok && g.imported:
		place = g.add(r.Trial)
	case !ok:
		return fmt.Errorf("trial %s is not in the plan of the run; run.json and journal do not belong together", r.Trial.ID)
	}
	t := &g.Trials[place]
	switch r.Kind {
	case journal.KindAttempt:
		t.fail(r)
	case journal.KindExcluded:
		t.fail(r)
		t.Excluded = r.Reason
	case journal.KindResult:
		return g.answered(t, r)
	case journal.KindExtraction:
		return g.extracted(t, r.Result)
	case journal.KindAsked, journal.KindAnswer, journal.KindManifest, journal.KindJudgement:
	}
	return nil
}

// fail stores a failed attempt. The record that excludes a trial repeats the last one.
func (t *Trial) fail(r journal.Record) {
	if n := len(t.failed); r.Kind == journal.KindExcluded && n > 0 && t.failed[n-1].Attempt == r.Attempt {
		return
	}
	t.failed = append(t.failed, trialset.Attempt{Attempt: r.Attempt, At: r.At.UTC(), Reason: r.Reason, CostUSD: r.CostUSD, AtMostUSD: r.AtMostUSD})
}

// answered stores an answer. The first answer of a trial counts.
func (g *Run) answered(t *Trial, r journal.Record) error {
	if t.Valid {
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
	t.Valid, t.At, t.attempt, t.costUSD, t.wallMS = true, r.At.UTC(), r.Attempt, answer.CostUSD, answer.WallMS
	g.agent(t.Agent).count(answer, t.At)
	return g.extracted(t, r.Result)
}

func (g *Run) extracted(t *Trial, r *pick.Result) (err error) {
	if r == nil {
		return fmt.Errorf("trial %s: a record without its result", t.ID)
	}
	if r.Extractor != "" {
		g.extractors[r.Extractor] = true
	}
	cleaned := r.Clean() // as the store has it
	t.outcome, t.picked, t.mismatch, t.unresolved = pick.Kind(intern(string(r.Kind))), intern(cleaned.Picked), cleaned.Mismatch(), r.Unresolved
	t.result, err = g.buffer.put(cleaned)
	return err
}

// LastFailure is the code of the last failed attempt; empty without one.
func (t *Trial) LastFailure() string {
	if len(t.failed) == 0 {
		return ""
	}
	return Code(t.failed[len(t.failed)-1].Reason)
}

// Code is the short code that a reason begins with.
func Code(reason string) string {
	c, _, _ := strings.Cut(reason, ": ")
	return c
}

// Write writes the trial files of the run to a folder: as they are for a nil policy, which
// is for the owner of the run.
func (g *Run) Write(ctx context.Context, dir string, public *Policy) (_ []trialset.File, err error) {
	outcomes := make([]string, 0, len(pick.Kinds()))
	for _, k := range pick.Kinds() {
		outcomes = append(outcomes, string(k))
	}
	w, err := trialset.NewWriter(dir, outcomes)
	if err != nil {
		return nil, err
	}
	for i := range g.Trials {
		t := &g.Trials[i]
		if !t.Valid && t.Excluded == "" {
			continue
		}
		err := ctx.Err()
		if err == nil {
			err = g.write(w, t, public)
		}
		if err != nil {
			_, closeErr := w.Close()
			return nil, errors.Join(err, closeErr)
		}
	}
	return w.Close()
}

func (g *Run) write(w *trialset.Writer, t *Trial, public *Policy) error {
	var a journal.Answer
	var r pick.Result
	if t.Valid {
		if err := errors.Join(g.buffer.get(t.answer, &a), g.buffer.get(t.result, &r)); err != nil {
			return fmt.Errorf("trial %s: %w", t.ID, err)
		}
	}
	if public != nil {
		return w.Add(public.trace(t, g.agent(t.Agent), &a, &r))
	}
	return w.Add(g.trace(t, &a, &r))
}
