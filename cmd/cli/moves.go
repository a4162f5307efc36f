package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/server/public/views"
)

// Retracted implements app.Snapshots. It reads the head of the log, and the rest of it when
// the head changes.
func (p *published) Retracted(ctx context.Context, id string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	head, _, err := storage.ReadAll(ctx, p.place.Store, "log/checkpoint")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if p.corrections == nil || p.head != string(head) {
		entries, err := logged(ctx, p.place.Store)
		if err != nil {
			return "", err
		}
		p.head, p.corrections = string(head), translog.Corrections(entries)
	}
	return p.corrections[id].Retracted, nil
}

// movesTimeout bounds a comparison: it delays the next call of Current.
const movesTimeout = time.Minute

// Moves implements app.Snapshots. The changes are those of firstpick diff that have a test.
func (p *published) Moves(ctx context.Context, id string) (string, []views.Move, error) {
	ctx, cancel := context.WithTimeout(ctx, movesTimeout)
	defer cancel()
	before, err := p.before(ctx, id)
	if before == "" || err != nil {
		return "", nil, err
	}
	was, err := p.place.Load(ctx, before, p.trusted...)
	if err != nil {
		return "", nil, err
	}
	is, err := p.place.Load(ctx, id, p.trusted...)
	if err != nil {
		return "", nil, err
	}
	changes, err := compareSnapshots(ctx, was, is)
	if err != nil {
		return "", nil, err
	}
	return before, movesOf(changes, was, is), nil
}

// before returns the snapshot before another one; empty without one.
func (p *published) before(ctx context.Context, id string) (string, error) {
	earlier, err := p.earlier(ctx, id)
	if len(earlier) == 0 {
		return "", err
	}
	return earlier[0].ID, nil
}

// earlier returns the snapshots before another one, newest first: by their last trials, then by
// their publication. Retracted ones are left out, and simulated ones where the other is not. The
// error is nil where only others are unreadable.
func (p *published) earlier(ctx context.Context, id string) ([]publish.Info, error) {
	all, err := p.place.List(ctx)
	at := slices.IndexFunc(all, func(i publish.Info) bool { return i.ID == id })
	if at < 0 {
		return nil, err
	}
	order := func(a, b publish.Info) int {
		return cmp.Or(asOf(a).Compare(asOf(b)), a.CreatedAt.Compare(b.CreatedAt))
	}
	self := all[at]
	all = slices.DeleteFunc(all, func(i publish.Info) bool {
		return i.AsOf == nil || i.Synthetic != self.Synthetic || order(i, self) >= 0 || p.corrections[i.ID].Retracted != ""
	})
	sorting.StableFunc(all, func(a, b publish.Info) int { return order(b, a) })
	return all, nil
}

// maxTrend is how many snapshots a trend has.
const maxTrend = 24

// Trends implements app.Snapshots. A board that several snapshots have unchanged counts once, with
// the newest. What takes longer than movesTimeout is left out: the oldest snapshots.
func (p *published) Trends(ctx context.Context, id string, categories []string) ([]nights.Series, error) {
	ctx, cancel := context.WithTimeout(ctx, movesTimeout)
	defer cancel()
	earlier, err := p.earlier(ctx, id)
	if err != nil {
		return nil, err
	}
	past := map[string][]nights.Night{} // newest first
	for _, id := range append([]string{id}, idsOf(earlier[:min(len(earlier), maxTrend-1)])...) {
		for _, c := range categories {
			m, board, err := p.place.LoadBoard(ctx, id, c)
			switch {
			case ctx.Err() != nil:
				return seriesOf(past), nil
			case errors.Is(err, publish.ErrNotFound) || err == nil && board.AsOf == nil:
				continue
			case err != nil:
				return nil, err
			}
			n := nightOf(m, board)
			n.Snapshot, n.Board.Prompts, n.Board.Agents = id, nil, nil // rates alone are of use
			if list := past[c]; len(list) == 0 || n.At.Before(list[len(list)-1].At) {
				past[c] = append(list, n)
			}
		}
	}
	return seriesOf(past), nil
}

func idsOf(list []publish.Info) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = list[i].ID
	}
	return out
}

// seriesOf returns the series of nights by category, which are newest first.
func seriesOf(past map[string][]nights.Night) (out []nights.Series) {
	for _, c := range slices.Sorted(maps.Keys(past)) {
		slices.Reverse(past[c])
		out = append(out, nights.Series{Category: c, Nights: nights.Rates(past[c])})
	}
	return out
}

func asOf(i publish.Info) time.Time {
	if i.AsOf == nil {
		return time.Time{}
	}
	return *i.AsOf
}

// movesOf returns the tested changes for pages, the largest first. Boards without an agent in common are left
// out: their difference may be that of the agents.
func movesOf(changes []analytics.Change, was, is *publish.Snapshot) (out []views.Move) {
	for _, c := range changes {
		b, ok := is.Board(c.Category)
		i := slices.IndexFunc(b.Tools, func(s analytics.Standing) bool { return s.Slug == c.Tool })
		if !ok || i < 0 || c.Test == nil || c.Test.Diff == 0 {
			continue
		}
		old, _ := was.Board(c.Category)
		if !shareAgent(old, b) {
			continue
		}
		out = append(out, views.Move{
			Since:    old.AsOf,
			Category: c.Category, Board: b.Name, Slug: c.Tool, Tool: b.Tools[i].Tool, From: c.OldRate, To: c.NewRate,
			Diff: c.Test.Diff, Low: c.Test.CILow, High: c.Test.CIHigh, Significant: c.Test.Significant,
		})
	}
	sorting.StableFunc(out, func(a, b views.Move) int { return cmp.Compare(math.Abs(b.Diff), math.Abs(a.Diff)) })
	return out
}

// shareAgent reports whether two boards asked the same agent, or may have: boards of older snapshots do not
// name their agents.
func shareAgent(a, b analytics.Board) bool {
	return len(a.Agents) == 0 || len(b.Agents) == 0 || slices.ContainsFunc(a.Agents, func(x analytics.AgentBoard) bool {
		return slices.ContainsFunc(b.Agents, func(y analytics.AgentBoard) bool { return x.Agent == y.Agent })
	})
}
