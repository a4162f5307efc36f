package dashboard

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// tabOf returns the tab of a page whose form chooses the window; empty for others.
func tabOf(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/workspaces/"), "/")
	if len(parts) == 1 {
		return "Overview"
	}
	if slices.Contains([]string{"agents", "pages", "gaps", "referrals", "conversions", "noise"}, parts[1]) {
		return strings.ToUpper(parts[1][:1]) + parts[1][1:]
	}
	return ""
}

type wrongData struct{ Page page }

// showWrong shows the form of the window with what was typed, and with what is wrong.
func (h *Handler) showWrong(v *layout.Visit, tab string, err error) error {
	e := apierr.Of(err)
	if e.Status != http.StatusBadRequest {
		return err
	}
	now := h.Sessions.Now()
	q, err := traffic.ParseQuery(url.Values{}, now)
	if err != nil {
		return err
	}
	d := wrongData{Page: (&visit{v, h, &query{Query: q, kept: url.Values{}, now: now}}).page(tab)}
	f, given := &d.Page.Filter, v.R.URL.Query()
	f.From, f.Through, f.Problem = clip(given.Get("from")), clip(given.Get("through")), problemOf(e.Description)
	f.Field, _, _ = strings.Cut(strings.ToLower(f.Problem), " ")
	if zone := clip(given.Get("tz")); zone != "" {
		f.TZ = zone
	}
	return v.Show(e.Status, "workspace-wrong", tab, d)
}

// problemOf names the fields of the form in an error of the API, whose to is the day after
// Through.
func problemOf(text string) string {
	switch {
	case strings.HasPrefix(text, "from must lie before to"):
		return "Through must be the day of From or a later one, and at most 400 days are shown."
	case strings.HasPrefix(text, "from "):
		return "F" + text[1:]
	case strings.HasPrefix(text, "to "):
		return "Through" + text[len("to"):]
	case strings.HasPrefix(text, "tz "):
		return "Time zone" + text[len("tz"):]
	}
	return text
}
