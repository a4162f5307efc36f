package archive

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/trialset"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A Trial is a line of the list of trials.
type Trial struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	// Prompt is EVAL/PROMPT.
	Prompt   string `json:"prompt"`
	Agent    string `json:"agent"`
	Template string `json:"template"`
	Repeat   int    `json:"repeat"` // from 1
	Outcome  string `json:"outcome"`
	// Picked is the slug of the tool, or what was picked outside the category.
	Picked     string `json:"picked"`
	Unresolved bool   `json:"unresolved,omitempty"`
	Synthetic  bool   `json:"synthetic"`
	URL        string `json:"url"`
}

// trialPage is the answer of /api/public/trials.
type trialPage struct {
	Snapshot   string  `json:"snapshot"`
	Category   string  `json:"category"`
	Synthetic  bool    `json:"synthetic"`
	Trials     []Trial `json:"trials"`
	NextCursor *string `json:"next_cursor"`
}

// The rows of a page of trials.
const (
	trialRows    = 100
	maxTrialRows = trialset.MaxPage
)

// outcomes are those that trials may have, and the two that only filters know.
func outcomes() []string {
	return []string{"tool", "diy", "other", "none", "ambiguous", "refused", "truncated", trialset.Unresolved, trialset.Excluded}
}

func (h *Handler) trials(w http.ResponseWriter, r *http.Request) error {
	values, err := query(r, "category", "tool", "agent", "prompt", "outcome", "cursor", "limit", "format")
	if err != nil {
		return err
	}
	s, err := h.site()
	if err != nil {
		return err
	}
	board, f, err := filter(s, values)
	if err != nil {
		return err
	}
	rows, err := limit(values.Get("limit"), trialRows, maxTrialRows)
	if err != nil {
		return err
	}
	page, err := h.page(r.Context(), s, board, f, values.Get("cursor"), rows)
	if err != nil {
		return err
	}
	if page.NextCursor != nil {
		values.Set("cursor", *page.NextCursor)
		w.Header().Add("Link", "<"+h.BaseURL+"/api/public/trials?"+values.Encode()+`>; rel="next"`)
	}
	switch values.Get("format") {
	case "", "json":
		return h.send(w, r, page)
	case "csv":
		return h.sendTable(w, r, "trials-"+board.Category+"-"+s.ID+".csv", page.table())
	}
	return apierr.InvalidRequest("The query parameter format is json or csv.")
}

// filter reads what is selected: the board of the category, and its trials.
func filter(s *snapshotview.Site, values url.Values) (board analytics.Board, f trialset.Filter, err error) {
	category := strings.ToLower(strings.TrimSpace(values.Get("category")))
	if name := strings.TrimSpace(values.Get("tool")); name != "" {
		slug, ok := s.Slug(name)
		if !ok {
			return board, f, apierr.ToolNotFound("No tool has this name, slug, domain or package. Names are matched exactly.", s.SuggestTools(name))
		}
		if report, _, _ := s.Find(slug); category == "" {
			category = report.Category
		}
		f.Picked = slug
	}
	if category == "" {
		return board, f, apierr.InvalidRequest("The query parameter category is missing: the slug of a category, or a tool whose category is measured.")
	}
	board, ok := s.Leaderboard(category)
	if !ok {
		return board, f, apierr.CategoryNotFound(s.SuggestCategories(category))
	}
	if f.Outcome = values.Get("outcome"); f.Outcome != "" && !slices.Contains(outcomes(), f.Outcome) {
		return board, f, apierr.InvalidRequest("The query parameter outcome is one of " + strings.Join(outcomes(), ", ") + ".")
	}
	f.Agent, f.Prompt = values.Get("agent"), values.Get("prompt")
	return board, f, nil
}

// page reads a page of a category's trials: those of each eval in the order of its plan,
// the evals sorted by name.
func (h *Handler) page(ctx context.Context, s *snapshotview.Site, board analytics.Board, f trialset.Filter, cursor string, rows int) (trialPage, error) {
	page := trialPage{Snapshot: s.ID, Category: board.Category, Synthetic: board.Synthetic, Trials: []Trial{}}
	names, err := h.evals(ctx, s.ID, board.Category)
	if err != nil {
		return page, err
	}
	for _, name := range names { // EVAL/PROMPT is of one eval, a prompt of any
		if prompt, ok := strings.CutPrefix(board.Category+"/"+f.Prompt, name+"/"); ok {
			names, f.Prompt = []string{name}, prompt
			break
		}
	}
	at, rest, err := readCursor(s.ID, cursor, len(names))
	if err != nil {
		return page, err
	}
	for ; at < len(names) && len(page.Trials) < rows; at, rest = at+1, "" {
		var part trialset.Page
		err := h.set(s.ID, names[at], func(set *trialset.Set) (err error) {
			part, err = set.Traces(ctx, f, rest, rows-len(page.Trials))
			return err
		})
		if err != nil {
			return page, unread(err)
		}
		for _, e := range part.Traces {
			page.Trials = append(page.Trials, h.line(board, strings.TrimPrefix(names[at], board.Category+"/"), e))
		}
		if part.Next != "" {
			next := writeCursor(s.ID, at, part.Next)
			page.NextCursor = &next
			return page, nil
		}
	}
	if at < len(names) {
		next := writeCursor(s.ID, at, "")
		page.NextCursor = &next
	}
	return page, nil
}

func (h *Handler) line(board analytics.Board, eval string, e trialset.Entry) Trial {
	return Trial{
		ID: e.ID, Category: board.Category, Prompt: eval + "/" + e.Prompt, Agent: e.Agent, Template: e.Template, Repeat: e.Repeat,
		Outcome: e.Outcome, Picked: e.Picked, Unresolved: e.Unresolved, Synthetic: board.Synthetic, URL: h.BaseURL + analytics.TrialPath(e.ID),
	}
}

// table is the page as rows of a table.
func (p trialPage) table() [][]any {
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

func unread(err error) error {
	switch {
	case errors.Is(err, trialset.ErrCursor):
		return apierr.InvalidRequest("The cursor belongs to another list or snapshot; start again without a cursor.")
	case errors.Is(err, trialset.ErrNotFound):
		return &apierr.Error{Status: http.StatusNotFound, Code: "trial_not_found", Description: "The current snapshot has no trial of this id, or holds no trials to read."}
	}
	return apierr.Internal(err)
}
