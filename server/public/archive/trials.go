package archive

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/nearest"
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
	// Listing is what a study published of the answer, where TrialsQuery asks for it.
	Listing *trialset.Listing `json:"-"`
}

// A TrialPage is a part of the list of trials of a category.
type TrialPage struct {
	Snapshot  string  `json:"snapshot"`
	Category  string  `json:"category"`
	Synthetic bool    `json:"synthetic"`
	Trials    []Trial `json:"trials"`
	// NextCursor is the Cursor of the next page; nil on the last.
	NextCursor *string `json:"next_cursor"`
	// Total is how many trials are selected, Before how many of them are on the pages before this
	// one, where TrialsQuery asks for it.
	Total  int `json:"-"`
	Before int `json:"-"`
}

// A TrialsQuery selects trials of the current snapshot. Category or Tool is required; other
// empty fields select everything.
type TrialsQuery struct {
	// Category is a slug; without one it is the home category of Tool, any name of a tool.
	Category, Tool string
	// Prompt is EVAL/PROMPT, or the id of a prompt in any eval. Outcome is one of
	// trialset.Outcomes.
	Agent, Prompt, Outcome string
	// Cursor is that of the page before; empty for the first.
	Cursor string
	// Limit is the number of trials of a page, 1 to trialset.MaxPage.
	Limit int
	// Listed is the limit of a list of answers that a study published, with their listings; 0
	// for lists without listings.
	Listed int
	// Counted asks for the number of selected trials.
	Counted bool
}

// Trials returns a page of trials: those of each eval in the order of its plan, the evals
// sorted by name. The error is an *apierr.Error: 400 for a name or cursor that the snapshot
// does not have, 404 for an unknown category or tool, 503 where it cannot be read.
func (h *Handler) Trials(ctx context.Context, q TrialsQuery) (TrialPage, error) {
	s, err := h.site()
	if err != nil {
		return TrialPage{}, err
	}
	board, f, err := filter(s, q)
	if err != nil {
		return TrialPage{}, err
	}
	page := TrialPage{Snapshot: s.ID, Category: board.Category, Synthetic: board.Synthetic, Trials: []Trial{}}
	all, err := h.evals(ctx, s, board.Category)
	if err != nil {
		return page, err
	}
	keys, err := h.qualified(all, &f)
	if err != nil {
		return page, err
	}
	at, rest, err := readCursor(s.ID, q.Cursor, len(keys))
	if err != nil {
		return page, err
	}
	if q.Counted {
		if page.Total, page.Before, err = h.count(ctx, keys, f, at, rest); err != nil {
			return page, unread(err)
		}
	}
	for ; at < len(keys) && len(page.Trials) < q.Limit; at, rest = at+1, "" {
		part, listed, err := h.part(ctx, keys[at], f, rest, q, len(page.Trials))
		if err != nil {
			return page, unread(err)
		}
		for _, e := range part.Traces {
			line := h.line(board, keys[at].eval, e)
			line.Listing = listed[e.ID]
			page.Trials = append(page.Trials, line)
		}
		if part.Next != "" {
			next := writeCursor(s.ID, at, part.Next)
			page.NextCursor = &next
			return page, nil
		}
	}
	if at < len(keys) {
		next := writeCursor(s.ID, at, "")
		page.NextCursor = &next
	}
	if len(page.Trials) == 0 {
		return page, h.unknown(all, f)
	}
	return page, nil
}

// count counts the selected trials of evals, and those before a place: the eval at, and a cursor
// within it.
func (h *Handler) count(ctx context.Context, keys []setKey, f trialset.Filter, at int, rest string) (total, before int, err error) {
	for i, key := range keys {
		cursor := ""
		if i == at {
			cursor = rest
		}
		err := h.set(key, func(set *trialset.Set) error {
			all, part, err := set.Count(ctx, f, cursor)
			if total += all; i < at {
				part = all
			}
			before += part
			return err
		})
		if err != nil {
			return 0, 0, err
		}
	}
	return total, before, nil
}

