package analytics

import "strings"

// A Prompt is one prompt of a category with the counts of its trials.
type Prompt struct {
	Eval   string `json:"eval"`
	Prompt string `json:"prompt"`
	// Text is empty where it is not published. SHA256 is its digest; empty where unknown.
	Text   string            `json:"text,omitempty"`
	SHA256 string            `json:"sha256,omitempty"`
	Family string            `json:"family,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	// NTrials is the number of valid trials; the sum of Outcomes.
	NTrials  int      `json:"nTrials"`
	Outcomes Outcomes `json:"outcomes"`
	// Tools holds those that a trial picked or weighed, sorted by slug.
	Tools  []PromptTool  `json:"tools"`
	Agents []PromptAgent `json:"agents"`
	// URL lists the trials of the prompt.
	URL string `json:"url"`
}

// A PromptTool counts the trials of a prompt that picked or weighed a tool.
type PromptTool struct {
	Slug       string `json:"slug"`
	Picks      int    `json:"picks"`
	Shortlists int    `json:"shortlists"`
}

// A PromptAgent counts the trials of a prompt with one agent.
type PromptAgent struct {
	Agent   string      `json:"agent"`
	NTrials int         `json:"nTrials"`
	Tools   []AgentPick `json:"tools"`
}

// An AgentPick counts the trials that picked a tool.
type AgentPick struct {
	Slug  string `json:"slug"`
	Picks int    `json:"picks"`
}

// Prompts counts the trials of each prompt of a measurement, sorted by eval and prompt.
func (m Measurement) Prompts() []Prompt {
	out := []Prompt{}
	for i := 0; i < len(m.Cells); {
		name, from := m.Cells[i].Prompt, i
		for i < len(m.Cells) && m.Cells[i].Prompt == name {
			i++
		}
		out = append(out, m.Prompt(name, m.Cells[from:i]))
	}
	return out
}

// Prompt counts the cells of one prompt, sorted by agent.
func (m Measurement) Prompt(name string, cells []Cell) Prompt {
	p := Prompt{Family: m.Design.Families[name], Tools: []PromptTool{}, Agents: []PromptAgent{}, URL: TrialsPath(m.Category.Slug, name, "")}
	var found bool
	if p.Eval, p.Prompt, found = strings.Cut(name, "/"); !found {
		p.Eval, p.Prompt = "", name
	}
	for tag, value := range m.Design.Tags[name] {
		if value != "" {
			if p.Tags == nil {
				p.Tags = map[string]string{}
			}
			p.Tags[tag] = value
		}
	}
	p.count(cells)
	return p
}

// Name is EVAL/PROMPT, as cells have it.
func (p Prompt) Name() string {
	if p.Eval == "" {
		return p.Prompt
	}
	return p.Eval + "/" + p.Prompt
}

// count sums the cells of the prompt, sorted by agent.
func (p *Prompt) count(cells []Cell) {
	var all, one Cell
	for i, c := range cells {
		all.merge(&c)
		if one.merge(&c); i+1 < len(cells) && cells[i+1].Agent == c.Agent {
			continue // another template
		}
		a := PromptAgent{Agent: c.Agent, NTrials: one.Trials, Tools: []AgentPick{}}
		for _, t := range one.Tools {
			if t.Picks > 0 {
				a.Tools = append(a.Tools, AgentPick{t.Slug, t.Picks})
			}
		}
		p.Agents, one = append(p.Agents, a), Cell{}
	}
	p.NTrials, p.Outcomes = all.Trials, all.Outcomes
	for _, t := range all.Tools {
		if t.Shortlists > 0 {
			p.Tools = append(p.Tools, PromptTool{t.Slug, t.Picks, t.Shortlists})
		}
	}
}

// share returns a tool's part of the prompt. weights are those of agents, by name.
func (p Prompt) share(slug string, weights map[string]float64) PromptShare {
	s := PromptShare{Prompt: p.Name(), Family: p.Family, Tags: p.Tags, NTrials: p.NTrials, URL: p.URL}
	var sum, of float64
	for _, a := range p.Agents {
		w := weights[a.Agent]
		of += w
		for _, t := range a.Tools {
			if t.Slug == slug {
				s.Picks += t.Picks
				sum += w * float64(t.Picks) / float64(a.NTrials)
			}
		}
	}
	if of > 0 {
		s.PickRate = Round(sum / of)
	}
	return s
}
