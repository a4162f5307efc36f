package archive

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// List returns the snapshots of the source, newest first, with absolute addresses.
func (h *Handler) List(ctx context.Context) ([]Snapshot, error) {
	return get(ctx, h, "list", func(ctx context.Context) ([]Snapshot, error) {
		list, err := h.Source.Snapshots(ctx)
		if err != nil {
			return nil, err
		}
		out := append([]Snapshot{}, list...)
		for i := range out {
			out[i].URL = h.BaseURL + "/snapshots/" + out[i].ID + "/" + manifestName
		}
		return out, nil
	})
}

func (h *Handler) snapshots(w http.ResponseWriter, r *http.Request) error {
	list, err := h.List(r.Context())
	if err != nil {
		return err
	}
	res, err := get(r.Context(), h, "snapshots", func(context.Context) (*snapshotview.Resource, error) {
		return resource(map[string]any{"snapshots": list})
	})
	if err == nil {
		h.Sender.Send(w, r, res)
	}
	return err
}

// query reads the parameters of a request, of the known ones.
func query(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, apierr.BadQuery()
	}
	for name, v := range values {
		if len(v[0]) > maxValue {
			return nil, apierr.InvalidRequest("A query parameter is longer than 300 bytes.")
		}
		if !slices.Contains(known, name) {
			delete(values, name) // such as a tag of a link
		}
	}
	return values, nil
}

const maxValue = 300

func (h *Handler) history(w http.ResponseWriter, r *http.Request) error {
	values, err := query(r, "category", "tool")
	if err != nil {
		return err
	}
	s, err := h.site()
	if err != nil {
		return err
	}
	category, tool := strings.ToLower(strings.TrimSpace(values.Get("category"))), strings.TrimSpace(values.Get("tool"))
	if category == "" {
		return apierr.InvalidRequest("The query parameter category is missing: the slug of a category.")
	}
	board, ok := s.Leaderboard(category)
	if !ok {
		return s.NoCategory(category)
	}
	if tool != "" {
		if tool, ok = s.Slug(tool); !ok || !slices.Contains(slugs(board), tool) {
			return apierr.ToolNotFound("No tool of this name is ranked in this category.", s.SuggestTools(values.Get("tool")))
		}
	}
	series, err := h.Series(r.Context(), category)
	if err != nil {
		return err
	}
	res, err := get(r.Context(), h, "history "+category+" "+tool, func(context.Context) (*snapshotview.Resource, error) {
		if tool != "" {
			series = series.Only(tool)
		}
		return resource(series)
	})
	if err == nil {
		h.Sender.Send(w, r, res)
	}
	return err
}

// Series returns the series of a measured category over all snapshots.
func (h *Handler) Series(ctx context.Context, category string) (nights.Series, error) {
	series, err := get(ctx, h, "series "+category, func(ctx context.Context) (nights.Series, error) { return h.Source.History(ctx, category) })
	if err != nil {
		return series, apierr.Of(err)
	}
	return series, nil
}

func slugs(b analytics.Board) []string {
	out := make([]string, len(b.Tools))
	for i, t := range b.Tools {
		out[i] = t.Slug
	}
	return out
}
