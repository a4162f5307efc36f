// Package readapi serves the public read API: a tool's report and a category's
// leaderboard. Responses are rendered in advance; a handler looks them up.
package readapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
)

// A Handler answers from the current site. All fields are required.
type Handler struct {
	Current func() *snapshotview.Site
	Sender  *snapshotview.Sender
	Errors  apierr.Writer
}

// Exact returns the handlers by path.
func (h *Handler) Exact() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{"/api/public/report": h.report, "/api/public/leaderboard": h.leaderboard, "/api/public/observed": h.observed}
}

// Mount registers the routes.
func (h *Handler) Mount(r chi.Router) {
	for path, f := range h.Exact() {
		route.Public(r, path, f)
	}
	route.Public(r, "/api/public/prompts", h.prompts)
	route.Public(r, "/api/public/compare", h.tool(tools.CompareTools, "a", "b", "category"))
	route.Public(r, "/api/public/lookup", h.tool(tools.LookupTools, "packages"))
}

func (h *Handler) report(w http.ResponseWriter, r *http.Request) {
	s := h.Current()
	if s == nil {
		h.Errors.Write(w, r, apierr.Unavailable())
		return
	}
	q, category := simple(r.URL.RawQuery)
	if q == "" {
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil {
			h.Errors.Write(w, r, apierr.BadQuery())
			return
		}
		q, category = strings.TrimSpace(values.Get("q")), values.Get("category")
	}
	switch {
	case q == "":
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter q is missing: a tool's name, slug, domain or package."))
		return
	case len(q) > tools.MaxQuery:
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter q is longer than 200 bytes."))
		return
	case category != "":
		h.reportIn(w, r, s, category, q)
		return
	}
	res, _ := s.Report(q)
	if res == nil {
		h.Errors.Write(w, r, s.NoTool(q))
		return
	}
	h.Sender.Send(w, r, res)
}

func (h *Handler) reportIn(w http.ResponseWriter, r *http.Request, s *snapshotview.Site, category, q string) {
	if s.Board(category, "") == nil {
		h.Errors.Write(w, r, s.NoCategory(category))
		return
	}
	res := s.ReportIn(category, q)
	if res == nil {
		h.Errors.Write(w, r, apierr.ToolNotFound("No tool of this name is ranked in this category.", s.SuggestTools(q)))
		return
	}
	h.Sender.Send(w, r, res)
}

// simple reads the most common query, q alone and nothing escaped, without
// parsing; any other form gives "".
func simple(raw string) (q, category string) {
	q, ok := strings.CutPrefix(raw, "q=")
	if !ok || strings.ContainsAny(q, "&%+;") {
		return "", ""
	}
	return q, ""
}

func (h *Handler) leaderboard(w http.ResponseWriter, r *http.Request) {
	s := h.Current()
	if s == nil {
		h.Errors.Write(w, r, apierr.Unavailable())
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		h.Errors.Write(w, r, apierr.BadQuery())
		return
	}
	switch values.Get("kind") {
	case "", "trials":
	case "observed":
		h.observed(w, r)
		return
	default:
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter kind is trials or observed."))
		return
	}
	category, by, format := strings.ToLower(strings.TrimSpace(values.Get("category"))), values.Get("by"), values.Get("format")
	res, e := find(s, category, by, values.Get("domain"))
	switch {
	case e != nil:
	case format == "" || format == "json":
		h.Sender.Send(w, r, res)
		return
	case format != "csv" && format != "parquet":
		e = apierr.InvalidRequest("The query parameter format is json, csv or parquet.")
	case category == "" || by != "":
		e = apierr.InvalidRequest("The formats csv and parquet need a category, and no by.")
	case format == "parquet":
		h.redirect(w, "/snapshots/"+s.ID+"/trials.parquet")
		return
	default:
		h.sendTable(w, r, category+"-"+s.ID, s.Board(category, snapshotview.AsCSV))
		return
	}
	h.Errors.Write(w, r, e)
}

// sendTable answers with a table as a file. name has no extension.
func (h *Handler) sendTable(w http.ResponseWriter, r *http.Request, name string, res *snapshotview.Resource) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`.csv"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	h.Sender.Send(w, r, res)
}

// redirect leads to the trials that a board is computed from. It is temporary: the next
// snapshot has others.
func (h *Handler) redirect(w http.ResponseWriter, path string) {
	w.Header().Set("Location", path)
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusFound)
}

// observed answers with the observed board of a category, or with the list.
func (h *Handler) observed(w http.ResponseWriter, r *http.Request) {
	s := h.Current()
	if s == nil {
		h.Errors.Write(w, r, apierr.Unavailable())
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		h.Errors.Write(w, r, apierr.BadQuery())
		return
	}
	category := strings.ToLower(strings.TrimSpace(values.Get("category")))
	if len(category) > tools.MaxQuery {
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter category is longer than 200 bytes."))
		return
	}
	format := values.Get("format")
	res := s.ObservedBoard(category, "")
	switch {
	case format != "" && format != "json" && format != snapshotview.AsCSV:
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter format is json or csv for observed boards; no trials are behind them."))
	case format == snapshotview.AsCSV && category == "":
		h.Errors.Write(w, r, apierr.InvalidRequest("The format csv needs a category."))
	case res == nil:
		e := apierr.CategoryNotFound(s.SuggestObserved(category))
		e.Description = "No observed board has this category. /api/public/observed lists those that exist."
		h.Errors.Write(w, r, e)
	case format == snapshotview.AsCSV:
		h.sendTable(w, r, "observed-"+category+"-"+s.ID, s.ObservedBoard(category, snapshotview.AsCSV))
	default:
		h.Sender.Send(w, r, res)
	}
}

// find returns a board, cut by a tag where by names one, or the list of a domain where no category is asked for.
func find(s *snapshotview.Site, category, by, domain string) (*snapshotview.Resource, *apierr.Error) {
	switch {
	case by != "" && !slices.Contains(snapshotview.Cuts(), by):
		return nil, apierr.InvalidRequest("The query parameter by is one of " + strings.Join(snapshotview.Cuts(), ", ") + ".")
	case by != "" && category == "":
		return nil, apierr.InvalidRequest("The query parameter by needs a category.")
	case len(category) > tools.MaxQuery:
		return nil, apierr.InvalidRequest("The query parameter category is longer than 200 bytes.")
	case category != "":
		if res := s.Board(category, by); res != nil {
			return res, nil
		}
		return nil, s.NoCategory(category)
	}
	if domain != "" && domain != string(catalog.DevTools) && domain != string(catalog.SaaS) {
		return nil, apierr.InvalidRequest("The query parameter domain is dev-tools or saas.")
	}
	return s.List(domain), nil
}