// filter reads what is selected: the board of the category, and its trials.
func filter(s *snapshotview.Site, q TrialsQuery) (board analytics.Board, f trialset.Filter, err error) {
	category := strings.ToLower(strings.TrimSpace(q.Category))
	if name := strings.TrimSpace(q.Tool); name != "" {
		slug, ok := s.Slug(name)
		if !ok {
			return board, f, s.NoTool(name)
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
		return board, f, s.NoCategory(category)
	}
	if f.Outcome = q.Outcome; f.Outcome != "" && !slices.Contains(trialset.Outcomes(), f.Outcome) {
		return board, f, apierr.InvalidRequest("The query parameter outcome is one of " + strings.Join(trialset.Outcomes(), ", ") + ".")
	}
	f.Agent, f.Prompt = q.Agent, q.Prompt
	return board, f, nil
}

// qualified returns the eval of a prompt EVAL/PROMPT, and leaves its id in f. Any other
// prompt may be of every eval.
func (h *Handler) qualified(keys []setKey, f *trialset.Filter) ([]setKey, error) {
	for _, key := range keys {
		id, ok := strings.CutPrefix(f.Prompt, key.eval+"/")
		if !ok {
			continue
		}
		err := h.set(key, func(set *trialset.Set) error {
			ok = slices.Contains(set.Prompts(), id) // evals and prompts may both have slashes
			return nil
		})
		if err != nil {
			return nil, unread(err)
		}
		if ok {
			f.Prompt = id
			return []setKey{key}, nil
		}
	}
	return keys, nil
}

// unknown is the error of a filter whose agent or prompt no eval has, so that a misspelt
// name does not look like a result.
func (h *Handler) unknown(keys []setKey, f trialset.Filter) error {
	var agents, prompts, ids []string
	for _, key := range keys {
		err := h.set(key, func(set *trialset.Set) error {
			agents = append(agents, set.Agents()...)
			for _, id := range set.Prompts() {
				ids, prompts = append(ids, id), append(prompts, key.eval+"/"+id)
			}
			return nil
		})
		if err != nil {
			return unread(err)
		}
	}
	for _, check := range []struct {
		name, value   string
		known, listed []string
	}{{"agent", f.Agent, agents, agents}, {"prompt", f.Prompt, ids, prompts}} {
		if check.value == "" || len(keys) == 0 || slices.Contains(check.known, check.value) {
			continue
		}
		e := apierr.InvalidRequest("No trial of this category has this " + check.name + "; suggestions lists names that exist.")
		e.Suggestions = suggest(check.value, check.listed)
		return e
	}
	return nil
}

func (h *Handler) line(board analytics.Board, eval string, e trialset.Entry) Trial {
	return Trial{
		ID: e.ID, Category: board.Category, Prompt: eval + "/" + e.Prompt, Agent: e.Agent, Template: e.Template, Repeat: e.Repeat,
		Outcome: e.Outcome, Picked: e.Picked, Unresolved: e.Unresolved, Synthetic: board.Synthetic, URL: h.BaseURL + analytics.TrialPath(e.ID),
	}
}

// maxSuggestions is how many names an error lists.
const maxSuggestions = 5

// suggest returns the names near q, or else the first ones.
func suggest(q string, known []string) []string {
	slices.Sort(known)
	known = slices.Compact(known)
	names := map[string]string{}
	for _, name := range known {
		names[strings.ToLower(name)] = name
	}
	if near := nearest.Names(strings.ToLower(q), names, maxSuggestions); len(near) > 0 {
		return near
	}
	return known[:min(len(known), maxSuggestions)]
}

// unread converts an error of the trial files to its API error.
func unread(err error) error {
	switch {
	case errors.Is(err, trialset.ErrCursor):
		return apierr.InvalidRequest("The cursor belongs to another list or snapshot; start again without a cursor.")
	case errors.Is(err, trialset.ErrNotFound):
		return &apierr.Error{Status: http.StatusNotFound, Code: "trial_not_found", Description: "The current snapshot has no trial of this id, or holds no trials to read."}
	case errors.Is(err, errRemoved):
		return &apierr.Error{
			Status: http.StatusServiceUnavailable, Code: "temporarily_unavailable", RetryAfter: 5, Cause: err,
			Description: "The files of the current snapshot were removed from the server. Try again: the server loads the next snapshot when it is published.",
		}
	}
	return apierr.Internal(err)
}
