package readapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/tools"
)

func (h *Handler) prompts(w http.ResponseWriter, r *http.Request) {
	s := h.Current()
	if s == nil {
		h.Errors.Write(w, r, apierr.Unavailable())
		return
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	category := strings.ToLower(strings.TrimSpace(values.Get("category")))
	switch {
	case err != nil:
		h.Errors.Write(w, r, apierr.BadQuery())
		return
	case category == "":
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter category is missing: the slug of a category."))
		return
	}
	format, res := values.Get("format"), s.Prompts(category, "")
	switch {
	case format != "" && format != "json" && format != snapshotview.AsCSV:
		h.Errors.Write(w, r, apierr.InvalidRequest("The query parameter format is json or csv."))
	case res == nil:
		h.Errors.Write(w, r, s.NoCategory(category))
	case format == snapshotview.AsCSV:
		h.sendTable(w, r, "prompts-"+category+"-"+s.ID, s.Prompts(category, snapshotview.AsCSV))
	default:
		h.Sender.Send(w, r, res)
	}
}

// maxPackages is the longest list of packages, in bytes.
const maxPackages = 16 << 10

// tool serves what a tool of MCP answers, by GET. The parameter packages is a list with
// commas.
func (h *Handler) tool(name string, parameters ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s := h.Current()
		if s == nil {
			h.Errors.Write(w, r, apierr.Unavailable())
			return
		}
		values, err := url.ParseQuery(r.URL.RawQuery)
		if err != nil || len(r.URL.RawQuery) > maxPackages {
			h.Errors.Write(w, r, apierr.BadQuery())
			return
		}
		arguments := map[string]any{}
		for _, p := range parameters {
			switch v := strings.TrimSpace(values.Get(p)); {
			case v == "":
			case p == "packages":
				arguments[p] = strings.Split(strings.Join(values[p], ","), ",")
			default:
				arguments[p] = v
			}
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			h.Errors.Write(w, r, apierr.Internal(err))
			return
		}
		answer := tools.Call{Tool: name, Arguments: raw}.Answer(s)
		if answer.Failed {
			h.Errors.Write(w, r, failed(answer))
			return
		}
		h.Sender.Send(w, r, snapshotview.Unpacked(snapshotview.JSONType, append(answer.JSON, '\n')))
	}
}

// failed is the error of a tool as one of HTTP.
func failed(answer tools.Answer) *apierr.Error {
	var f tools.Failure
	if err := json.Unmarshal(answer.JSON, &f); err != nil {
		return apierr.Internal(err)
	}
	e := &apierr.Error{Status: http.StatusNotFound, Code: f.Code, Description: f.Description, Suggestions: f.Suggestions}
	if len(f.Observed) > 0 {
		e.Extra = snapshotview.Uses{Observed: f.Observed}
	}
	if f.Code == "invalid_request" {
		e.Status = http.StatusBadRequest
		var wrong []string
		for _, i := range f.Issues {
			wrong = append(wrong, strings.TrimPrefix(i.Path, "/")+" "+i.Message)
		}
		e.Description = "The query parameters are not valid: " + strings.Join(wrong, "; ") + "."
	}
	return e
}
