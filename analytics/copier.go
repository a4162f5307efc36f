package analytics

import (
	"maps"
	"slices"
)

// A copier copies the parts of a board. A name stands on a board some thousand times, and each
// tool has the tags of each prompt: equal ones share their memory.
type copier struct {
	base        string
	texts, urls map[string]string
	tags        map[string]map[string]string // of a prompt
}

func newCopier(base string) copier {
	return copier{base, map[string]string{}, map[string]string{}, map[string]map[string]string{}}
}

func (c copier) text(s string) string {
	if known, ok := c.texts[s]; ok {
		return known
	}
	c.texts[s] = s
	return s
}

// url returns the address of a path.
func (c copier) url(path string) string {
	u, ok := c.urls[path]
	if !ok {
		u = c.base + path
		c.urls[path] = u
	}
	return u
}

// tagsOf returns the tags of a prompt.
func (c copier) tagsOf(prompt string, tags map[string]string) map[string]string {
	if known, ok := c.tags[prompt]; ok && maps.Equal(known, tags) {
		return known
	}
	c.tags[prompt] = tags
	return tags
}

func (c copier) prompts(prompts []Prompt) []Prompt {
	out := slices.Clone(prompts)
	for i := range out {
		p := &out[i]
		p.Tags, p.Tools, p.Agents, p.URL = c.tagsOf(p.Prompt, p.Tags), copyOf(p.Tools), copyOf(p.Agents), c.url(p.URL)
		for j := range p.Tools {
			p.Tools[j].Slug = c.text(p.Tools[j].Slug)
		}
		for j := range p.Agents {
			a := &p.Agents[j]
			a.Agent, a.Tools = c.text(a.Agent), copyOf(a.Tools)
			for k := range a.Tools {
				a.Tools[k].Slug = c.text(a.Tools[k].Slug)
			}
		}
	}
	return out
}

func (c copier) rates(rates []AgentRate) []AgentRate {
	out, intervals := copyOf(rates), make([]Interval, len(rates))
	for i := range out {
		out[i].Slug = c.text(out[i].Slug)
		if out[i].Interval != nil {
			intervals[i] = *out[i].Interval
			out[i].Interval = &intervals[i]
		}
	}
	return out
}

func (c copier) rivals(rivals []Rival) []Rival {
	out := copyOf(rivals)
	for i := range out {
		r := &out[i]
		r.Tool, r.Slug, r.URL = c.text(r.Tool), c.text(r.Slug), c.url(r.URL)
	}
	return out
}

func (c copier) breakdown(b *Breakdown) *Breakdown {
	if b = copyOfValue(b); b == nil {
		return nil
	}
	b.ByAgent, b.ByPrompt, b.Rivals, b.Examples = copyOf(b.ByAgent), copyOf(b.ByPrompt), copyOf(b.Rivals), slices.Clone(b.Examples)
	for i := range b.ByAgent {
		b.ByAgent[i].Agent = c.text(b.ByAgent[i].Agent)
	}
	for i := range b.ByPrompt {
		p := &b.ByPrompt[i]
		p.Prompt, p.Family, p.Tags, p.URL = c.text(p.Prompt), c.text(p.Family), c.tagsOf(p.Prompt, p.Tags), c.url(p.URL)
	}
	for i := range b.Rivals {
		r := &b.Rivals[i]
		r.Tool, r.Slug, r.URL = c.text(r.Tool), c.text(r.Slug), c.url(r.URL)
	}
	for i := range b.Examples {
		e := &b.Examples[i]
		e.Agent, e.Prompt, e.Picked, e.URL = c.text(e.Agent), c.text(e.Prompt), c.text(e.Picked), c.url(e.URL)
	}
	return b
}
