package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/archive"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/views"
)

// board serves a board: the whole one, or that of the trials that the query selects.
func (h *Handler) board(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	q := r.URL.Query()
	f := views.Filter{Agent: cut(q.Get("agent")), Tag: cut(q.Get("tag")), Template: cut(q.Get("template")), Sort: cut(q.Get("sort"))}
	category := render.PagePath(route.Param(r, "category"))
	if _, ok := s.Leaderboard(category); !ok || f == (views.Filter{}) {
		return h.page(w, r, s)
	}
	err := h.compose(w, r, s, f.Path(category), "", func(ctx context.Context) (page views.Page, err error) {
		var cells []analytics.Cell
		if !f.All() {
			if cells, err = h.Archive.Cells(ctx, s, category); err != nil {
				return page, err
			}
		}
		return s.Views.Selection(category, f, cells)
	})
	var unknown *views.UnknownValueError
	if errors.As(err, &unknown) {
		e := apierr.NotFound()
		e.Description = unknown.Error()
		h.Missing.Write(w, r, snapshotview.NotFound{Error: e, Near: unknown.Known, Fallback: snapshotview.HTML})
		return nil
	}
	return err
}

var errUnknownTool = errors.New("a tool that the board does not rank")

// maxChosen is how many tools a history draws.
const maxChosen = 8

// history serves the series of a board.
func (h *Handler) history(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	category := route.Param(r, "category")
	if _, ok := s.Leaderboard(category); !ok {
		return s.NoCategory(category)
	}
	series, err := h.Archive.Series(r.Context(), category)
	if err != nil {
		return err
	}
	tools := slices.Compact(slices.Sorted(slices.Values(r.URL.Query()["tool"])))
	tools = tools[:min(maxChosen, len(tools))]
	for i := range tools {
		tools[i] = cut(tools[i])
	}
	path, version := views.HistoryPath(category), fmt.Sprint(len(series.Nights))
	if n := len(series.Nights); n > 0 {
		version += series.Nights[0].Snapshot + series.Nights[n-1].Snapshot
	}
	err = h.compose(w, r, s, path+views.ToolQuery(tools), version, func(context.Context) (page views.Page, err error) {
		page, known, err := s.Views.History(series, tools)
		if err == nil && !known {
			err = errUnknownTool
		}
		return page, err
	})
	if errors.Is(err, errUnknownTool) {
		e := apierr.ToolNotFound("This board does not rank such a tool.", nil)
		h.Missing.Write(w, r, snapshotview.NotFound{Error: e, Near: s.Views.KnownTools(category), Fallback: snapshotview.HTML})
		return nil
	}
	return err
}

// snapshots serves the list of snapshots.
func (h *Handler) snapshots(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	list, err := h.Archive.List(r.Context())
	if err != nil {
		return err
	}
	var all []views.Snapshot
	for _, one := range list {
		all = append(all, published(one))
	}
	return h.compose(w, r, s, "/snapshots", versionOf(list), func(context.Context) (views.Page, error) { return s.Views.Snapshots(all) })
}

// snapshot serves the page of a snapshot.
func (h *Handler) snapshot(w http.ResponseWriter, r *http.Request, s *snapshotview.Site) error {
	id := render.PagePath(route.Param(r, "snapshot"))
	list, err := h.Archive.List(r.Context())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(one archive.Snapshot) bool { return one.ID == id })
	if i < 0 {
		e := apierr.NotFound()
		e.Description = "This server has no such snapshot."
		return e
	}
	m, err := h.Archive.Manifest(r.Context(), id)
	if err != nil {
		return err
	}
	return h.compose(w, r, s, views.SnapshotPath(id), versionOf(list[i:i+1]), func(context.Context) (views.Page, error) {
		return s.Views.Snapshot(published(list[i]), m)
	})
}

// versionOf names what may change of snapshots.
func versionOf(list []archive.Snapshot) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprint(&b, s.ID, s.Current, s.Signed, s.Retracted, s.Errata, s.Entry)
	}
	return b.String()
}

func published(s archive.Snapshot) views.Snapshot {
	return views.Snapshot{
		ID: s.ID, AsOf: s.AsOf, PublishedAt: s.PublishedAt, Boards: s.Counts.Categories, Tools: s.Counts.Tools, Planned: s.Counts.Planned, Trials: s.Counts.Trials,
		Synthetic: s.Synthetic, Signed: s.Signed, Current: s.Current, Retracted: s.Retracted, Errata: s.Errata, Entry: s.Entry,
	}
}
