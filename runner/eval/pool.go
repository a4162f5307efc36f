package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Pool is the evals of one category, which its board counts together. Prompts are named
// EVAL/PROMPT, as in cells.
type Pool []Eval

// Clusters returns the statistical cluster of each prompt by name. Prompts with the same
// family or the same TextKey are in one cluster, and so are prompts that others connect in
// this way. The key of a cluster is its first family in the order of bytes, or else a key
// of the text that cannot be a family. It is empty for a prompt with neither.
func (p Pool) Clusters() map[string]string {
	// next leads from each key of a cluster, over others, to the first one.
	next := map[string]string{}
	first := func(key string) string {
		for next[key] != "" {
			key = next[key]
		}
		return key
	}
	keys := map[string]string{} // by prompt
	for _, e := range p {
		for _, prompt := range e.Prompts {
			text := prompt.TextKey()
			if text != "" {
				text = "~" + text // sorts behind every valid name, and is not valid itself
			}
			keys[e.Name+"/"+prompt.ID] = cmp.Or(prompt.Family, text)
			if a, b := first(prompt.Family), first(text); a != b && a != "" && b != "" {
				next[max(a, b)] = min(a, b)
			}
		}
	}
	for name, key := range keys {
		keys[name] = first(key)
	}
	return keys
}

// Tags returns the tags of each prompt by name; prompts without tags are left out.
func (p Pool) Tags() map[string]Tags {
	out := map[string]Tags{}
	for _, e := range p {
		for _, prompt := range e.Prompts {
			if prompt.Tags != (Tags{}) {
				out[e.Name+"/"+prompt.ID] = prompt.Tags
			}
		}
	}
	return out
}

// Weights returns the weights of all agents by name, or nil if they weigh equally. They do
// if no eval has weights, and if those of the evals do not fit together, which is the
// error: two evals disagree on an agent, or no eval weights one of the agents.
func (p Pool) Weights() (map[string]float64, error) {
	out, source := map[string]float64{}, map[string]string{}
	for _, e := range p {
		for _, agent := range slices.Sorted(maps.Keys(e.Weights)) {
			weight := e.Weights[agent]
			if other, ok := out[agent]; ok && other != weight {
				return nil, fmt.Errorf("agent %q has the weight %g in eval %s and %g in eval %s", agent, other, source[agent], weight, e.Name)
			}
			out[agent], source[agent] = weight, e.Name
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	for _, e := range p {
		for _, a := range e.Agents {
			if _, ok := out[a.Name]; !ok {
				return nil, fmt.Errorf("agent %q of eval %s has no weight", a.Name, e.Name)
			}
		}
	}
	return out, nil
}

// Frame returns the frames of the evals, sorted and joined by "; "; empty if none has one.
func (p Pool) Frame() string {
	var frames []string
	for _, e := range p {
		if e.Frame != "" {
			frames = append(frames, e.Frame)
		}
	}
	slices.Sort(frames)
	return strings.Join(slices.Compact(frames), "; ")
}
