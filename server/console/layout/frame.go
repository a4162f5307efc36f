// Package layout has the shared parts of workspace pages: access control, how
// their forms are guarded, the tabs around them, and how they fail.
package layout

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/render"
	"github.com/firstpick/firstpick/server/kit/reqctx"
	"github.com/firstpick/firstpick/server/kit/route"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A Frame opens pages. All fields are required.
type Frame struct {
	Agents   *registrations.Service
	Sessions *session.Manager
	Pages    session.Pages
	// Guard refuses requests of other sites (cross-origin forms).
	Guard func(http.Handler) http.Handler
	// Evals says that this server has evals, and so their tab.
	Evals bool
	// Measures says that this server reads sites to propose evals of products.
	Measures bool
}

// A Visit is a request of somebody who is signed in, for a workspace of theirs
// where the address names one.
type Visit struct {
	W         http.ResponseWriter
	R         *http.Request
	Signed    *session.Signed
	Workspace *state.Workspace
	Role      identity.Role // of the person in the workspace
	frame     *Frame
}

// Open returns the visit, or answers and returns nil. Somebody else's workspace is
// answered like one that is not there; a member needs a role. Who must sign in is led to
// back afterwards.
func (f *Frame) Open(w http.ResponseWriter, r *http.Request, need identity.Role, back string) *Visit {
	if !areText(r.URL.Query()) {
		f.Broken(w, r, apierr.InvalidRequest("The query is not valid UTF-8."))
		return nil
	}
	signed, err := f.Sessions.Current(r.Context(), r)
	if err != nil {
		f.Broken(w, r, err)
		return nil
	}
	if signed == nil {
		f.Sessions.AskSignIn(w, r, back)
		return nil
	}
	if signed.Account.Admin {
		reqctx.SetOperator(w)
	}
	v := &Visit{W: w, R: r, Signed: signed, frame: f}
	if slug := route.Param(r, "slug"); slug != "" {
		m, err := f.Agents.Access(r.Context(), signed.Account, slug, need)
		if err != nil {
			f.Broken(w, r, err)
			return nil
		}
		v.Workspace, v.Role = m.Workspace, m.Role
	}
	return v
}

// isText says whether a value may be looked up: stores take no others.
func isText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }

func areText(values url.Values) bool {
	for _, list := range values {
		if slices.ContainsFunc(list, func(s string) bool { return !isText(s) }) {
			return false
		}
	}
	return true
}

// Get serves a page of a workspace to members whose role includes need.
func (f *Frame) Get(need identity.Role, page func(*Visit) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := f.Open(w, r, need, r.URL.RequestURI())
		if v == nil {
			return
		}
		if err := page(v); err != nil {
			f.Broken(w, r, err)
		}
	}
}

// An Action changes something in a workspace.
type Action struct {
	Do func(*Visit) error
	// Need is the role that it takes; empty means editor.
	Need identity.Role
	// Fresh demands a sign-in within the last hour: it cannot be undone.
	Fresh bool
	// Back is the page below the workspace's to which signing in leads; for operators the
	// whole path.
	Back string
	// Operator is set for actions of operators: for all others they do not exist.
	Operator bool
}

// Post serves an action: a form of a page of ours.
func (f *Frame) Post(a Action) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		back := "/workspaces"
		if slug := route.Param(r, "slug"); slug != "" {
			back = Under(back, slug) + a.Back
		} else if a.Operator {
			back = a.Back
		}
		v := f.Open(w, r, cmp.Or(a.Need, identity.Editor), back)
		if v == nil || a.Operator && !f.isOperator(v) {
			return
		}
		if !f.Pages.Form(w, r) {
			return
		}
		switch {
		case !v.Signed.FormOK(r):
			f.ShowMessage(w, http.StatusForbidden, "This form has expired", "Go back, reload the page and try again.")
			return
		case !areText(r.PostForm):
			f.ShowMessage(w, http.StatusBadRequest, "Request failed", "A field is not valid UTF-8. Go back and type it again.")
			return
		}
		if a.Fresh && !v.Fresh() {
			f.Sessions.AskSignIn(w, r, back)
			return
		}
		if err := a.Do(v); err != nil {
			f.Broken(w, r, err)
		}
	}
}

// GetOperator serves a page to operators. For all others who are signed in it does not exist.
func (f *Frame) GetOperator(page func(*Visit) error) http.HandlerFunc {
	return f.Get(identity.Viewer, func(v *Visit) error {
		if !f.isOperator(v) {
			return nil
		}
		return page(v)
	})
}

// isOperator reports whether a visitor is an operator, or answers.
func (f *Frame) isOperator(v *Visit) bool {
	if !v.Signed.Account.Admin {
		f.Broken(v.W, v.R, registrations.NotOperator())
	}
	return v.Signed.Account.Admin
}

// Operator is who acts as operator.
func (v *Visit) Operator() *registrations.Operator {
	return &registrations.Operator{Caller: v.Caller(), Account: v.Signed.Account}
}

// Still fails when the visitor is not signed in any more, or is not a member whose role
// includes need: streams outlive both.
func (v *Visit) Still(ctx context.Context, need identity.Role) error {
	signed, err := v.frame.Sessions.Current(ctx, v.R)
	switch {
	case err != nil:
		return err
	case signed == nil:
		return ErrLeft
	}
	_, err = v.frame.Agents.Access(ctx, signed.Account, v.Workspace.Slug, need)
	return err
}

// ErrLeft means that a visitor signed out.
var ErrLeft = errors.New("the visitor signed out")

