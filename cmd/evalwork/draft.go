package evalwork

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/propose"
	"github.com/firstpick/firstpick/server/evals/evals"
)

const (
	maxPrompts     = 500
	maxTokens      = 2000 // of an answer
	defaultRepeats = 3
)

// Draft implements evals.Proposer.
func (c *Checker) Draft(own []byte, p *evals.Product) (*evals.Draft, []evals.Issue) {
	cat, err := overlay(c.Catalog, own)
	if err != nil {
		return nil, atMost(issuesOf(err))
	}
	d := &evals.Draft{Product: *p}
	category, ok := cat.Category(p.Category)
	if !ok {
		return nil, []evals.Issue{{Message: fmt.Sprintf("no category %q in the catalogue; choose one of the list", p.Category)}}
	}
	tool, err := c.place(d, cat, category, own)
	if err != nil {
		return nil, prefixed("the entry: ", err)
	}
	if d.Catalog != nil {
		if cat, err = overlay(c.Catalog, d.Catalog); err != nil {
			return nil, prefixed("the entry: ", err)
		}
		category, _ = cat.Category(p.Category)
	}
	rivals := otherTools(category, tool)
	if len(p.Rivals) == 0 {
		d.Rivals = toolNames(category, rivals)
	} else {
		rivals = rivalsFirst(category, rivals, p.Rivals)
	}
	draft := propose.Draft{Name: cmp.Or(p.Eval, tool), Category: p.Category, Truth: propose.Truth(tool, rivals)}
	var stored eval.Eval
	if e, err := eval.Parse(evalName, p.Stored); err == nil {
		stored = *e
	}
	if i := slices.IndexFunc(stored.Agents, func(a eval.Agent) bool { return a.Kind == eval.KindSimulated }); i >= 0 { // the same rehearsal again
		draft.Truth, draft.Reasons = propose.FormatTruth(stored.Agents[i].Truth), stored.Agents[i].Reasons
	}
	if draft.Prompts, err = promptsOf(category, p.Prompts, stored.Prompts); err != nil {
		return nil, []evals.Issue{{Message: err.Error()}}
	}
	d.Prompts = nil
	for _, prompt := range draft.Prompts {
		d.Prompts = append(d.Prompts, strings.Join(strings.Fields(prompt.Text), " "))
	}
	d.Repeats = cmp.Or(p.Repeats, defaultRepeats)
	draft.Repeats = d.Repeats
	merged := &Checker{Catalog: cat, Prices: c.Prices, Policy: c.Policy}
	write := func(agents []evals.ProposedAgent) ([]byte, evals.Checked, []evals.Issue) {
		draft.Agents = nil
		for _, a := range agents {
			draft.Agents = append(draft.Agents, agentRow(a))
		}
		source, err := draft.Render(evalName, category)
		if err != nil {
			return nil, evals.Checked{}, atMost(issuesOf(err))
		}
		checked, wrong := merged.Check(source)
		return source, checked, wrong
	}
	var wrong []evals.Issue
	if d.Source, d.Checked, wrong = write(p.Agents); len(wrong) > 0 {
		return nil, wrong
	}
	endpoints := slices.DeleteFunc(slices.Clone(p.Agents), func(a evals.ProposedAgent) bool { return a.BaseURL == "" })
	for _, a := range append(c.Models(), endpoints...) {
		_, one, _ := write([]evals.ProposedAgent{a})
		d.Costs = append(d.Costs, evals.Cost{Expected: one.ExpectedUSD, Worst: one.WorstUSD, Took: one.Took})
	}
	sizes := sizes()
	if !slices.Contains(sizes, d.Repeats) {
		sizes = append(sizes, d.Repeats)
		slices.Sort(sizes)
	}
	for _, draft.Repeats = range sizes {
		if _, checked, wrong := write(p.Agents); len(wrong) == 0 { // a size above the limits is not offered
			d.Sizes = append(d.Sizes, evals.Size{Repeats: draft.Repeats, Checked: checked})
		}
	}
	return d, nil
}

// sizes are the repeats of each prompt that a form offers.
func sizes() []int { return []int{1, defaultRepeats, 9} }

// Models implements evals.Proposer.
func (c *Checker) Models() (out []evals.ProposedAgent) {
	for _, text := range propose.Agents(func(string) string { return "set" }) {
		kind, model, _ := strings.Cut(text, ":")
		k, _ := eval.KindNamed(kind)
		key, _, _ := strings.Cut(k.KeyEnv, " ")
		out = append(out, evals.ProposedAgent{Kind: kind, Model: model, Key: key})
	}
	return out
}

// Prompts implements evals.Proposer.
func (c *Checker) Prompts(source []byte) (out []string) {
	e, err := eval.Parse(evalName, source)
	if err != nil {
		return nil
	}
	for _, p := range e.Prompts {
		out = append(out, strings.Join(strings.Fields(p.Text), " "))
	}
	return out
}

