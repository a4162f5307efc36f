package evalpages

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// beginnings returns the categories to begin an eval of.
func (v *visit) beginnings(on string) []choice {
	var out []choice
	for _, c := range v.categories() {
		out = append(out, choice{Key: c.Slug, Name: c.Name, Link: v.at("evals", "new") + "?category=" + c.Slug, On: c.Slug == on})
	}
	return out
}

// beginning returns an eval of a category to change; of the first one where the slug
// is none. It is empty where no category is known.
func (v *visit) beginning(slug string) string {
	if len(v.categories()) == 0 {
		return ""
	}
	for _, c := range v.categories() {
		if c.Slug == slug {
			return Beginning(c)
		}
	}
	return Beginning(v.categories()[0])
}

// Beginning returns an eval of a category to begin with: its built-in prompts, or three
// that fit any category, simulated agents to try it without a key, and real ones to switch
// on.
func Beginning(c *catalog.Category) string {
	truth := []string{"diy: 0.1"}
	for i, e := range c.Entries[:min(len(c.Entries), 3)] {
		truth = append(truth, fmt.Sprintf("%s: %v", e.Tool.Slug, []float64{0.5, 0.25, 0.15}[i]))
	}
	return fmt.Sprintf(`name: %[1]s
category: %[1]s
# More prompts say more than more repeats: rates are about prompts of this kind.
# Replace these with questions of your own users. No prompt may name a tool.
repeats: 3
prompts:
%[2]sagents:
  # Simulated answers, to try everything without a key. Results are marked
  # synthetic and measure nothing. Remove it when a real agent is in.
  - name: rehearsal
    kind: simulated
    truth: {%[3]s}
  # Real agents. Their keys are set under Settings, Keys for evals.
%[4]s`, c.Slug, prompts(c), strings.Join(truth, ", "), strings.ReplaceAll(realAgents, "- {", "# - {"))
}

// realAgents are lines of an eval that ask real models.
const realAgents = `  - {name: gpt, kind: openai-responses, model: gpt-5.1, max_tokens: 2000}
  - {name: sonnet, kind: anthropic, model: claude-sonnet-4-5, max_tokens: 2000}
  - {name: gemini, kind: gemini, model: gemini-2.5-pro, max_tokens: 2000}
`

// prompts returns the built-in prompts of a category as rows of an eval; a catalogue of
// one's own may have other categories.
func prompts(c *catalog.Category) string {
	data, err := fs.ReadFile(fixtures.Files(), "prompts/"+c.Slug+".yaml")
	if _, rows, ok := strings.Cut(string(data), "\nprompts:\n"); err == nil && ok {
		return rows
	}
	return fmt.Sprintf(`  - id: choose
    text: |
      We are building a new product and need one tool for this area: %[1]s.
      Which one should we use? Show us how to get started with it.
  - id: small-team
    text: |
      We are three developers with little time. Recommend one tool for this
      area, and explain why: %[1]s.
  - id: growing
    text: |
      Our product has 50,000 users and is growing fast. Which single tool would
      you choose for this area: %[1]s?
`, c.Name)
}
