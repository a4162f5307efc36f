package eval_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

// pool makes evals a, b, ... of prompts p0, p1, ..., each written as FAMILY:TEXT.
func pool(evals ...[]string) (p eval.Pool) {
	for i, prompts := range evals {
		e := eval.Eval{Name: string(rune('a' + i))}
		for j, prompt := range prompts {
			family, text, _ := strings.Cut(prompt, ":")
			e.Prompts = append(e.Prompts, eval.Prompt{ID: fmt.Sprintf("p%d", j), Family: family, Text: text})
		}
		p = append(p, e)
	}
	return p
}

// together lists the prompts that share a cluster, and those without a key apart.
func together(clusters map[string]string) string {
	members := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		key := clusters[name]
		if key == "" {
			key = name
		}
		members[key] = append(members[key], name)
	}
	var out []string
	for _, names := range members {
		out = append(out, strings.Join(names, "+"))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestClusters(t *testing.T) {
	for name, tt := range map[string]struct {
		pool eval.Pool
		want string
	}{
		"each its own":                {pool([]string{":x", ":y", "f:z"}), "a/p0 a/p1 a/p2"},
		"a family in two evals":       {pool([]string{"f:x", "g:y"}, []string{"f:z"}), "a/p0+b/p0 a/p1"},
		"a text in two evals":         {pool([]string{":Add it."}, []string{":add  IT."}), "a/p0+b/p0"},
		"a text, one with a family":   {pool([]string{":x", "f:y"}, []string{"f:x"}), "a/p0+a/p1+b/p0"},
		"a text of two families":      {pool([]string{"f:x", "g:y"}, []string{"g:x", "f:z"}), "a/p0+a/p1+b/p0+b/p1"},
		"a chain":                     {pool([]string{"f:1", "g:2", "h:3"}, []string{"f:2", "g:3"}), "a/p0+a/p1+a/p2+b/p0+b/p1"},
		"neither is known":            {pool([]string{":", ":"}), "a/p0 a/p1"},
		"a family without a text":     {pool([]string{"f:", "f:", ":"}), "a/p0+a/p1 a/p2"},
		"a family like a text's key":  {pool([]string{":x", eval.Prompt{Text: "x"}.TextKey() + ":y"}), "a/p0 a/p1"},
		"a family like a prompt's id": {pool([]string{":x", "p0:y"}), "a/p0 a/p1"},
	} {
		if got := together(tt.pool.Clusters()); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
	keys := pool([]string{"g:x", ":y"}, []string{"f:x"}).Clusters()
	if keys["a/p0"] != "f" || keys["b/p0"] != "f" || eval.ValidName(keys["a/p1"]) {
		t.Errorf("keys: %q", keys)
	}
}

// TestClustersAreTheTransitiveClosure compares random pools to repeated joining of pairs,
// in another order of evals too.
func TestClustersAreTheTransitiveClosure(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var evals [][]string
		for range 1 + r.IntN(3) {
			var prompts []string
			for range 1 + r.IntN(8) {
				prompt := ":"
				if r.IntN(2) == 0 {
					prompt = string(rune('f'+r.IntN(6))) + prompt
				}
				if r.IntN(8) > 0 {
					prompt += string(rune('A' + r.IntN(12)))
				}
				prompts = append(prompts, prompt)
			}
			evals = append(evals, prompts)
		}
		p := pool(evals...)
		got := p.Clusters()
		if want := closure(p); together(got) != together(want) {
			t.Fatalf("%q: got %s, want %s", evals, together(got), together(want))
		}
		slices.Reverse(p)
		if !maps.Equal(got, p.Clusters()) {
			t.Fatalf("%q: another order of evals gives %q, not %q", evals, p.Clusters(), got)
		}
	}
}

// closure gives each prompt a number, and joined prompts the same, until nothing changes.
func closure(p eval.Pool) map[string]string {
	prompts, number := map[string]eval.Prompt{}, map[string]string{}
	for _, e := range p {
		for _, prompt := range e.Prompts {
			prompts[e.Name+"/"+prompt.ID], number[e.Name+"/"+prompt.ID] = prompt, e.Name+"/"+prompt.ID
		}
	}
	for changed := true; changed; {
		changed = false
		for a, x := range prompts {
			for b, y := range prompts {
				if (x.Family != "" && x.Family == y.Family || x.Text != "" && x.Text == y.Text) && number[a] < number[b] {
					number[b], changed = number[a], true
				}
			}
		}
	}
	return number
}

func TestWeightsOfAPool(t *testing.T) {
	e := func(name string, weights map[string]float64, agents ...string) eval.Eval {
		e := eval.Eval{Name: name, Weights: weights}
		for _, a := range agents {
			e.Agents = append(e.Agents, eval.Agent{Name: a})
		}
		return e
	}
	type weights = map[string]float64
	for name, tt := range map[string]struct {
		pool eval.Pool
		want weights
		err  string
	}{
		"none":               {eval.Pool{e("x", nil, "a"), e("y", nil, "b")}, nil, ""},
		"one eval":           {eval.Pool{e("x", weights{"a": 1, "b": 3}, "a", "b")}, weights{"a": 1, "b": 3}, ""},
		"another without":    {eval.Pool{e("x", weights{"a": 1, "b": 3}, "a", "b"), e("y", nil, "b")}, weights{"a": 1, "b": 3}, ""},
		"they agree":         {eval.Pool{e("x", weights{"a": 1, "b": 3}, "a", "b"), e("y", weights{"b": 3, "c": 2}, "b", "c")}, weights{"a": 1, "b": 3, "c": 2}, ""},
		"they disagree":      {eval.Pool{e("x", weights{"a": 1, "b": 3}, "a", "b"), e("y", weights{"a": 2, "b": 6}, "a", "b")}, nil, `agent "a" has the weight 1 in eval x and 2 in eval y`},
		"one agent has none": {eval.Pool{e("y", nil, "c"), e("x", weights{"a": 1}, "a")}, nil, `agent "c" of eval y has no weight`},
	} {
		got, err := tt.pool.Weights()
		if !maps.Equal(got, tt.want) || (got == nil) != (tt.want == nil) || (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestFrameAndTagsOfAPool(t *testing.T) {
	p := pool([]string{":x", ":y"}, []string{":z"}, []string{":u"})
	if p.Frame() != "" || len(p.Tags()) != 0 {
		t.Errorf("without any: %q %v", p.Frame(), p.Tags())
	}
	p[0].Frame, p[2].Frame, p[0].Prompts[1].Tags = "web shops", "banks", eval.Tags{Intent: "build"}
	if got := p.Frame(); got != "banks; web shops" {
		t.Errorf("two frames: %q", got)
	}
	p[1].Frame, p[2].Frame = "web shops", "web shops"
	if got := p.Frame(); got != "web shops" {
		t.Errorf("one frame: %q", got)
	}
	if got := p.Tags(); !maps.Equal(got, map[string]eval.Tags{"a/p1": {Intent: "build"}}) {
		t.Errorf("tags: %v", got)
	}
}
