package evalpages

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/console/layout"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/chart"
)

// endpointKind is the kind of agent of any other endpoint.
const endpointKind = "openai-chat"

// The prices of an endpoint until somebody types others, in USD per million tokens: high ones,
// for they limit what a run may spend.
const (
	endpointInput  = 5
	endpointOutput = 15
)

type measureData struct {
	Page              layout.Page
	Paid, Fresh       bool
	Action            string
	Settings, Catalog string
	Address           string
	Problem           string
	Refused           string // the id of the field that Problem is about; empty if absent
	Beside            string // what is wrong, at that field
	Issues            []evals.Issue
	Note              string
	Product           *evals.Product // nil before a site was read
	Prompts           []promptRow
	Wrong             int         // of these, those with a problem
	Adding            bool        // an empty field follows
	Folded            []promptRow // more of the prompts, behind a click
	Unfolded          bool
	Category          string // that the prompts are of
	Categories        []choice
	Models            []modelRow
	Endpoint          endpointRow
	Draft             *evals.Draft // nil while something is wrong
	Plan              planView
	Planned           string // the models of the plan that is shown; empty without one
	Budget, Once      string
}

// A modelRow is a model that may be asked.
type modelRow struct {
	Kind, Vendor, Model string
	Key                 string // the name of its provider key
	Set, On             bool
	Cost                string
}

// An endpointRow is the form of another endpoint.
type endpointRow struct{ URL, Model, Input, Output, Cost string }

// vendors returns the names of the kinds of models.
func vendors() map[string]string {
	return map[string]string{"anthropic": "Anthropic", "openai-responses": "OpenAI", "gemini": "Google"}
}

func (v *visit) measureData() measureData {
	return measureData{
		Page: v.page(), Paid: v.paid(), Fresh: v.Fresh(), Action: v.at("evals", "measure"), Settings: v.at("settings", "evals"), Catalog: v.at("evals", "catalog"),
		Address: v.Workspace.Site, Once: v.h.Sessions.Secrets.ID("form_"),
		Endpoint: endpointRow{Input: strconv.Itoa(endpointInput), Output: strconv.Itoa(endpointOutput)},
	}
}

// promptsShown is how many prompts are shown before a click.
const promptsShown = 3

// followedProduct replaces a product of which nothing is known by the tool that the workspace
// follows, if a category has it, and says so; empty where it stays.
func (v *visit) followedProduct(p *evals.Product) (string, error) {
	if p.Unread == "" || p.Known {
		return "", nil
	}
	slug, err := v.ownTool()
	if err != nil {
		return "", err
	}
	for _, c := range v.categories() {
		e, ok := c.Entry(slug)
		if !ok {
			continue
		}
		*p = evals.Product{Name: e.Tool.Name, Slug: slug, Known: true, Category: c.Slug, Nearest: []string{c.Slug}, Unread: p.Unread, Repeats: p.Repeats}
		return "This is the proposal for " + e.Tool.Name + ", the tool that this workspace follows. What is missing is a model: enter a key under 4, then press Accept and run.", nil
	}
	return "", nil
}

// measureAgain is the address of the form that measures an eval with other models.
func (v *visit) measureAgain(eval string) string {
	return v.at("evals", "measure") + query("eval", eval)
}

// remeasure shows the form of a stored eval: the site of the product is not read. An eval without the
// own tool is changed as text.
func (v *visit) remeasure(id string) error {
	e, err := v.h.Evals.Eval(v.R.Context(), v.actor(), id)
	if err != nil {
		return err
	}
	slug, err := v.ownTool()
	if err != nil {
		return err
	}
	for _, c := range v.categories() {
		entry, ok := c.Entry(slug)
		if c.Slug != e.Category || !ok {
			continue
		}
		set, err := v.h.Evals.ProviderKeys(v.R.Context(), v.actor())
		if err != nil {
			return err
		}
		d := v.measureData()
		if d.Product, err = v.h.Evals.Again(e, entry.Tool.Name, slug); err != nil {
			return err
		}
		d.Category, d.Models = e.Category, v.models(set, true)
		d.Product.Agents = agents(d.Models, nil)
		if d.Draft, err = v.h.Evals.Draft(v.R.Context(), v.actor(), d.Product); err == nil {
			d.Draft.Kept = true
			return v.showMeasure(http.StatusOK, d)
		} else if wrong(err) == nil {
			return err
		}
	}
	return v.see(v.at("evals", e.ID, "edit") + "#real")
}

