package evalpages

import (
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
	"github.com/firstpick/firstpick/server/kit/traceview"
)

type settingsData struct {
	Page      layout.Page
	Notice    string
	Problem   problem
	Stale     bool // keys ask for a new sign-in
	Paid      bool
	Plan      string // empty where the server has no plans
	Keys      []keyRow
	Revoked   []keyRow
	Scopes    []traceview.Term
	Label     string // as it was typed
	Providers []providerRow
	Missing   []string // keys that evals need and that are not set
	Known     []string // suggestions
	Name      string   // of a provider key, as it was typed or asked for
	Hosts     string   // that it may be sent to, likewise
}

// A problem is a validation error of a form.
type problem struct{ Form, Field, Text string }

type keyRow struct{ ID, Label, Shown, Scopes, Created, Used, Revoked string }

type providerRow struct{ Name, Shown, Hosts, Updated string }

// scopeTerms returns the scopes of a key.
func scopeTerms() []traceview.Term {
	return []traceview.Term{
		{Key: evals.ScopeRead, Name: "Read", Means: "evals, runs, scores and traces"},
		{Key: evals.ScopeRun, Name: "Run", Means: "change evals and provider keys, start and cancel runs (spends money)"},
	}
}

// settingsNotices returns the notices after an action.
func settingsNotices() []traceview.Term {
	return []traceview.Term{
		{Key: "revoked", Name: "Key revoked."},
		{Key: "provider", Name: "Provider key stored. New runs use it."},
		{Key: "bound", Name: "Provider key bound to these hosts. New runs send it to them only."},
		{Key: "removed", Name: "Provider key removed. Active runs keep it until they end."},
	}
}

func (v *visit) settings() error { return v.showSettings(http.StatusOK, problem{}) }

const day = "2 Jan 2006"

func (v *visit) showSettings(status int, wrong problem) error {
	ctx := v.R.Context()
	d := settingsData{
		Page: v.Settings("evals", nil), Problem: wrong, Stale: !v.Fresh(), Paid: v.paid(), Scopes: scopeTerms(),
		Known: []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY"},
	}
	if v.h.Evals.Plans {
		d.Plan = v.Workspace.Plan
	}
	if v.R.Method == http.MethodGet {
		d.Notice, d.Name = "", v.R.URL.Query().Get("provider")
		for _, t := range settingsNotices() {
			if t.Key == v.R.URL.Query().Get("done") {
				d.Notice = t.Name
			}
		}
	} else {
		d.Label, d.Name, d.Hosts = v.R.PostFormValue("label"), v.R.PostFormValue("name"), v.R.PostFormValue("hosts")
	}
	keys, err := v.h.Evals.Keys(ctx, v.actor())
	if err != nil {
		return err
	}
	for _, k := range keys {
		if row := newKey(k); k.RevokedAt == nil {
			d.Keys = append(d.Keys, row)
		} else {
			d.Revoked = append(d.Revoked, row)
		}
	}
	providers, err := v.h.Evals.ProviderKeys(ctx, v.actor())
	if err != nil {
		return err
	}
	for _, p := range providers {
		if v.R.Method == http.MethodGet && p.Name == d.Name {
			d.Hosts = strings.Join(p.Hosts, " ")
		}
		d.Providers = append(d.Providers, providerRow{p.Name, p.Shown, strings.Join(p.Hosts, ", "), p.UpdatedAt.UTC().Format(day)})
	}
	if d.Missing, err = v.missingKeys(); err != nil {
		return err
	}
	return v.Show(status, "workspace-ev-keys", "Keys for evals", d)
}

// missingKeys returns the provider keys that evals of the workspace need and that are
// not set, by name.
func (v *visit) missingKeys() ([]string, error) {
	list, _, err := v.h.Evals.Evals(v.R.Context(), v.actor(), "", lookBack)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list {
		out = append(out, e.MissingKeys...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func newKey(k *evals.Key) keyRow {
	row := keyRow{ID: k.ID, Label: k.Label, Shown: k.Shown, Scopes: strings.Join(k.Scopes, ", "), Created: k.CreatedAt.UTC().Format(day), Used: "never"}
	if row.Label == "" {
		row.Label = "No label"
	}
	if k.LastUsedAt != nil {
		row.Used = chart.Minute(*k.LastUsedAt)
	}
	if k.RevokedAt != nil {
		row.Revoked = k.RevokedAt.UTC().Format(day)
	}
	return row
}

// again shows the settings with the problem of a form, if err is one.
func (v *visit) again(form string, err error) error {
	if e := wrong(err); e != nil {
		return v.showSettings(http.StatusUnprocessableEntity, problem{form, fieldOf(e.Reason), e.Description})
	}
	return err
}

// fieldOf names the field that a provider key is refused for; empty if absent.
func fieldOf(reason string) string {
	return map[string]string{"invalid_name": "name", "invalid_hosts": "hosts", "hosts_required": "hosts", "invalid_value": "value"}[reason]
}

func (v *visit) done(what string) error { return v.see(v.at("settings", "evals") + "?done=" + what) }

type mintedData struct {
	Page          layout.Page
	Secret, Label string
	Scopes        string
	Run           bool // it may run
}

func (v *visit) createKey() error {
	scopes := v.R.PostForm["scope"]
	if len(scopes) == 0 {
		return v.again("keys", apierr.InvalidRequest("Choose at least one scope."))
	}
	k, token, err := v.h.Evals.CreateKey(v.R.Context(), v.actor(), evals.KeyRequest{Label: v.R.PostFormValue("label"), Scopes: scopes})
	if err != nil {
		return v.again("keys", err)
	}
	return v.Show(http.StatusOK, "workspace-ev-key", "Your new key", mintedData{
		Page: v.Settings("evals", nil), Secret: token, Label: k.Label, Scopes: strings.Join(k.Scopes, ", "), Run: slices.Contains(k.Scopes, evals.ScopeRun),
	})
}

func (v *visit) revokeKey() error {
	if err := v.h.Evals.RevokeKey(v.R.Context(), v.actor(), v.R.PostFormValue("key")); err != nil {
		return v.again("keys", err)
	}
	return v.done("revoked")
}

func (v *visit) setProvider() error {
	change := evals.KeyChange{Name: strings.TrimSpace(v.R.PostFormValue("name")), Value: v.R.PostFormValue("value")}
	if hosts := strings.FieldsFunc(v.R.PostFormValue("hosts"), func(r rune) bool { return r == ',' || unicode.IsSpace(r) }); len(hosts) > 0 {
		change.Hosts = hosts
	}
	done := "provider"
	if change.Value == "" && change.Hosts != nil {
		done = "bound"
	}
	if _, err := v.h.Evals.SetProviderKey(v.R.Context(), v.actor(), change); err != nil {
		return v.again("providers", err)
	}
	return v.done(done)
}

func (v *visit) dropProvider() error {
	if err := v.h.Evals.DropProviderKey(v.R.Context(), v.actor(), v.R.PostFormValue("name")); err != nil {
		return v.again("providers", err)
	}
	return v.done("removed")
}
