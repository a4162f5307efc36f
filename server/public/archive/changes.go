package archive

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/tools"
)

// Changes are what moved since an earlier snapshot, the significant changes first, then by
// the difference of the pick rates.
type Changes struct {
	// Older and Newer are the compared snapshots; Newer is the current one.
	Older Snapshot `json:"older"`
	Newer Snapshot `json:"newer"`
	// Field is how many changes there are, Significant how many the trials show.
	Field       int                `json:"field"`
	Significant int                `json:"significant"`
	Changes     []analytics.Change `json:"changes"`
	// Synthetic says that one of the snapshots has figures of simulated agents.
	Synthetic bool `json:"synthetic"`
	// Note says why there is nothing to compare; empty otherwise.
	Note string `json:"note,omitempty"`
	URL  string `json:"url"`
}

const noteSame = "The snapshot to compare with is the current one. /api/public/snapshots lists the earlier ones."

// Changes returns what moved since a snapshot, or since the last one up to a day,
// YYYY-MM-DD in UTC.
func (h *Handler) Changes(ctx context.Context, q tools.ChangesQuery) (Changes, error) {
	list, err := h.List(ctx)
	if err != nil {
		return Changes{}, err
	}
	newer := slices.IndexFunc(list, func(s Snapshot) bool { return s.Current })
	if newer < 0 {
		return Changes{}, apierr.Unavailable()
	}
	older, err := since(list, q.Since)
	if err != nil {
		return Changes{}, err
	}
	out := Changes{Older: older, Newer: list[newer], Changes: []analytics.Change{}, Synthetic: older.Synthetic || list[newer].Synthetic, URL: h.BaseURL + "/"}
	if q.Category != "" {
		out.URL += "leaderboards/" + q.Category
	}
	if older.ID == out.Newer.ID {
		out.Note = noteSame
		return out, nil
	}
	all, err := get(ctx, h, "changes "+older.ID+" "+out.Newer.ID, func(ctx context.Context) ([]analytics.Change, error) {
		return h.Source.Changes(ctx, older.ID, out.Newer.ID)
	})
	if err != nil {
		return Changes{}, err
	}
	shown := func(c analytics.Change) int {
		if c.Test != nil && c.Test.Significant {
			return 1
		}
		return 0
	}
	for _, c := range all {
		if q.Category == "" || c.Category == q.Category {
			out.Changes, out.Significant = append(out.Changes, c), out.Significant+shown(c)
		}
	}
	out.Field = len(out.Changes)
	sorting.StableFunc(out.Changes, func(a, b analytics.Change) int {
		return cmp.Or(shown(b)-shown(a), cmp.Compare(max(b.Diff, -b.Diff), max(a.Diff, -a.Diff)))
	})
	out.Changes = out.Changes[:min(q.Limit, len(out.Changes))]
	return out, nil
}

// since returns the snapshot that a text names: its id, or the day up to which the newest
// counts. Before the first one it is the oldest.
func since(list []Snapshot, text string) (Snapshot, error) {
	if i := slices.IndexFunc(list, func(s Snapshot) bool { return s.ID == text }); i >= 0 {
		return list[i], nil
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		e := apierr.Refused("invalid_request", "since is a day as YYYY-MM-DD, or the id of a snapshot that /api/public/snapshots lists.")
		return Snapshot{}, e
	}
	var oldest, found *Snapshot
	for i := range slices.Backward(list) { // the newest is first, also of those with the same times
		s := &list[i]
		if s.AsOf == nil {
			continue
		}
		if oldest == nil || s.compare(oldest) < 0 {
			oldest = s
		}
		if s.AsOf.Before(day.AddDate(0, 0, 1)) && (found == nil || s.compare(found) >= 0) {
			found = s
		}
	}
	if found = cmp.Or(found, oldest); found == nil {
		return Snapshot{}, apierr.Unavailable()
	}
	return *found, nil
}

// compare orders snapshots by what they measured, then by their publication.
func (s *Snapshot) compare(o *Snapshot) int {
	return cmp.Or(s.AsOf.Compare(*o.AsOf), s.PublishedAt.Compare(o.PublishedAt))
}

// Answer answers a call of getChanges.
func (h *Handler) Answer(ctx context.Context, request, via string, arguments []byte) tools.Answer {
	q, wrong := tools.ReadChanges(arguments)
	if wrong != nil {
		return *wrong
	}
	out, err := h.checked(ctx, q)
	if err != nil {
		e := apierr.Of(err)
		if e.Status >= http.StatusInternalServerError && e.Cause != nil {
			h.Log.Error("a call failed", "request_id", request, "tool", tools.GetChanges, "err", e)
		}
		return tools.Fail(tools.Failure{Code: e.Code, Description: e.Description, Query: q.Since, Suggestions: e.Suggestions, RetryAfter: e.RetryAfter})
	}
	out.URL = tools.Tag(out.URL, via)
	return tools.Reply(out)
}

// checked is Changes for a category that is measured.
func (h *Handler) checked(ctx context.Context, q tools.ChangesQuery) (Changes, error) {
	s, err := h.site()
	if err != nil {
		return Changes{}, err
	}
	if _, ok := s.Leaderboard(q.Category); q.Category != "" && !ok {
		return Changes{}, s.NoCategory(q.Category)
	}
	return h.Changes(ctx, q)
}

func (h *Handler) changes(w http.ResponseWriter, r *http.Request) error {
	values, err := query(r, "since", "category", "limit")
	if err != nil {
		return err
	}
	q := tools.ChangesQuery{Since: values.Get("since"), Category: strings.ToLower(values.Get("category"))}
	if q.Limit, err = limit(values.Get("limit"), tools.ChangeRows, tools.MaxChangeRows); err != nil {
		return err
	}
	if q.Since == "" {
		return apierr.InvalidRequest("The query parameter since is missing: a day as YYYY-MM-DD, or the id of a snapshot.")
	}
	out, err := h.checked(r.Context(), q)
	if err != nil {
		return err
	}
	return h.send(w, r, out)
}

// limit reads a number of rows.
func limit(text string, rows, most int) (int, error) {
	if text == "" {
		return rows, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, apierr.InvalidRequest("The query parameter limit is a whole number from 1 to " + strconv.Itoa(most) + ".")
	}
	return n, nil
}
