package operator

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/auth/session"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/store/state"
)

const issuersPath = home + "/issuers"

type issuersData struct {
	Page page
	Rows []issuerRow
	// Typed are the fields of the form, as typed before a problem.
	Typed issuerForm
}

type issuerRow struct {
	ISS, Name  string
	Keys       string
	Limits     []string
	Configured bool // in the configuration file, where it is changed
}

type issuerForm struct {
	ISS, Name, Keys, Clients, Domains, AMR, Audiences, Algs string
	Private                                                 bool
}

// issuers lists the trusted identity providers.
func (h *Handler) issuers(v *layout.Visit, status int, wrong problem, typed issuerForm) error {
	d := issuersData{Page: h.page(v, "Issuers", wrong), Typed: typed}
	if v.R.Method == http.MethodGet {
		d.Page.Notice = issuerNotice(v.R.URL.Query().Get("done"), v.R.URL.Query().Get("revoked"))
	}
	list, err := h.Agents.Issuers.List(v.R.Context())
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	for _, i := range list {
		row := issuerRow{ISS: i.ISS, Name: i.Name, Keys: i.JWKSURI, Configured: h.configured(i.ISS)}
		for _, l := range []struct {
			name   string
			values []string
		}{{"clients", i.ClientIDs}, {"e-mail domains", i.EmailDomains}, {"sign-in methods", i.AMR}, {"audiences", i.Audiences}, {"algorithms", i.Algs}} {
			if len(l.values) > 0 {
				row.Limits = append(row.Limits, l.name+": "+strings.Join(l.values, ", "))
			}
		}
		if i.AllowPrivate {
			row.Limits = append(row.Limits, "keys may be on a private network, over http")
		}
		d.Rows = append(d.Rows, row)
	}
	h.Pages.Show(v.W, status, "operator-issuers", "Issuers · Operator", d)
	return nil
}

// issuerNotice is the notice after an action; revoked is the number of revoked agents.
func issuerNotice(done, revoked string) string {
	switch done {
	case "added":
		return "Issuer trusted."
	case "removed":
		if n, err := strconv.Atoi(revoked); err == nil && n >= 0 {
			return "Issuer removed. Agents revoked: " + strconv.Itoa(n) + "."
		}
		return "Issuer removed. Its agents stay until their tokens and assertions expire."
	}
	return ""
}

// configured reports whether the configuration file names an issuer.
func (h *Handler) configured(iss string) bool {
	return slices.ContainsFunc(h.Agents.Issuers.Configured, func(i trust.Issuer) bool { return i.ISS == iss })
}

// addIssuer trusts an issuer, as firstpick admin issuer add does.
func (h *Handler) addIssuer(v *layout.Visit) error {
	field := func(name string) string { return strings.TrimSpace(v.R.PostFormValue(name)) }
	typed := issuerForm{
		ISS: field("iss"), Name: field("name"), Keys: field("keys"), Clients: field("clients"), Domains: field("domains"), AMR: field("amr"),
		Audiences: field("audiences"), Algs: field("algs"), Private: field("private") != "",
	}
	issuer := trust.Issuer{
		ISS: typed.ISS, Name: typed.Name, JWKSURI: typed.Keys, Algs: words(typed.Algs), ClientIDs: words(typed.Clients), EmailDomains: words(typed.Domains),
		AMR: words(typed.AMR), Audiences: words(typed.Audiences), AllowPrivate: typed.Private,
	}
	err := issuer.Check()
	if err == nil && h.configured(issuer.ISS) {
		err = errors.New("the configuration file has this issuer and takes precedence: change it there")
	}
	if err != nil {
		return h.issuers(v, http.StatusUnprocessableEntity, problem{Form: "add", Text: err.Error()}, typed)
	}
	if err := h.Agents.AddIssuer(v.R.Context(), v.Operator(), issuer); err != nil {
		return h.Agents.DB.APIError(err)
	}
	session.See(v.W, v.R, address(issuersPath, "done", "added"))
	return nil
}

// removeIssuer trusts an issuer no longer, as firstpick admin issuer remove does.
func (h *Handler) removeIssuer(v *layout.Visit) error {
	revoke := v.R.PostFormValue("revoke") != ""
	ctx, cancel, err := whole(v)
	if err != nil {
		return err
	}
	defer cancel()
	ended, err := h.Agents.RemoveIssuer(ctx, v.Operator(), v.R.PostFormValue("iss"), revoke)
	if errors.Is(err, state.ErrNotFound) {
		return h.issuers(v, http.StatusUnprocessableEntity, problem{Form: "list", Text: "The store has no such issuer. An issuer of the configuration file is removed there."}, issuerForm{})
	}
	if err != nil {
		return h.Agents.DB.APIError(err)
	}
	count := ""
	if revoke {
		count = strconv.Itoa(ended)
	}
	session.See(v.W, v.R, address(issuersPath, "done", "removed", "revoked", count))
	return nil
}

// words splits a list with commas or blanks between.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
}
