package archive

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// trialRows is the number of trials of a page where the request names none.
const trialRows = 100

func (h *Handler) trials(w http.ResponseWriter, r *http.Request) error {
	values, err := query(r, "category", "tool", "agent", "prompt", "outcome", "cursor", "limit", "format")
	if err != nil {
		return err
	}
	q := TrialsQuery{
		Category: values.Get("category"), Tool: values.Get("tool"), Agent: values.Get("agent"), Prompt: values.Get("prompt"),
		Outcome: values.Get("outcome"), Cursor: values.Get("cursor"),
	}
	if q.Limit, err = limit(values.Get("limit"), trialRows, trialset.MaxPage); err != nil {
		return err
	}
	format := values.Get("format")
	if format != "" && format != "json" && format != "csv" {
		return apierr.InvalidRequest("The query parameter format is json or csv.")
	}
	page, err := h.Trials(r.Context(), q)
	if err != nil {
		return err
	}
	if page.NextCursor != nil {
		values.Set("cursor", *page.NextCursor)
		w.Header().Add("Link", "<"+h.BaseURL+"/api/public/trials?"+values.Encode()+`>; rel="next"`)
	}
	if format == "csv" {
		return h.sendTable(w, r, "trials-"+page.Category+"-"+page.Snapshot+".csv", page.table())
	}
	return h.send(w, r, page)
}

// table is the page as rows of a table.
func (p TrialPage) table() [][]any {
	out := [][]any{{"snapshot", "synthetic", "observed", "category", "trial", "prompt", "agent", "template", "repeat", "outcome", "picked", "unresolved", "url"}}
	for _, t := range p.Trials {
		out = append(out, []any{p.Snapshot, t.Synthetic, false, t.Category, t.ID, t.Prompt, t.Agent, t.Template, t.Repeat, t.Outcome, t.Picked, t.Unresolved, t.URL})
	}
	return out
}

// A cursor names the snapshot, the place of the eval and the cursor within it.
func writeCursor(id string, at int, rest string) string {
	return id[:min(8, len(id))] + "." + strconv.Itoa(at) + "." + rest
}

func readCursor(id, cursor string, evals int) (at int, rest string, err error) {
	if cursor == "" {
		return 0, "", nil
	}
	parts := strings.SplitN(cursor, ".", 3)
	if len(parts) == 3 && parts[0] == id[:min(8, len(id))] {
		if at, err = strconv.Atoi(parts[1]); err == nil && 0 <= at && at < evals {
			return at, parts[2], nil
		}
	}
	return 0, "", unread(trialset.ErrCursor)
}