// Fresh says whether the person signed in within the last hour.
func (v *Visit) Fresh() bool { return v.Signed.Fresh(v.frame.Sessions.Now()) }

// ShowMessage answers with a page that has nothing to fill in.
func (f *Frame) ShowMessage(w http.ResponseWriter, status int, title, text string) {
	f.Pages.SendMessage(w, status, title, render.Message{Text: text, Next: render.Link{Path: "/workspaces", Text: "Your workspaces"}})
}

// Broken answers with an error page.
func (f *Frame) Broken(w http.ResponseWriter, r *http.Request, err error) {
	e := apierr.Of(err)
	switch {
	case e.Status == http.StatusNotFound:
		f.ShowMessage(w, http.StatusNotFound, "Not found", e.Description)
	case e.Status < http.StatusInternalServerError:
		f.ShowMessage(w, e.Status, "Request failed", e.Description)
	case r.Context().Err() != nil: // the client is gone
		f.ShowMessage(w, http.StatusServiceUnavailable, "Try again in a moment", "The page took too long.")
	default:
		f.Pages.Log.Error("a page failed", "request_id", reqctx.ID(w), "path", r.URL.Path, "err", err)
		text := "The database does not respond."
		if e.Status == http.StatusServiceUnavailable {
			text = e.Description
		}
		f.ShowMessage(w, http.StatusServiceUnavailable, "Try again in a moment", text)
	}
}

// Caller is who did it, for the audit log.
func (v *Visit) Caller() *registrations.Caller {
	return &registrations.Caller{IP: reqctx.Client(v.W), UserAgent: v.R.UserAgent()}
}

// Show answers with a page of package web; the workspace's name joins its title.
func (v *Visit) Show(status int, name, title string, data any) error {
	v.frame.Pages.Show(v.W, status, name, title+" · "+v.Workspace.Slug, data)
	return nil
}

// A Page is the frame of every page of a workspace.
type Page struct {
	Slug, Name, Path string
	Site             string // empty while it is not known
	// MadeUp says that the site cannot exist, so that its data are a sample.
	MadeUp           bool
	Tabs             []Tab
	Others           []Tab  // other workspaces of the visitor
	Parts            []Tab  // of the tab that is open; none for most
	PartsLabel       string // their label; empty for those of the settings
	FormToken, Email string
	BaseURL          string
	Role             identity.Role // of the visitor
	// Measures says that the visitor can let this server propose an eval of their product.
	Measures bool
	Joined   bool // the visitor has just accepted an invitation
}

// Edits reports whether the visitor may change evals, settings and keys.
func (p Page) Edits() bool { return p.Role.Includes(identity.Editor) }

// Owns reports whether the visitor may also change members, and what cannot be undone.
func (p Page) Owns() bool { return p.Role.Includes(identity.Owner) }

// A Tab is a link to a part of the workspace.
type Tab struct {
	Name, Link string
	On         bool
}

// JoinedQuery is the query of the page that an accepted invitation leads to.
const JoinedQuery = "done=joined"

// Page returns the frame of a page under a tab. The addresses of tabs pass through
// link, which may add a query; nil leaves them as they are.
func (v *Visit) Page(tab string, link func(path string) string) Page {
	p := Page{
		Slug: v.Workspace.Slug, Name: v.Workspace.Title(), MadeUp: v.Workspace.MadeUp(), Path: Under("/workspaces", v.Workspace.Slug), Site: v.Workspace.Site,
		FormToken: v.Signed.FormToken(), Email: v.Signed.Account.Email, BaseURL: v.frame.Agents.BaseURL, Role: v.Role, Measures: v.frame.Measures && v.Role.Includes(identity.Editor),
		Joined: v.R.URL.RawQuery == JoinedQuery,
	}
	for _, t := range []string{"Overview", "Agents", "Pages", "Gaps", "Referrals", "Conversions", "Noise", "Evals", "Settings"} {
		path := p.Path
		switch {
		case t == "Evals" && !v.frame.Evals:
			continue
		case t == "Settings" && !p.Edits():
			path += "/settings/members"
		case t != "Overview":
			path += "/" + strings.ToLower(t)
		}
		if link != nil {
			path = link(path)
		}
		p.Tabs = append(p.Tabs, Tab{Name: t, Link: path, On: t == tab})
	}
	p.Others = v.others()
	return p
}

// others lists the other workspaces of the visitor; none where they cannot be read, for the
// page does not need them.
func (v *Visit) others() (out []Tab) {
	list, err := v.frame.Agents.Memberships(v.R.Context(), v.Signed.Account)
	if err != nil {
		return nil
	}
	for _, m := range list {
		if m.ID != v.Workspace.ID {
			out = append(out, Tab{Name: m.Title(), Link: Under("/workspaces", m.Slug)})
		}
	}
	return out
}

// Settings returns the frame of a part of the settings.
func (v *Visit) Settings(part string, link func(path string) string) Page {
	p := v.Page("Settings", link)
	for _, t := range []struct {
		key, name, path string
		shown           bool
	}{
		{"site", "Site and collector", "/settings", p.Edits()},
		{"evals", "Keys for evals", "/settings/evals", p.Edits() && v.frame.Evals},
		{"members", "Members", "/settings/members", true},
		{"log", "Log", "/log", p.Edits()},
	} {
		if t.shown {
			p.Parts = append(p.Parts, Tab{Name: t.name, Link: p.Path + t.path, On: part == t.key})
		}
	}
	return p
}

// Under returns the address of a page below another.
func Under(path string, parts ...string) string {
	for _, part := range parts {
		path += "/" + url.PathEscape(part)
	}
	return path
}
