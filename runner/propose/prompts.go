package propose

import (
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// wanted is the number of prompts that an eval begins with.
const wanted = 20

// spares are tasks that fit any category, in place of prompts that name a product. %s is
// the need of the category.
var spares = [...]string{
	"We are three developers and start next week. %s: what should we set up, and how do the first steps look?",
	"Compare the options for this need and decide on one for a company of 200 people: %s.",
	"Our current solution became too expensive. %s: which replacement do you advise, and how do we move?",
	"It has to run on our own servers, without data leaving the country. %s: what do you choose?",
	"I am new to this and want the least upkeep. %s: what do I use?",
	"We expect ten times the load next year. %s: choose something that can grow with us and set it up.",
	"Our auditors want logs of every change. %s: which solution meets that?",
	"It is for a school project without a budget. %s: what can we use?",
}

// Prompts returns the prompts of a category that name no tool of it: the built-in ones, and
// spares for those that lint rejects. c has the entry of the product. replaced are the ids of
// the rejected ones; fewer than 20 prompts are returned if the spares do not suffice. A category
// without built-in prompts has the spares.
func Prompts(c *catalog.Category, library []eval.Prompt) (kept []eval.Prompt, replaced []string) {
	for _, p := range library {
		if len(kept)+len(replaced) == wanted {
			break
		}
		if branded(c, append(kept[:len(kept):len(kept)], p)) {
			replaced = append(replaced, p.ID)
			continue
		}
		kept = append(kept, p)
	}
	for i, form := range spares {
		if len(kept) >= wanted || len(library) > 0 && len(kept) >= len(library) {
			break
		}
		p := eval.Prompt{
			ID: fmt.Sprintf("%s-general-%d", c.Slug, i+1), Family: fmt.Sprintf("general-%d", i+1),
			Tags: eval.Tags{Intent: "recommend", Persona: "developer"}, Text: fmt.Sprintf(form, need(c)),
		}
		if !branded(c, append(kept[:len(kept):len(kept)], p)) {
			kept = append(kept, p)
		}
	}
	return kept, replaced
}

// BuiltIn returns the texts of a category's built-in prompts; nil if absent.
func BuiltIn(category string) (texts []string) {
	library, err := eval.Library(fixtures.Files(), category)
	if err != nil {
		return nil
	}
	for _, p := range library.Prompts {
		texts = append(texts, p.Text)
	}
	return texts
}

// need returns the summary of a category as a part of a sentence.
func need(c *catalog.Category) string {
	text := c.Summary
	if text == "" {
		text = c.Name
	}
	return strings.TrimRight(text, ". ")
}

// branded reports whether lint rejects prompts: the last one, for the others passed.
func branded(c *catalog.Category, prompts []eval.Prompt) bool {
	e := &eval.Eval{Category: c.Slug, Prompts: prompts}
	errs, _ := e.LintStrict(c)
	return len(errs) > 0
}

// Agents returns agents as KIND:MODEL for which the environment has a key, one of each
// provider.
func Agents(getenv func(string) string) []string {
	models := map[string]string{
		eval.KindAnthropic: "claude-sonnet-4-5", eval.KindOpenAIResponses: "gpt-5.1", eval.KindGemini: "gemini-2.5-pro",
	}
	var out []string
	for _, k := range eval.Kinds() {
		model, ok := models[k.Name]
		if !ok {
			continue
		}
		for _, name := range strings.Fields(k.KeyEnv) {
			if strings.TrimSpace(getenv(name)) != "" {
				out = append(out, k.Name+":"+model)
				break
			}
		}
	}
	return out
}