// measure shows the form that asks for the address of the own product, or that of a stored eval.
func (v *visit) measure() error {
	if id := v.R.URL.Query().Get("eval"); id != "" {
		return v.remeasure(id)
	}
	return v.Show(http.StatusOK, "workspace-ev-measure", "Measure your tool", v.measureData())
}

// propose reads the site of the own product, drafts how to measure it, and stores the draft
// once it is accepted.
func (v *visit) propose() error {
	d := v.measureData()
	if !d.Paid && v.R.PostFormValue("do") != "read" {
		return v.see(d.Action)
	}
	set, err := v.h.Evals.ProviderKeys(v.R.Context(), v.actor())
	if err != nil {
		return err
	}
	d.Address = siteAddress(v.R.PostFormValue("address"))
	do := v.R.PostFormValue("do")
	removed, _ := strconv.Atoi(v.R.PostFormValue("remove"))
	if d.Adding = do == "add"; d.Adding || removed > 0 {
		do = "check"
	}
	d.Unfolded = d.Adding || removed > promptsShown
	if do == "read" {
		if d.Product, err = v.h.Evals.Propose(v.R.Context(), v.actor(), d.Address, ""); err != nil {
			return v.unproposed(d, err)
		}
		if d.Product.Name == "" || d.Product.Unread != "" && !d.Product.Known && v.Workspace.Name != "" {
			d.Product.Name = v.Workspace.Title()
		}
		if d.Note, err = v.followedProduct(d.Product); err != nil {
			return err
		}
		d.Category = d.Product.Category
	} else {
		d.Product, d.Category = v.product(), v.R.PostFormValue("drafted")
	}
	d.Models = v.models(set, do == "read")
	endpoint, err := v.endpoint(&d)
	if err != nil {
		return v.unproposed(d, err)
	}
	d.Product.Agents = agents(d.Models, endpoint)
	if d.Product.Category == "" {
		d.Note = "No category was found for this site. Choose one: its tools are the rivals, and its prompts are adapted."
		if d.Product.Unread != "" {
			d.Note = "Check the name and the domain, then choose the category of your tool: its tools are the rivals, and its prompts are proposed."
		}
		return v.showMeasure(http.StatusOK, d)
	}
	if d.Product.Category != d.Category {
		if do != "read" {
			d.Note = "These are the rivals and prompts of the category that you chose. Nothing is stored yet."
		}
		d.Product.Prompts, d.Product.Rivals, d.Product.Named, d.Product.Eval, do = nil, nil, 0, "", "check"
	}
	rehearsal := len(d.Product.Agents) == 0
	if do == "save" || do == "rehearse" && rehearsal {
		return v.accept(d, endpoint, do == "rehearse", "accepted")
	}
	if d.Draft, err = v.h.Evals.Draft(v.R.Context(), v.actor(), d.Product); err != nil {
		return v.unproposed(d, err)
	}
	switch keyless, field := v.keyless(&d); {
	case do == "run" && rehearsal:
		d.Refused, d.Beside = "agent-"+d.Models[0].Kind, "No model is chosen."
		return v.unproposed(d, apierr.InvalidRequest("No model is chosen, so nothing is stored. Tick a model or enter a key, then press Accept and run; or run a rehearsal."))
	case do == "run" && keyless != "":
		where := "Enter it next to the model"
		d.Refused, d.Beside = field, "Enter the key of "+keyless+", or leave "+keyless+" out."
		if !d.Fresh {
			where = "Set it in the settings of the workspace"
		}
		return v.unproposed(d, apierr.InvalidRequest("The key of "+keyless+" is missing, so nothing is stored and no run is started. "+where+", then press Accept and run. Accept without a run stores the eval; you can add the key later."))
	case do == "run" && costs(d.Draft) && v.R.PostFormValue("planned") != planned(d.Product.Agents):
		return v.accept(d, endpoint, false, "confirm")
	case do == "run":
		return v.accept(d, endpoint, true, "accepted")
	case do == "rehearse":
		return v.unproposed(d, apierr.InvalidRequest("A model is chosen, so this run is not a rehearsal, and nothing is stored. Check its cost, enter a new key again, then press Accept and run."))
	}
	return v.showMeasure(http.StatusOK, d)
}

// unproposed shows the form again with what is wrong.
func (v *visit) unproposed(d measureData, err error) error {
	e := wrong(err)
	if e == nil {
		return err
	}
	if d.Issues = evals.Issues(err); d.Issues == nil {
		d.Problem, d.Beside = e.Description, cmp.Or(d.Beside, e.Description)
	}
	return v.showMeasure(http.StatusUnprocessableEntity, d)
}

