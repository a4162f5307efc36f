package dashboard

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/setup"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

type listData struct {
	Workspaces          []*state.Membership
	Rows                []workspaceRow
	BaseURL, FormToken  string
	Site, Name, Problem string   // of the form
	Stacks              []choice // where the site may run
	Taken, NewKey       string   // the paths of the workspace that the site has, and of a new key for it; empty if absent
	Email               string
	Owned               bool          // the person has a workspace
	Deleted             bool          // a workspace, just now
	Erase               *layout.Erase // of the account; nil for one without an address
}

// maxName is how many characters the name of a workspace has.
const maxName = 100

// list shows the workspaces of an account, or leads to the only one. Without one it shows the
// form that creates the first.
func (h *Handler) list(w http.ResponseWriter, r *http.Request) {
	back, name := "/workspaces", []rune(r.URL.Query().Get("name")) // of a tool whose page led here
	if name = name[:min(maxName, len(name))]; len(name) > 0 {
		back += "?" + url.Values{"name": {string(name)}}.Encode()
	}
	v := h.Open(w, r, identity.Viewer, back)
	if v == nil {
		return
	}
	all, err := h.Agents.Memberships(r.Context(), v.Signed.Account)
	if err != nil {
		h.Broken(w, r, err)
		return
	}
	if len(all) == 1 && len(name) == 0 && !r.URL.Query().Has("all") {
		path := layout.Under("/workspaces", all[0].Slug)
		switch {
		case h.Reports != nil:
			session.See(w, r, path)
			return
		case h.Evals: // the overview is on another server
			session.See(w, r, path+"/evals")
			return
		}
	}
	h.showList(v, http.StatusOK, listData{Workspaces: all, Name: string(name)})
}

func (h *Handler) showList(v *layout.Visit, status int, d listData) {
	d.BaseURL, d.FormToken, d.Email, d.Owned = h.Agents.BaseURL, v.Signed.FormToken(), v.Signed.Account.Email, len(d.Workspaces) > 0
	d.Rows = h.rows(v, d.Workspaces)
	d.Stacks = stacks("", v.R.PostFormValue("stack"))
	d.Deleted = v.R.URL.Query().Get("done") == "deleted"
	if d.Email != "" {
		d.Erase = accountForm(v)
	}
	h.Pages.Show(v.W, status, "workspaces", "Your workspaces", d)
}

// create makes a workspace and shows its first key, once.
func (h *Handler) create(v *layout.Visit) error {
	set := state.Settings{Site: origin(v.R.PostFormValue("site")), Name: v.R.PostFormValue("name")}
	first := registrations.KeyRequest{} // its label keeps the choice
	if stack, ok := setup.Find(v.R.PostFormValue("stack")); ok {
		first = registrations.KeyRequest{Kind: keyKind(stack), Label: stack.Slug}
	}
	w, key, err := h.Agents.CreateOwnWorkspace(v.R.Context(), v.Caller(), v.Signed.Account, set, first)
	if err != nil {
		e := apierr.Of(err)
		if e.Status >= http.StatusInternalServerError {
			return err
		}
		all, listErr := h.Agents.Memberships(v.R.Context(), v.Signed.Account)
		if listErr != nil {
			return listErr
		}
		d := listData{Workspaces: all, Site: set.Site, Name: set.Name, Problem: siteProblem(e, "Address of your site")}
		if e.Reason == registrations.SiteTaken { // as after a reload of the page with the key
			d.Taken = layout.Under("/workspaces", e.Suggestions...)
			if d.NewKey = d.Taken + "/settings#keys"; first.Label != "" {
				d.NewKey = d.Taken + "/install?stack=" + first.Label
			}
		}
		h.showList(v, http.StatusUnprocessableEntity, d)
		return nil
	}
	v.Workspace, v.Role = w, identity.Owner
	return h.visit(v, func(v *visit) error {
		return v.showKey("Your key", "Overview", key)
	})
}

// origin returns the origin of an address as people type or paste it: with a path, or without
// a scheme. Other texts are returned as they are, to be refused.
func origin(text string) string {
	text = strings.TrimSpace(text)
	address := text
	if !strings.Contains(address, "://") && strings.Contains(address, ".") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || strings.ContainsAny(u.Host, " ") {
		return text
	}
	return u.Scheme + "://" + u.Host
}

// siteProblem returns the description of an error, with the label of the field where it is
// about the address of the site.
func siteProblem(e *apierr.Error, label string) string {
	if e.Reason != "invalid_site" {
		return e.Description
	}
	return label + ": this must be an address such as https://acme.dev."
}

type installData struct {
	Page   page
	Tiles  []tile // the one of the own tool
	Key    string // shown once; empty afterwards
	Stacks []choice
	Stack  *stackData // the one that was chosen
	Events string     // the path of the stream that reports the first event
}

// A stackData is a stack with the files that the collector needs in it.
type stackData struct {
	Slug, Title, Summary string
	Folder               string // of the files; empty for the project's root
	Drain                bool   // the platform sends logs, so there is no file
	KeyKind              string // that it sends with
	Filled               bool   // the key fits: the code has it
	Test                 string // the command that sends a test conversion; empty for other stacks
	Files                []stackFile
	Hooks                []setup.Hook
}

type stackFile struct{ Path, Code string }

// keyKind returns the kind of key that a stack sends with.
func keyKind(s *setup.Stack) string {
	if s.Way == setup.ByDrain {
		return string(event.KindLog)
	}
	return string(event.KindSecret)
}

