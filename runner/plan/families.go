package plan

import (
	"cmp"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
)

// Families returns the same trials as New, by prompt family: all agents, templates, repeats
// and phrasings of one family together. The seed orders the families, and the trials of
// each. A family is a cluster of eval.Pool. For any number of families, the first ones are
// a random part of all.
func Families(e *eval.Eval) [][]Trial {
	clusters := eval.Pool{*e}.Clusters()
	byKey := map[string][]Trial{}
	for _, t := range New(e) {
		key := cmp.Or(clusters[e.Name+"/"+t.PromptID], t.PromptID)
		byKey[key] = append(byKey[key], t)
	}
	keys := make([]string, 0, len(byKey))
	for key := range byKey {
		keys = append(keys, key)
	}
	shuffle(keys, e.Seed, func(key string) string { return key })
	out := make([][]Trial, len(keys))
	for i, key := range keys {
		shuffle(byKey[key], e.Seed, func(t Trial) string { return t.ID })
		out[i] = byKey[key]
	}
	return out
}

// shuffle orders a list by hashes of its ids, which are distinct.
func shuffle[T any](list []T, seed uint64, id func(T) string) {
	keys := make(map[string]uint64, len(list))
	for _, item := range list {
		keys[id(item)] = orderKey(seed, id(item))
	}
	sorting.Func(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(keys[id(a)], keys[id(b)]), cmp.Compare(id(a), id(b)))
	})
}
