package dashboard

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/setup"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/store/state"
)

type settingsData struct {
	Page                page
	Notice              string
	Problem             problem
	Stale               bool // irreversible actions need a new sign-in
	Name, Site          string
	Retention, Currency string
	Keys                []keyRow
	Kinds               []term
	Alerts              *alertsData // nil where this server has none
	Tool                *toolData   // nil where this server follows no tools
	Exports             []choice
	Erase               *layout.Erase // of the workspace
}

// A problem is a validation error of a form.
type problem struct{ Form, Text string }

// A keyRow is a collector key in the list.
type keyRow struct {
	ID, Label, Shown, Created, Used string
	Kind                            term
	Origins                         string
}

// keyKinds returns the kinds of collector keys.
func keyKinds() []term {
	return []term{
		{"secret", "Secret", "For your servers. Accepts all events."},
		{"publishable", "Publishable", "For browsers. Works only on the origins below, and not for conversions."},
		{"log", "Log", "For log drains and the log shipper."},
	}
}

// notices returns the notices after an action.
func notices() []term {
	return []term{
		{Key: "saved", Name: "Settings saved."},
		{Key: "revoked", Name: "Key revoked. It stops working within five seconds."},
		{Key: "mail-on", Name: "Mail alerts are on."},
		{Key: "mail-off", Name: "Mail alerts are off."},
		{Key: "removed", Name: "Webhook removed."},
		{Key: "tool", Name: "Your tool is saved. The overview shows its pick rate."},
		{Key: "no-tool", Name: "No tool is followed any more."},
	}
}

func (h *Handler) settings(v *visit) error { return v.settings(http.StatusOK, problem{}) }

// settings answers with the page of settings. After a problem the fields hold what
// was typed.
func (v *visit) settings(status int, wrong problem) error {
	w := v.Workspace
	d := settingsData{
		Page: v.page("Settings"), Problem: wrong, Stale: !v.Fresh(), Erase: v.eraseForm(),
		Name: w.Name, Site: w.Site, Retention: strconv.Itoa(w.RetentionDays), Currency: w.Currency, Kinds: keyKinds(),
	}
	if wrong.Form == "settings" {
		d.Name, d.Site, d.Retention, d.Currency = v.R.PostFormValue("name"), v.R.PostFormValue("site"), v.R.PostFormValue("retention"), v.R.PostFormValue("currency")
	}
	if t := of(notices(), v.R.URL.Query().Get("done")); t.Key != "" && v.R.Method == http.MethodGet && known(notices(), t.Key) {
		d.Notice = t.Name
	}
	keys, err := v.h.Agents.OwnKeys(v.R.Context(), v.Signed.Account, w.Slug)
	if err != nil {
		return err
	}
	for i := range keys {
		d.Keys = append(d.Keys, newKey(&keys[i]))
	}
	if d.Alerts, err = v.alerts(); err != nil {
		return err
	}
	if d.Tool, err = v.toolSettings(); err != nil {
		return err
	}
	for _, f := range []choice{{Name: "CSV", Link: "csv"}, {Name: "NDJSON", Link: "ndjson"}, {Name: "Parquet", Link: "parquet"}} {
		d.Exports = append(d.Exports, choice{Name: f.Name, Link: d.Page.Path + "/export?format=" + f.Link})
	}
	return v.Show(status, "workspace-settings", "Settings", d)
}

func known(terms []term, key string) bool {
	for _, t := range terms {
		if t.Key == key {
			return true
		}
	}
	return false
}

const dateOfKey = "2 Jan 2006"

func newKey(k *state.CollectorKey) keyRow {
	row := keyRow{
		ID: k.ID, Label: k.Label, Shown: k.Shown, Created: k.CreatedAt.UTC().Format(dateOfKey), Used: "never", Kind: of(keyKinds(), k.Kind),
		Origins: strings.Join(k.Origins, ", "),
	}
	if row.Label == "" {
		row.Label = "No label"
	}
	if !k.LastUsedAt.IsZero() {
		row.Used = k.LastUsedAt.UTC().Format(dateOfKey)
	}
	return row
}