// stack returns a stack with the files and code to add, with the key in them; without a key
// they name the variable that holds it.
func (v *visit) stack(slug, key string) *stackData {
	s, ok := setup.Find(slug)
	if !ok {
		return nil
	}
	d := &stackData{Slug: s.Slug, Title: s.Title, Summary: s.Summary, Folder: s.Folder, Drain: s.Way == setup.ByDrain, KeyKind: keyKind(s)}
	for _, f := range s.Files {
		d.Files = append(d.Files, stackFile{f.Path, f.Code(v.h.Agents.BaseURL)})
	}
	const variable = "FIRSTPICK_KEY"
	names := []string{variable + "=" + setup.SecretKey + " ", "", "'" + setup.SecretKey + "'", "getenv('" + variable + "')", setup.SecretKey, "$" + variable, setup.LogKey, "$" + variable}
	switch {
	case strings.HasPrefix(key, strings.TrimSuffix(setup.SecretKey, "...")):
		names = []string{setup.SecretKey, key, setup.LogKey, "$" + variable}
	case key != "":
		names = append([]string{setup.LogKey, key}, names...)
	}
	if _, host, ok := strings.Cut(v.Workspace.Site, "://"); ok {
		names = append(names, "yoursite.example", host)
	}
	d.Filled = key != "" && strings.HasPrefix(key, "log_") == d.Drain
	if s.Slug == conversionsStack {
		d.Test = v.testConversion(map[bool]string{true: key, false: "$" + variable}[d.Filled])
	}
	fill := strings.NewReplacer(names...)
	for _, hook := range s.Hooks(v.h.Agents.BaseURL) {
		d.Hooks = append(d.Hooks, setup.Hook{Text: hook.Text, Code: fill.Replace(hook.Code)})
	}
	return d
}

// conversionsStack is the slug of the stack that reports conversions.
const conversionsStack = "conversions"

// testConversion returns the command that sends a visit of an assistant and a conversion of the
// same test person.
func (v *visit) testConversion(key string) string {
	return fmt.Sprintf(`curl -sS %s/api/collect -H "Authorization: Bearer %s" -H "Content-Type: application/json" \
  -d '{"events":[{"type":"touch","userRef":"firstpick-test","url":"%s%s?utm_source=chatgpt.com"},
  {"type":"convert","userRef":"firstpick-test","kind":"test","orderId":"firstpick-test"}]}'`, v.h.Agents.BaseURL, key, cmp.Or(v.Workspace.Site, "https://your-site.example"), traffic.TestPath)
}

// withKey shows the code of another stack with a key that was just shown. The form brings the key:
// it is stored as a hash only.
func (h *Handler) withKey(v *visit) error {
	slug, key := v.R.PostFormValue("stack"), v.R.PostFormValue("key")
	k, err := h.Collect.Authenticate(v.R.Context(), key)
	if e := apierr.Of(err); err != nil && e.Status >= http.StatusInternalServerError {
		return err
	}
	if _, ok := setup.Find(slug); err != nil || !ok || k.Workspace.ID != v.Workspace.ID {
		path := layout.Under("/workspaces", v.Workspace.Slug, "install")
		if ok {
			path += "?stack=" + slug
		}
		session.See(v.W, v.R, path)
		return nil
	}
	return v.showKey("Your key", "Overview", key)
}

// showKey shows a new key, once, in the code of the chosen stack.
func (v *visit) showKey(title, tab, key string) error {
	slug := v.R.PostFormValue("stack")
	d := installData{Page: v.page(tab), Key: key, Stack: v.stack(slug, key)}
	d.Stacks = stacks(d.Page.Path, slug)
	got, err := v.h.Collect.Received(v.R.Context(), v.Workspace.ID)
	if err != nil {
		return err
	}
	if !got {
		d.Events = d.Page.Path + "/first-event"
	}
	return v.show("workspace-created", title, d)
}

// install shows how to send events from the chosen stack, until the first event is here.
func (h *Handler) install(v *visit) error {
	got, err := h.Collect.Received(v.R.Context(), v.Workspace.ID)
	if err != nil {
		return err
	}
	return h.installs(v, !got)
}

// installs is install; waits says that the page reports the first event.
func (h *Handler) installs(v *visit, waits bool) error {
	d := installData{Page: v.page("Overview")}
	own, err := v.ownTool(&d.Page)
	if err != nil {
		return err
	}
	if own != nil && (own.Name != "" || own.Tile.Whose != nil || !d.Page.Measures) { // without a tool the page offers to measure it
		d.Tiles = []tile{own.Tile}
	}
	slug := v.R.URL.Query().Get("stack")
	if slug == "" {
		if slug, err = v.chosenStack(); err != nil {
			return err
		}
	}
	d.Stacks = stacks(d.Page.Path, slug)
	if waits {
		d.Events = d.Page.Path + "/first-event"
	}
	d.Stack = v.stack(slug, "")
	return v.show("workspace-install", "Install the collector", d)
}

// chosenStack returns the stack that the newest key was made for; empty if absent, and for
// viewers, who see no keys.
func (v *visit) chosenStack() (string, error) {
	if !v.Role.Includes(identity.Editor) {
		return "", nil
	}
	keys, err := v.h.Agents.OwnKeys(v.R.Context(), v.Signed.Account, v.Workspace.Slug)
	for i := len(keys) - 1; i >= 0; i-- {
		if s, ok := setup.Find(keys[i].Label); ok {
			return s.Slug, err
		}
	}
	return "", err
}

// stacks lists all stacks as links to their installation.
func stacks(path, chosen string) (out []choice) {
	for _, s := range setup.Stacks() {
		out = append(out, choice{Key: s.Slug, Name: s.Title, Link: layout.Under(path, "install") + "?stack=" + s.Slug, On: s.Slug == chosen})
	}
	return out
}
