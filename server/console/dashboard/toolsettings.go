package dashboard

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/console/layout"
)

// searchRows is how many tools a search shows.
const searchRows = 10

// proposal returns the tool of the catalogue whose domain is the site's, or a domain above
// it: docs.acme.dev belongs to acme.dev.
func (v *visit) proposal() (picks.Choice, bool, error) {
	u, err := url.Parse(v.Workspace.Site)
	if err != nil || u.Hostname() == "" {
		return picks.Choice{}, false, nil //nolint:nilerr // no site is no error
	}
	for host := u.Hostname(); strings.Contains(host, "."); _, host, _ = strings.Cut(host, ".") {
		found, err := v.h.Picks.Search(v.R.Context(), v.Workspace.ID, host, 1)
		if err != nil {
			return picks.Choice{}, false, err
		}
		for _, c := range found {
			for _, d := range c.Domains {
				if name, _, _ := strings.Cut(d, "/"); strings.TrimPrefix(name, "www.") == strings.TrimPrefix(host, "www.") {
					return c, true, nil
				}
			}
		}
	}
	return picks.Choice{}, false, nil
}

// A toolData is the choice of the own tool in the settings.
type toolData struct {
	Tool     string // slug; empty until chosen
	Name     string
	Since    string
	Digest   bool
	Proposal *picks.Choice
	Query    string
	Found    []picks.Choice
	Searched bool
}

// toolSettings returns nil where this server follows no tools.
func (v *visit) toolSettings() (*toolData, error) {
	if v.h.Alerts == nil || v.h.Picks == nil {
		return nil, nil
	}
	follow, err := v.h.Alerts.Following(v.R.Context(), v.Workspace.ID)
	if err != nil {
		return nil, err
	}
	d := &toolData{Tool: follow.Tool, Digest: follow.Digest, Query: strings.TrimSpace(v.R.URL.Query().Get("find"))}
	if len(d.Query) > 200 {
		d.Query = ""
	}
	c, _, err := v.h.Picks.Tool(v.R.Context(), v.Workspace.ID, follow.Tool)
	if err != nil {
		return nil, err
	}
	d.Name = cmp.Or(c.Name, follow.Tool)
	if !follow.Since.IsZero() {
		d.Since = follow.Since.UTC().Format(dateOfKey)
	}
	if d.Tool == "" {
		if c, ok, err := v.proposal(); err != nil {
			return nil, err
		} else if ok {
			d.Proposal = &c
		}
	}
	if d.Query != "" {
		d.Searched = true
		d.Found, err = v.h.Picks.Search(v.R.Context(), v.Workspace.ID, d.Query, searchRows)
	}
	return d, err
}

// followTool chooses the tool that the workspace follows, by its slug; none ends that.
func (h *Handler) followTool(v *visit) error {
	tool, digest, from := v.R.PostFormValue("tool"), v.R.PostFormValue("digest") != "", v.R.PostFormValue("from")
	if tool != "" {
		c, ok, err := h.Picks.Tool(v.R.Context(), v.Workspace.ID, tool)
		if err != nil {
			return err
		}
		now, err := h.Alerts.Following(v.R.Context(), v.Workspace.ID)
		if err != nil {
			return err
		}
		if !ok && now.Tool != tool {
			return v.settings(http.StatusUnprocessableEntity, problem{"tool", "The catalogue has no such tool. Search for it by name, domain or package."})
		}
		if ok {
			tool = c.Slug
		}
		if from != "" { // a form without the setting of the weekly mail
			digest = now.Digest
		}
	}
	if err := h.Alerts.FollowTool(v.R.Context(), v.Workspace.ID, v.Signed.Account.ID, tool, digest); err != nil {
		return v.wrong("tool", err)
	}
	switch id, isRun := strings.CutPrefix(from, "runs/"); {
	case tool != "" && from == "overview":
		session.See(v.W, v.R, layout.Under("/workspaces", v.Workspace.Slug))
		return nil
	case tool != "" && isRun:
		session.See(v.W, v.R, layout.Under("/workspaces", v.Workspace.Slug, "runs", id))
		return nil
	}
	return v.back(map[bool]string{true: "tool", false: "no-tool"}[tool != ""])
}