// place puts the product into the catalogue, unless it is there, and returns its slug.
func (c *Checker) place(d *evals.Draft, cat *catalog.Catalog, category *catalog.Category, own []byte) (string, error) {
	// A form that is sent twice finds what the first one stored.
	if i := slices.IndexFunc(category.Entries, func(e catalog.Entry) bool {
		return d.Known && e.Tool.Slug == d.Slug || !d.Known && strings.EqualFold(e.Tool.Name, d.Name)
	}); i >= 0 {
		d.Known, d.Slug, d.Name = true, category.Entries[i].Tool.Slug, category.Entries[i].Tool.Name
		return d.Slug, nil
	}
	if d.Known { // in another category
		return d.Slug, insert(d, own, catalog.NewMember{Slug: d.Slug, Ref: true})
	}
	packages := map[catalog.Ecosystem][]string{}
	for _, text := range d.Packages {
		eco, name, ok := catalog.CutPackage(text)
		if !ok {
			return "", fmt.Errorf("package %q: want ECOSYSTEM:NAME, as in npm:acme; ecosystems are %s", text, ecosystems())
		}
		packages[eco] = append(packages[eco], name)
	}
	reader := propose.NewReader(cat, propose.BuiltIn)
	found := propose.Product{Name: d.Name, Aliases: d.Aliases, Domains: d.Domains, Packages: packages, Category: d.Category}
	if found.Slug = reader.Slug(found); found.Slug == "" {
		return "", fmt.Errorf("name %q has no Latin letter or digit; give the product a domain", d.Name)
	}
	d.Slug = found.Slug
	return d.Slug, insert(d, own, reader.Member(found))
}

// insert puts an entry into the own catalogue.
func insert(d *evals.Draft, own []byte, m catalog.NewMember) (err error) {
	if d.Entry, err = m.Line(); err != nil {
		return err
	}
	if d.Catalog, err = catalog.InsertOverlay(own, d.Category, m); err != nil {
		return fmt.Errorf("%w; add it on the page of the catalogue", err)
	}
	return nil
}

func ecosystems() string {
	var names []string
	for _, eco := range catalog.Ecosystems() {
		names = append(names, string(eco))
	}
	return strings.Join(names, ", ")
}

// prefixed returns the issues of an error without lines: they are of a text that nobody saw.
func prefixed(prefix string, err error) []evals.Issue {
	list := atMost(issuesOf(err))
	for i := range list {
		list[i] = evals.Issue{Message: prefix + list[i].Message}
	}
	return list
}

func otherTools(c *catalog.Category, tool string) (slugs []string) {
	for _, e := range c.Entries {
		if e.Tool.Slug != tool {
			slugs = append(slugs, e.Tool.Slug)
		}
	}
	return slugs
}

// rivalsFirst returns slugs, those of tools with these names first.
func rivalsFirst(c *catalog.Category, slugs, names []string) []string {
	at := func(slug string) int {
		e, _ := c.Entry(slug)
		if i := slices.Index(names, e.Tool.Name); i >= 0 {
			return i
		}
		return len(names)
	}
	sorting.StableFunc(slugs, func(a, b string) int { return cmp.Compare(at(a), at(b)) })
	return slugs
}

// promptsOf returns prompts with these texts: those of a stored eval and the built-in ones with
// their ids, families and tags. Without texts they are those that the category begins with.
func promptsOf(c *catalog.Category, texts []string, stored []eval.Prompt) ([]eval.Prompt, error) {
	var library []eval.Prompt
	if l, err := eval.Library(fixtures.Files(), c.Slug); err == nil {
		library = l.Prompts
	}
	known, _ := propose.Prompts(c, library)
	if len(texts) == 0 {
		return known, nil
	}
	if len(texts) > maxPrompts {
		return nil, fmt.Errorf("%d prompts; this form takes at most %d", len(texts), maxPrompts)
	}
	known = slices.Concat(stored, known, library)
	var out []eval.Prompt
	own := 0 // the number of the last new prompt
	for _, text := range texts {
		at := slices.IndexFunc(known, func(p eval.Prompt) bool { return strings.Join(strings.Fields(p.Text), " ") == text })
		if at < 0 {
			name := ""
			for name == "" || slices.ContainsFunc(known, func(p eval.Prompt) bool { return p.ID == name }) {
				own++
				name = fmt.Sprintf("own-%d", own)
			}
			out = append(out, eval.Prompt{ID: name, Family: name, Text: text})
		} else if !slices.ContainsFunc(out, func(p eval.Prompt) bool { return p.ID == known[at].ID }) {
			out = append(out, known[at])
		}
	}
	return out, nil
}

func agentRow(a evals.ProposedAgent) string {
	row := fmt.Sprintf("{name: %q, kind: %s, model: %q, max_tokens: %d", agentName(a.Model), a.Kind, a.Model, maxTokens)
	if a.BaseURL != "" {
		row += fmt.Sprintf(", base_url: %q, api_key_env: %s, price: {input_per_mtok: %v, output_per_mtok: %v}", a.BaseURL, a.Key, a.Input, a.Output)
	}
	return row + "}"
}

// agentName returns a model's name as the name of an agent.
func agentName(model string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == ':' {
			return '-'
		}
		return r
	}, model)
}
