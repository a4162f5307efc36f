package evalpages

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

// siteAddress returns an address as people type it with its scheme.
func siteAddress(text string) string {
	text = strings.TrimSpace(text)
	if text != "" && !strings.Contains(text, "://") {
		text = "https://" + text
	}
	return text
}

// product returns the product of the form.
func (v *visit) product() *evals.Product {
	get := v.R.PostFormValue
	p := &evals.Product{
		Name: strings.TrimSpace(get("name")), Slug: get("slug"), Known: get("known") != "", Category: get("category"),
		Aliases: listed(get("aliases"), ","), Domains: listed(get("domains"), ", "), Packages: listed(get("packages"), ", "),
		Nearest: listed(get("nearest"), ","), Rivals: listed(get("rivals"), ""), Read: listed(get("read"), ""),
	}
	p.Prompts = v.prompts()
	p.Named, _ = strconv.Atoi(get("named"))
	p.Repeats, _ = strconv.Atoi(get("repeats"))
	p.Eval = get("eval")
	return p
}

// prompts returns the texts of the form: a field for each, without one that is to be removed,
// then those of the text that has one on each line.
func (v *visit) prompts() (out []string) {
	add := func(text string) {
		if text = strings.Join(strings.Fields(text), " "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	remove := v.R.PostFormValue("remove")
	for i, text := range v.R.PostForm["prompt"] {
		if strconv.Itoa(i+1) != remove {
			add(text)
		}
	}
	for _, text := range listed(v.R.PostFormValue("prompts"), "") {
		add(text)
	}
	return out
}

// A promptRow is a field of the form with what is wrong with it.
type promptRow struct {
	Number    int
	Text      string
	Problem   string
	Autofocus bool
	Action    string // of the form
}

// ofPrompt matches what an issue says of a prompt without an id of its own.
const ofPrompt = `prompt "own-`

// promptRows returns the fields of the prompts, each with its issues, and the issues of no
// field.
func promptRows(texts []string, issues []evals.Issue) (rows []promptRow, further []evals.Issue) {
	for i, text := range texts {
		rows = append(rows, promptRow{Number: i + 1, Text: text})
	}
	for _, issue := range issues {
		_, after, found := strings.Cut(issue.Message, ofPrompt)
		number, problem, closed := strings.Cut(after, `" `)
		n, err := strconv.Atoi(number)
		if !found || !closed || err != nil || n < 1 || n > len(rows) {
			further = append(further, issue)
			continue
		}
		if row := &rows[n-1]; row.Problem == "" {
			row.Problem = "This prompt " + problem + "."
		}
	}
	return rows, further
}

// listed splits a text at line ends and further characters.
func listed(text, further string) (out []string) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || strings.ContainsRune(further, r) }) {
		if part = strings.TrimSpace(part); part != "" && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

// models returns the models to ask: at first those whose keys are set.
func (v *visit) models(set []*evals.ProviderKey, first bool) (out []modelRow) {
	for _, m := range v.h.Evals.Models() {
		row := modelRow{Kind: m.Kind, Model: m.Model, Key: m.Key, Vendor: cmp.Or(vendors()[m.Kind], m.Kind)}
		row.Set = slices.ContainsFunc(set, func(k *evals.ProviderKey) bool { return k.Name == m.Key })
		typed := v.typed("key_"+m.Key) != ""
		row.On = first && row.Set || typed || slices.Contains(v.R.PostForm["agent"], m.Kind)
		out = append(out, row)
	}
	return out
}

// endpoint returns the agent of another endpoint; nil if absent.
func (v *visit) endpoint(d *measureData) (*evals.ProposedAgent, error) {
	get := v.typed
	if !v.R.PostForm.Has("endpoint_url") {
		return nil, nil
	}
	d.Endpoint = endpointRow{URL: get("endpoint_url"), Model: get("endpoint_model"), Input: get("endpoint_input"), Output: get("endpoint_output")}
	if d.Endpoint.URL == "" && d.Endpoint.Model == "" {
		return nil, nil
	}
	host, err := evals.KeyHost(d.Endpoint.URL)
	if d.Refused = "endpoint-url"; err != nil {
		return nil, apierr.InvalidRequest("The address of the endpoint must be an http or https address, such as https://openrouter.ai/api/v1.")
	}
	if d.Refused = "endpoint-model"; d.Endpoint.Model == "" {
		return nil, apierr.InvalidRequest("Name the model to ask at " + host + ".")
	}
	a := &evals.ProposedAgent{Kind: endpointKind, Model: d.Endpoint.Model, Key: evals.KeyNameFor(host), BaseURL: d.Endpoint.URL}
	for _, p := range []struct {
		field, text string
		to          *float64
	}{{"endpoint-input", d.Endpoint.Input, &a.Input}, {"endpoint-output", d.Endpoint.Output, &a.Output}} {
		d.Refused = p.field
		if *p.to, err = dollars(p.text); err != nil || *p.to < 0 || *p.to > 1e6 {
			return nil, apierr.InvalidRequest("The prices of the endpoint must be numbers of US dollars per million tokens, such as 5 or 0.25.")
		}
	}
	d.Refused = ""
	return a, nil
}

func agents(models []modelRow, endpoint *evals.ProposedAgent) (out []evals.ProposedAgent) {
	for _, m := range models {
		if m.On {
			out = append(out, evals.ProposedAgent{Kind: m.Kind, Model: m.Model, Key: m.Key})
		}
	}
	if endpoint != nil {
		out = append(out, *endpoint)
	}
	return out
}

// keys returns the provider keys that were typed.
func (v *visit) keys(d *measureData, endpoint *evals.ProposedAgent) (out []evals.KeyChange) {
	for _, m := range d.Models {
		if value := v.typed("key_" + m.Key); value != "" {
			out = append(out, evals.KeyChange{Name: m.Key, Value: value})
		}
	}
	if value := v.typed("endpoint_key"); value != "" && endpoint != nil {
		c := evals.KeyChange{Name: endpoint.Key, Value: value}
		if host, err := evals.KeyHost(endpoint.BaseURL); err == nil && !slices.Contains(evals.DefaultHosts(endpoint.Key), host) {
			c.Hosts = []string{host}
		}
		out = append(out, c)
	}
	return out
}

// keyless names the first of the chosen models whose key is neither set nor typed, and the field
// for it; empty if absent.
func (v *visit) keyless(d *measureData) (name, field string) {
	for _, key := range d.Draft.Missing {
		i := slices.IndexFunc(d.Models, func(m modelRow) bool { return m.Key == key })
		switch {
		case i < 0 && v.typed("endpoint_key") == "":
			return "the endpoint", "endpoint-key"
		case i >= 0 && v.typed("key_"+key) == "":
			return d.Models[i].Vendor, "key-" + key
		}
	}
	return "", ""
}

// typed returns a field of the form.
func (v *visit) typed(name string) string { return strings.TrimSpace(v.R.PostFormValue(name)) }