// accept stores the draft, and starts a run of it if that was asked for; done is the notice of the
// eval's page where no run starts.
func (v *visit) accept(d measureData, endpoint *evals.ProposedAgent, run bool, done string) error {
	keys := v.keys(&d, endpoint)
	if len(keys) > 0 && !d.Fresh {
		return v.unproposed(d, apierr.InvalidRequest("Storing a key needs a sign-in within the last hour. Sign in again in another tab, then type the key again; or leave it empty and set it in the settings later."))
	}
	for _, k := range keys {
		if err := k.Check(); err != nil {
			if d.Refused = "key-" + k.Name; v.typed("key_"+k.Name) == "" {
				d.Refused = "endpoint-key"
			}
			return v.unproposed(d, err)
		}
	}
	budget, err := 0.0, error(nil)
	if d.Budget = v.typed("budget"); d.Budget != "" {
		if budget, err = dollars(d.Budget); err != nil {
			d.Refused = "budget"
			return v.unproposed(d, apierr.InvalidRequest("The budget must be a number of US dollars, such as 5 or 2.50."))
		}
	}
	e, err := v.h.Evals.Accept(v.R.Context(), v.actor(), d.Product, keys)
	if err != nil {
		d.Draft, _ = v.h.Evals.Draft(v.R.Context(), v.actor(), d.Product) // for the plan next to the problem
		return v.unproposed(d, err)
	}
	if !run || len(e.MissingKeys) > 0 {
		return v.see(v.at("evals", e.ID) + query("done", done, "budget", d.Budget) + "#start")
	}
	text, _ := budgetOf(e)
	if d.Budget == "" {
		if budget, err = strconv.ParseFloat(text, 64); err != nil {
			return v.see(v.at("evals", e.ID) + "?done=accepted#start")
		}
	}
	r, _, err := v.h.Evals.Start(v.R.Context(), v.actor(), evals.StartRequest{EvalID: e.ID, Version: e.Version, BudgetUSD: budget, IdempotencyKey: v.R.PostFormValue("once")})
	if problem := wrong(err); problem != nil {
		return v.showEval(http.StatusUnprocessableEntity, e, problem.Description, cmp.Or(d.Budget, text))
	} else if err != nil {
		return err
	}
	return v.see(v.at("runs", r.ID))
}

// showMeasure shows the form with all that can be computed of it.
func (v *visit) showMeasure(status int, d measureData) error {
	if d.Product == nil {
		return v.Show(status, "workspace-ev-measure", "Measure your tool", d)
	}
	if d.Draft != nil {
		d.Product, d.Category = &d.Draft.Product, d.Draft.Category
		for i, c := range d.Draft.Costs {
			text := "expected " + chart.MaybeMoney(c.Expected) + ", at most " + chart.MaybeMoney(c.Worst)
			if i < len(d.Models) {
				d.Models[i].Cost = text
			} else {
				d.Endpoint.Cost = text
			}
		}
		d.Plan, d.Planned = newPlan(d.Draft), planned(d.Product.Agents)
	}
	d.Prompts, d.Issues = promptRows(d.Product.Prompts, d.Issues)
	for _, row := range d.Prompts {
		if row.Problem != "" {
			d.Wrong++
			d.Unfolded = d.Unfolded || row.Number > promptsShown
		}
	}
	if d.Adding {
		d.Prompts = append(d.Prompts, promptRow{Number: len(d.Prompts) + 1, Autofocus: true})
	}
	for i := range d.Prompts {
		d.Prompts[i].Action = d.Action
	}
	if shown := promptsShown; len(d.Prompts) > shown+2 {
		d.Prompts, d.Folded = d.Prompts[:shown], d.Prompts[shown:]
	}
	for _, slug := range d.Product.Nearest {
		d.Categories = append(d.Categories, choice{Key: slug, Name: v.category(slug), On: slug == d.Product.Category})
	}
	for _, c := range slices.SortedFunc(slices.Values(v.categories()), byName) {
		if !slices.Contains(d.Product.Nearest, c.Slug) {
			d.Categories = append(d.Categories, choice{Key: c.Slug, Name: c.Name, On: c.Slug == d.Product.Category})
		}
	}
	return v.Show(status, "workspace-ev-measure", "Measure your tool", d)
}

func byName(a, b *catalog.Category) int {
	return cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
}
