package evals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/evals/bundle"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	ownRuns     = 400 // the newest runs with results that are considered
	ownHistory  = 64  // histories that are kept
	entriesPage = 1000
)

// ownHistories keeps the history of the runs of evals; another run is added to it.
type ownHistories struct {
	mu   sync.Mutex
	kept map[string]ownSeries // by eval
}

type ownSeries struct {
	runs    []string // that were read, oldest first
	bundles map[string]bool
	history *nights.History
	board   analytics.Board
	lines   []nights.Line
	counted []string     // the runs of lines
	before  time.Time    // the end of the run before the newest one
	changes []ToolChange // from that run to the newest one; nil where they do not compare
}

// continues reports from which of the runs of an eval, oldest first, the series goes on; false
// if one that it has is gone. Where not all runs are listed, those before the first are too
// old.
func (o *ownSeries) continues(runs []string, all bool) (from int, ok bool) {
	if len(runs) == 0 || o.history == nil {
		return 0, false
	}
	first := slices.Index(o.runs, runs[0])
	if first < 0 || first > 0 && all || len(o.runs)-first > len(runs) || !slices.Equal(o.runs[first:], runs[:len(o.runs)-first]) {
		return 0, false
	}
	return len(o.runs) - first, true
}

// Measured returns what the workspace's own evals measured of a tool: the runs of the eval
// whose newest run has the tool on its board. It is nil where none has.
func (s *Service) Measured(ctx context.Context, workspace, tool string) (m *picks.Measured, err error) {
	err = s.eachOwn(ctx, workspace, func(r *state.EvalRun, series ownSeries) bool {
		if !slices.ContainsFunc(series.board.Tools, func(t analytics.Standing) bool { return t.Slug == tool }) {
			return true
		}
		m = &picks.Measured{Source: picks.Own, URL: r.ID, Eval: r.EvalID, Slug: tool, Board: series.board, Nights: series.lines}
		m.Board.AsOf = &r.EndedAt // answers of simulated agents have a fixed time
		for i := range series.changes {
			if c := &series.changes[i]; c.Slug == tool {
				base := series.counted[len(series.counted)-2]
				m.Change = &picks.Change{Diff: c.Diff, P: c.PAdjusted, Significant: c.Significant, Since: series.before, URL: "/compare?" + url.Values{"with": {base}}.Encode()}
			}
		}
		return false
	})
	if m == nil || err != nil {
		return nil, err
	}
	w, err := s.DB.Read().Workspace(ctx, workspace)
	if err != nil {
		return nil, err
	}
	m.URL = s.BaseURL + "/workspaces/" + w.Slug + "/runs/" + m.URL
	if m.Change != nil {
		m.Change.URL = m.URL + m.Change.URL
	}
	return m, nil
}

