package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/propose"
)

// drafted lets a model draft the prompts: one request, whose worst case is printed and held
// against the cap before it is sent. Lint decides which of them stay.
func (o *fromOptions) drafted(ctx context.Context, p propose.Product, category *catalog.Category, library []eval.Prompt) ([]eval.Prompt, error) {
	spec, err := drafterOf(o.drafter)
	if err != nil {
		return nil, err
	}
	table, err := o.loadPrices()
	if err != nil {
		return nil, err
	}
	built, err := o.builder(ctx, o.env.Getenv, table, "init")(spec)
	if err != nil {
		return nil, badInput(err)
	}
	d := propose.Drafting{Agent: built, MaxCostUSD: o.draftCost}
	worst, err := d.Prepare(category, p)
	if errors.Is(err, propose.ErrOverCap) {
		return nil, usageErr(fmt.Sprintf("--draft-cost %.2f allows it", worst+0.005), "--draft %s: at most %.4f USD, and --draft-cost is %.4f: %w", o.drafter, worst, o.draftCost, err)
	}
	if err != nil {
		return nil, usageErr("a price of the model in the file of the key prices, or another model", "--draft %s: %w", o.drafter, err)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "drafting with %s: one request, at most %.4f USD\n", spec.Model, worst)
	texts, cost, err := d.Ask(ctx)
	paid := fmt.Sprintf("at most %.4f USD", worst)
	if cost != nil {
		paid = fmt.Sprintf("%.4f USD", *cost)
	}
	if err != nil {
		return nil, fmt.Errorf("--draft %s (cost: %s): %w", o.drafter, paid, err)
	}
	prompts, refused := propose.Drafted(category, texts, library)
	_, _ = fmt.Fprintf(o.env.Stderr, "drafted %s for %s; %d left out by lint\n", counted(len(texts), "prompt"), paid, refused)
	return prompts, nil
}

// drafterOf reads KIND:MODEL or KIND:MODEL@URL.
func drafterOf(text string) (eval.Agent, error) {
	name, model, _ := strings.Cut(text, ":")
	model, base, _ := strings.Cut(model, "@")
	var names []string
	for _, k := range eval.Kinds() {
		if k.Class == eval.ClassModel {
			names = append(names, k.Name)
			if k.Name == name && model != "" {
				return eval.Agent{Name: "draft", Kind: name, Model: model, BaseURL: base, MaxTokens: propose.DraftTokens}, nil
			}
		}
	}
	return eval.Agent{}, usageErr(nearest.Hint(name, names), "--draft: want KIND:MODEL of a model behind an API (%s), not %q", strings.Join(names, ", "), text)
}
