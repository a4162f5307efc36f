package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/propose"
)

// A draft is an eval file with built-in prompts, to be edited.
type draft struct{ propose.Draft }

// noLibrary reports a category without built-in prompts, such as one of an own catalogue.
func noLibrary(category string) error {
	return usageErr("write evals/"+category+".yaml with prompts of your own; /docs/own-catalogue of a server has an example", "category %q has no built-in prompts", category)
}

// newDraft drafts an eval of a category with n of its built-in prompts, spread evenly;
// 0 is all.
func newDraft(c *catalog.Category, n int) (*draft, error) {
	library, err := eval.Library(fixtures.Files(), c.Slug)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noLibrary(c.Slug)
	}
	if err != nil {
		return nil, err
	}
	all := len(library.Prompts)
	if n < 0 || n > all {
		return nil, usageErr("", "--prompts must be 1 to %d (got %d)", all, n)
	}
	if n == 0 {
		n = all
	}
	d := &draft{propose.Draft{Name: c.Slug, Category: c.Slug, Truth: "{"}}
	for i := range n {
		d.Prompts = append(d.Prompts, library.Prompts[i*all/n])
	}
	for _, entry := range c.Entries[:min(3, len(c.Entries))] {
		d.Truth += entry.Tool.Slug + ": 0.3, "
	}
	d.Truth += "diy: 0.1}"
	return d, nil
}

// addAgent adds an agent in the form KIND:MODEL, with limits that a budget needs.
func (d *draft) addAgent(text string) error {
	kind, model, _ := strings.Cut(text, ":")
	k, ok := eval.KindNamed(kind)
	if !ok {
		var names []string
		for _, k := range eval.Kinds() {
			names = append(names, k.Name)
		}
		return usageErr(nearest.Hint(kind, names), "--agents: agent kind %q is unknown", kind)
	}
	if model == "" || !k.HasField("model") || (k.Requires != "" && k.Requires != "model") {
		return usageErr("as in anthropic:claude-sonnet-4-5; other agents are added in the file", "--agents: want KIND:MODEL of a kind that needs no more, not %q", text)
	}
	row := fmt.Sprintf("{name: %q, kind: %s, model: %q", strings.ReplaceAll(model, " ", "-"), kind, model)
	switch {
	case k.HasField("trial_cost_usd"):
		row += ", trial_cost_usd: 1.50"
	case k.HasField("max_tokens"):
		row += ", max_tokens: 2000"
	}
	d.Agents = append(d.Agents, row+"}")
	return nil
}

// render returns the draft as an eval file that passes the checks of a run.
func (d *draft) render(c *catalog.Category) ([]byte, error) {
	text, err := d.Render(filepath.Join("evals", d.Name+".yaml"), c)
	return text, badInput(err)
}
