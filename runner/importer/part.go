package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
)

// noTemplate is the template of a trial without one.
const noTemplate = "none"

// A part gathers the lines of one category.
type part struct {
	category string
	lines    []Line
	prompts  map[string]eval.Prompt
	texts    map[string]Line // the first line of each text of a prompt
	agents   map[string]bool
	seen     map[identity]bool
	repeats  int
}

// identity identifies a trial.
type identity struct {
	agent, prompt, template string
	repeat                  int
}

func newPart(category string) *part {
	return &part{
		category: category, prompts: map[string]eval.Prompt{}, texts: map[string]Line{}, agents: map[string]bool{}, seen: map[identity]bool{},
	}
}

func (p *part) add(l Line) error {
	if l.Template == "" {
		l.Template = noTemplate
	}
	prompt := eval.Prompt{ID: l.PromptID, Text: l.Prompt, Family: l.Family, Tags: l.Tags}
	if earlier, ok := p.prompts[l.PromptID]; ok && earlier != prompt {
		what := "text"
		if earlier.Text == prompt.Text {
			what = "family or tags"
		}
		return fmt.Errorf("prompt %q has a different %s on an earlier line", l.PromptID, what)
	}
	if key := prompt.TextKey(); key != "" {
		if first, ok := p.texts[key]; !ok {
			p.texts[key] = Line{PromptID: l.PromptID, line: l.line}
		} else if first.PromptID != l.PromptID {
			return fmt.Errorf("prompt %q has the text of prompt %q on line %d: the same text counts as one prompt; give both the same prompt_id and other repeats", l.PromptID, first.PromptID, first.line)
		}
	}
	id := identity{l.Agent, l.PromptID, l.Template, l.Repeat}
	if p.seen[id] {
		return fmt.Errorf("duplicate agent %q, prompt %q, repeat %d", l.Agent, l.PromptID, l.Repeat)
	}
	p.seen[id] = true
	p.prompts[l.PromptID] = prompt
	p.agents[l.Agent] = true
	p.repeats = max(p.repeats, l.Repeat)
	p.lines = append(p.lines, l)
	return nil
}

func (p *part) finish() Part {
	out := Part{Category: p.category, Digest: digest(p.lines), Trials: p.lines}
	out.Eval = eval.Eval{Category: p.category, Repeats: max(1, p.repeats), Templates: []string{noTemplate}}
	for _, prompt := range p.prompts {
		out.Eval.Prompts = append(out.Eval.Prompts, prompt)
	}
	for name := range p.agents {
		out.Eval.Agents = append(out.Eval.Agents, eval.Agent{Name: name, Kind: "imported"})
	}
	sorting.Func(out.Eval.Prompts, func(a, b eval.Prompt) int { return strings.Compare(a.ID, b.ID) })
	sorting.Func(out.Eval.Agents, func(a, b eval.Agent) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// digest returns the digest of a set of answers without their times: lines without `at`
// get the time of the import.
func digest(lines []Line) string {
	sums := make([][]byte, len(lines))
	for i, l := range lines {
		l.At = nil
		text, err := json.Marshal(l)
		if err != nil {
			panic(err) // it was JSON before
		}
		sum := sha256.Sum256(text)
		sums[i] = sum[:]
	}
	sorting.Func(sums, bytes.Compare)
	all := sha256.Sum256(bytes.Join(sums, nil))
	return "sha256:" + hex.EncodeToString(all[:])
}