// back redirects to the settings with a notice.
func (v *visit) back(done string) error {
	session.See(v.W, v.R, layout.Under("/workspaces", v.Workspace.Slug, "settings")+"?done="+done)
	return nil
}

// wrong shows the settings again with the problem of a form, if that is what
// err says.
func (v *visit) wrong(form string, err error) error {
	if e := apierr.Of(err); e.Status < http.StatusInternalServerError && e.Status != http.StatusNotFound {
		return v.settings(http.StatusUnprocessableEntity, problem{form, siteProblem(e, "Address")})
	}
	return err
}

// change stores the settings.
func (h *Handler) change(v *visit) error {
	days, err := strconv.Atoi(strings.TrimSpace(v.R.PostFormValue("retention")))
	if err != nil {
		return v.settings(http.StatusUnprocessableEntity, problem{"settings", "Retention must be a number of days."})
	}
	err = h.Agents.ChangeSettings(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, state.Settings{
		Name: v.R.PostFormValue("name"), Site: origin(v.R.PostFormValue("site")), RetentionDays: days, Currency: v.R.PostFormValue("currency"),
	})
	if err != nil {
		return v.wrong("settings", err)
	}
	return v.back("saved")
}

// A secretData holds a secret that is shown once.
type secretData struct {
	Page          page
	Kind          term
	Secret, Label string
	Origins       string
}

func (h *Handler) createKey(v *visit) error {
	req := registrations.KeyRequest{
		Kind: v.R.PostFormValue("kind"), Label: v.R.PostFormValue("label"),
		Origins: strings.FieldsFunc(v.R.PostFormValue("origins"), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }),
	}
	k, key, err := h.Agents.CreateOwnKey(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, req)
	if err != nil {
		return v.wrong("keys", err)
	}
	if _, ok := setup.Find(v.R.PostFormValue("stack")); ok {
		return v.showKey("Your new key", "Overview", key)
	}
	return v.show("workspace-key", "Your new key", secretData{
		Page: v.page("Settings"), Kind: of(keyKinds(), k.Kind), Secret: key, Label: k.Label, Origins: strings.Join(k.Origins, ", "),
	})
}

func (h *Handler) revokeKey(v *visit) error {
	if err := h.Agents.RevokeOwnKey(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, v.R.PostFormValue("key")); err != nil {
		return v.wrong("keys", err)
	}
	return v.back("revoked")
}

type erasedData struct {
	Page   page
	Events int
	Text   string
}

// erase erases the events of a person.
func (h *Handler) erase(v *visit) error {
	if v.R.PostFormValue("sure") == "" {
		return v.settings(http.StatusUnprocessableEntity, problem{"erase", "Tick the box: erasure cannot be undone."})
	}
	who := collect.Subject{}
	name := strings.TrimSpace(v.R.PostFormValue("name"))
	switch v.R.PostFormValue("by") {
	case "email":
		who.Email = name
	case "userRef":
		who.UserRef = name
	case "visitorToken":
		who.VisitorToken = name
	}
	n, err := h.Collect.Erase(v.R.Context(), v.Workspace.ID, who)
	if n > 0 || err == nil { // also a partial erasure
		if err := h.Agents.NoteOwnErasure(v.R.Context(), v.Caller(), v.Signed.Account, v.Workspace.Slug, n); err != nil {
			return err
		}
	}
	if err != nil {
		return v.wrong("erase", err)
	}
	d := erasedData{Page: v.page("Settings"), Events: n, Text: chart.Count(n, "event", "events") + " of this person deleted. The reports follow within seconds."}
	if n == 0 {
		d.Text = "No events under this name. E-mail addresses match in any spelling; references and tokens must match exactly."
	}
	return v.show("workspace-erased", "Erased", d)
}
