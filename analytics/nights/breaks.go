package nights

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ModelOf describes what answered for an agent: the models that were asked for, followed
// by those that the provider reported where they are others.
func ModelOf(asked, reported []string) string {
	a, r := join(asked), join(reported)
	if r == "" || r == a {
		return a
	}
	return a + " (" + r + ")"
}

func join(names []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(names))), "+")
}

// reading describes how the outcomes were made. Rates by different ones cannot be compared.
func (n *Night) reading() [3]string {
	source := "real"
	if n.Synthetic {
		source = "simulated"
	}
	return [3]string{n.Catalog, n.Extractor, source}
}

// breaks names what changed between two nights besides the answers. before are the models
// that last answered for each agent.
func breaks(older, newer *Night, before map[string]string) []string {
	out := []string{}
	if older == nil {
		return out
	}
	was, is := older.reading(), newer.reading()
	for i, what := range []string{"catalogue", "extractor", "answers"} {
		if was[i] != is[i] {
			out = append(out, fmt.Sprintf("%s: %s → %s", what, was[i], is[i]))
		}
	}
	for _, agent := range slices.Sorted(maps.Keys(newer.Models)) {
		if was, ok := before[agent]; ok && was != newer.Models[agent] {
			out = append(out, fmt.Sprintf("model %s: %s → %s", agent, was, newer.Models[agent]))
		}
	}
	if added, removed := missing(newer.Models, older.Models), missing(older.Models, newer.Models); len(added)+len(removed) > 0 {
		out = append(out, "agents: "+list(counted("added ", added), counted("removed ", removed)))
	}
	return append(out, promptBreaks(older, newer)...)
}

func promptBreaks(older, newer *Night) []string {
	reworded := 0
	for name, text := range newer.Prompts {
		if was, ok := older.Prompts[name]; ok && was != text {
			reworded++
		}
	}
	count := func(n int, what string) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%d %s", n, what)
	}
	changes := list(count(reworded, "reworded"), count(len(missing(newer.Prompts, older.Prompts)), "added"), count(len(missing(older.Prompts, newer.Prompts)), "removed"))
	if changes == "" {
		return nil
	}
	return []string{"prompts: " + changes}
}

// missing returns the keys of a that b lacks, sorted.
func missing(a, b map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(a)), func(k string) bool { _, ok := b[k]; return ok })
}

func counted(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return what + strings.Join(names, " ")
}

func list(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}