// Tools returns the tools of the boards of the workspace's newest runs, by name.
func (s *Service) Tools(ctx context.Context, workspace string) (out []picks.Choice, err error) {
	err = s.eachOwn(ctx, workspace, func(_ *state.EvalRun, series ownSeries) bool {
		for _, t := range series.board.Tools {
			if !slices.ContainsFunc(out, func(c picks.Choice) bool { return c.Slug == t.Slug }) {
				out = append(out, picks.Choice{Slug: t.Slug, Name: t.Tool, Category: series.board.Name + " (own eval)"})
			}
		}
		return true
	})
	sorting.Func(out, func(a, b picks.Choice) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// eachOwn calls fn with the newest run with results of each eval, the newest first, until fn
// returns false.
func (s *Service) eachOwn(ctx context.Context, workspace string, fn func(*state.EvalRun, ownSeries) bool) error {
	runs, err := s.DB.Read().Runs(ctx, workspace, state.RunFilter{Status: state.RunDone}, ownRuns)
	if err != nil {
		return err
	}
	all := len(runs) < ownRuns
	// A pushed run is not the server's measurement: the series of alerts leaves it out.
	runs = slices.DeleteFunc(runs, func(r *state.EvalRun) bool { return r.Origin == state.OriginPushed })
	seen := map[string]bool{}
	for i, r := range runs {
		if r.Bundle == "" || seen[r.EvalID] {
			continue
		}
		seen[r.EvalID] = true
		series, err := s.ownSeries(ctx, runs[i:], r.EvalID, all)
		if err != nil {
			return err
		}
		if !fn(r, series) {
			return nil
		}
	}
	return nil
}

// ownSeries reads the runs of an eval, newest first, as nights. Of a series that is kept it
// reads the runs since.
func (s *Service) ownSeries(ctx context.Context, runs []*state.EvalRun, eval string, all bool) (ownSeries, error) {
	var list []*state.EvalRun // of the eval, oldest first
	var ids []string
	for _, r := range slices.Backward(runs) {
		if r.EvalID == eval && r.Bundle != "" {
			list, ids = append(list, r), append(ids, r.ID)
		}
	}
	s.own.mu.Lock()
	out := s.own.kept[eval]
	from, ok := out.continues(ids, all)
	if ok && from == len(ids) {
		s.own.mu.Unlock()
		return out, nil
	}
	delete(s.own.kept, eval) // a history has one writer
	s.own.mu.Unlock()
	if !ok {
		out, from = ownSeries{bundles: map[string]bool{}, history: nights.New(runs[0].Category)}, 0
	}
	for i, r := range list[from:] {
		n, err := s.night(ctx, r)
		if errors.Is(err, trialset.ErrNotFound) && from+i < len(list)-1 {
			out.runs = append(out.runs, r.ID)
			continue // results of an old run may be removed
		}
		if err != nil {
			return out, fmt.Errorf("run %s: %w", r.ID, err)
		}
		if !out.bundles[r.Bundle] && out.history.Add(n) { // the same trials count once
			out.counted = append(out.counted, r.ID)
		}
		out.runs, out.bundles[r.Bundle], out.board = append(out.runs, r.ID), true, n.Board
	}
	out.lines = out.history.Series().Nights
	if err := s.compareNewest(ctx, &out, list); err != nil {
		return out, err
	}
	s.own.mu.Lock()
	defer s.own.mu.Unlock()
	if len(s.own.kept) >= ownHistory || s.own.kept == nil {
		s.own.kept = map[string]ownSeries{}
	}
	s.own.kept[eval] = out
	return out, nil
}

// compareNewest compares the newest two runs of a series, as the page that compares runs does.
func (s *Service) compareNewest(ctx context.Context, out *ownSeries, list []*state.EvalRun) error {
	out.changes = nil
	if len(out.counted) < 2 {
		return nil
	}
	var sides [2]measured
	for i, id := range out.counted[len(out.counted)-2:] {
		at := slices.IndexFunc(list, func(r *state.EvalRun) bool { return r.ID == id })
		if at < 0 { // too old to be listed
			return nil
		}
		r := list[at]
		b, release, err := s.Bundles.Get(r.WorkspaceID, r.Bundle)
		if errors.Is(err, trialset.ErrNotFound) {
			return nil // results of an old run may be removed
		}
		if err != nil {
			return fmt.Errorf("run %s: %w", r.ID, err)
		}
		defer release()
		if sides[i], err = measure(ctx, b); err != nil {
			return fmt.Errorf("run %s: %w", r.ID, err)
		}
		if i == 0 {
			out.before = r.EndedAt
		}
	}
	base, run := &sides[0], &sides[1]
	if base.board.Category != run.board.Category {
		return nil
	}
	var all tests
	out.changes, _ = all.tools(&base.board, &run.board, base.measurement(base.cells), run.measurement(run.cells))
	all.finish()
	return nil
}

// night reads the results of a run.
func (s *Service) night(ctx context.Context, r *state.EvalRun) (n nights.Night, err error) {
	b, release, err := s.Bundles.Get(r.WorkspaceID, r.Bundle)
	if err != nil {
		return n, err
	}
	defer release()
	scores, err := b.ReadScores(s.BaseURL)
	if err != nil {
		return n, err
	}
	m, err := measure(ctx, b)
	if err != nil {
		return n, err
	}
	n = nights.Night{
		At: r.EndedAt, Catalog: cmp.Or(b.Manifest.CategoryVersion, b.Manifest.Catalog), Extractor: b.Manifest.Extractor, Synthetic: b.Manifest.Synthetic,
		Prompts: map[string]string{}, Models: map[string]string{}, Board: scores.Board,
	}
	n.Board.Prompts, n.Board.Synthetic = ownPrompts(&m), n.Board.Synthetic || n.Synthetic
	for _, p := range b.Manifest.Eval.Prompts {
		n.Prompts[p.ID] = p.Text // not published, so it need not be a digest
	}
	for _, a := range b.Manifest.Agents {
		var models []string
		for _, version := range a.Manifests {
			models = append(models, version.Model)
		}
		n.Models[a.Name] = nights.ModelOf(models, nil)
	}
	n.Trials, err = ownTrials(ctx, b, n)
	return n, err
}

// LostPrompts returns the prompts of a run on which another tool is picked more often, the widest
// lead first.
func (s *Service) LostPrompts(ctx context.Context, a Actor, run, tool string) ([]picks.Lost, error) {
	b, release, err := s.Results(ctx, a, run)
	if err != nil {
		return nil, err
	}
	defer release()
	scores, err := b.ReadScores(s.BaseURL)
	if err != nil {
		return nil, s.unreadable(run, b.ID, err)
	}
	m, err := measure(ctx, b)
	if err != nil {
		return nil, s.unreadable(run, b.ID, err)
	}
	out := picks.Measured{Source: picks.Own, URL: "/workspaces/" + a.Workspace.Slug + "/runs/" + run, Slug: tool, Board: scores.Board}
	out.Board.Prompts = ownPrompts(&m)
	return out.Lost(), nil
}

// Prompts counts the valid trials of each prompt of a run.
func (s *Service) Prompts(ctx context.Context, a Actor, run string) ([]analytics.Prompt, error) {
	b, release, err := s.Results(ctx, a, run)
	if err != nil {
		return nil, err
	}
	defer release()
	m, err := measure(ctx, b)
	if err != nil {
		return nil, s.unreadable(run, b.ID, err)
	}
	return ownPrompts(&m), nil
}

// ownPrompts counts the trials of each prompt, which is named by its id.
func ownPrompts(m *measured) []analytics.Prompt {
	cells := m.measurement(m.cells)
	cells.Category = &catalog.Category{Slug: m.board.Category}
	out := cells.Prompts()
	ids := map[string]string{}
	for id, text := range m.prompts {
		ids[id+"\n"+text] = id
	}
	for i := range out {
		if id, ok := ids[out[i].Name()]; ok {
			out[i].Eval, out[i].Prompt, out[i].Text, out[i].URL = "", id, m.prompts[id], ""
		}
	}
	return out
}

// ownTrials returns the valid trials of a bundle.
func ownTrials(ctx context.Context, b *bundle.Bundle, n nights.Night) (out []nights.Trial, err error) {
	for cursor := ""; ; {
		page, err := b.Traces(ctx, trialset.Filter{}, cursor, entriesPage)
		if err != nil {
			return nil, err
		}
		for i := range page.Traces {
			e := &page.Traces[i]
			if e.Outcome == trialset.Excluded {
				continue
			}
			t := nights.Trial{ID: e.ID, FinishedAt: n.At, Prompt: e.Prompt, Agent: e.Agent, Template: e.Template}
			if e.Outcome == "tool" {
				t.Picked = e.Picked
			}
			out = append(out, t)
		}
		if cursor = page.Next; cursor == "" {
			return out, nil
		}
	}
}
