package evalpages

import (
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
)

// beginnings returns the categories to begin an eval of.
func (v *visit) beginnings(on string) []choice {
	var out []choice
	for _, c := range v.h.Categories {
		out = append(out, choice{Key: c.Slug, Name: c.Name, Link: v.at("evals", "new") + "?category=" + c.Slug, On: c.Slug == on})
	}
	return out
}

// beginning returns an eval of a category to change; of the first one where the slug
// is none. It is empty where no category is known.
func (v *visit) beginning(slug string) string {
	if len(v.h.Categories) == 0 {
		return ""
	}
	for _, c := range v.h.Categories {
		if c.Slug == slug {
			return Beginning(c)
		}
	}
	return Beginning(v.h.Categories[0])
}

// Beginning returns an eval of a category to begin with: three prompts that name no
// tool, simulated agents to try it without a key, and real ones to switch on.
func Beginning(c *catalog.Category) string {
	truth := []string{"diy: 0.1"}
	for i, e := range c.Entries[:min(len(c.Entries), 3)] {
		truth = append(truth, fmt.Sprintf("%s: %v", e.Tool.Slug, []float64{0.5, 0.25, 0.15}[i]))
	}
	return fmt.Sprintf(`name: %[1]s
category: %[1]s
# More prompts say more than more repeats: rates are about prompts of this kind.
# No prompt may name a tool.
repeats: 3
prompts:
  - id: choose
    text: |
      I am starting a new product and need a tool for this: %[2]s.
      Which should I use? Name one and show how to start.
  - id: small-team
    text: |
      We are three developers without much time. Pick one tool for us and say
      why. What it is for: %[2]s.
  - id: growing
    text: |
      Our product has 50,000 users and grows. Which tool do you recommend for
      this: %[2]s? Name one.
agents:
  # Simulated answers, to try everything without a key. Results are marked
  # synthetic and measures nothing. Take it out once a real agent is in.
  - name: rehearsal
    kind: simulated
    truth: {%[3]s}
  # Real agents. Their keys are set under Settings, Eval API.
  # - {name: gpt, kind: openai-responses, model: gpt-5.1, max_tokens: 2000}
  # - {name: sonnet, kind: anthropic, model: claude-sonnet-4-5, max_tokens: 2000}
  # - {name: gemini, kind: gemini, model: gemini-2.5-pro, max_tokens: 2000}
`, c.Slug, c.Name, strings.Join(truth, ", "))
}
