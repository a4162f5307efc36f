package eval

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

const (
	maxRepeats     = 100_000
	maxConcurrency = 1024
)

// Parse reads an eval file, YAML or JSON. Errors call it name and list every problem with
// its line.
func Parse(name string, data []byte) (*Eval, error) {
	if len(data) > MaxSize {
		return nil, &strictyaml.Error{File: name, Msg: fmt.Sprintf("%d bytes; an eval has at most %d", len(data), MaxSize)}
	}
	f, root := strictyaml.Parse(name, bytes.NewReader(yamlOf(data)))
	if root == nil {
		return nil, f.Err()
	}
	if member(root, "kind") == "observed" {
		f.Add(root.Line(), "kind: observed is a field study, not an eval: nothing is asked; add its lines with `firstpick field add FILE.jsonl`")
		return nil, f.Err()
	}
	k := root.Keys("name", "category", "description", "seed", "repeats", "concurrency", "templates", "incumbent", "builds", "prompts", "agents", "weights", "frame")
	e := &Eval{
		Name: requireName(f, root, k["name"], "name"), Category: requireName(f, root, k["category"], "category"),
		Description: k["description"].String(), Seed: uint64(k["seed"].Int(0, math.MaxInt)), //nolint:gosec // not negative
		Repeats: 1, Concurrency: k["concurrency"].Int(0, maxConcurrency),
		Templates: []string{NoTemplate}, Source: string(data), file: name,
	}
	if n := k["repeats"]; n != nil {
		e.Repeats = n.Int(1, maxRepeats)
	}
	if n := k["templates"]; n != nil {
		e.Templates = unique("template", n.Items(), templateName)
		e.Sources = parseSources(n.Items())
	}
	if n := k["incumbent"]; n != nil {
		e.Incumbent = parseIncumbent(n)
		e.Templates = withIncumbent(n, e.Templates, *e.Incumbent)
	}
	for _, n := range k["prompts"].Maps() {
		e.Prompts = append(e.Prompts, parsePrompt(n))
	}
	for _, n := range k["agents"].Maps() {
		e.Agents = append(e.Agents, parseAgent(n))
	}
	e.setBuilds(parseBuilds(k["builds"]))
	e.Weights, e.Frame = parseWeights(f, k["weights"], e.Agents), parseFrame(k["frame"])
	e.check(f, k)
	e.recordLines("", root)
	for i, n := range k["agents"].Maps() {
		e.recordLines("agents."+strconv.Itoa(i), n)
	}
	return e, f.Err()
}

// recordLines keeps the lines of a mapping's keys.
func (e *Eval) recordLines(place string, n *strictyaml.Node) {
	if e.lines == nil {
		e.lines = map[string]int{}
	}
	if place != "" {
		e.lines[place] = n.Line()
		place += "."
	}
	n.Each(func(key string, line int, _ *strictyaml.Node) { e.lines[place+key] = line })
}

func requireName(f *strictyaml.File, parent, n *strictyaml.Node, key string) string {
	if n == nil {
		f.Add(parent.Line(), "%s is missing", key)
		return ""
	}
	return validName(n, key)
}

func validName(n *strictyaml.Node, key string) string {
	s := n.String()
	if !namePattern.MatchString(s) {
		n.Fail("%s: %q is not a valid name: want letters, digits and . _ / : -, at most 100", key, s)
	}
	return s
}

func templateName(n *strictyaml.Node) string {
	if !n.Scalar() {
		return member(n, "name")
	}
	s := n.String()
	if !namePattern.MatchString(s) {
		n.Fail("template %q is not a valid name: want letters, digits and . _ / : -, at most 100", s)
	}
	return s
}

func unique(what string, items []*strictyaml.Node, key func(*strictyaml.Node) string) []string {
	var out []string
	first := map[string]int{}
	for _, n := range items {
		s := key(n)
		if line, seen := first[s]; seen && s != "" {
			n.Fail("duplicate %s %q (first on line %d)", what, s, line)
		} else {
			first[s] = n.Line()
		}
		out = append(out, s)
	}
	return out
}

// check validates the parts of the file against each other.
func (e *Eval) check(f *strictyaml.File, k map[string]*strictyaml.Node) {
	for key, n := range map[string]int{"prompts": len(e.Prompts), "agents": len(e.Agents), "templates": len(e.Templates)} {
		if n == 0 {
			f.Add(max(1, k[key].Line()), "%s: want at least one", key)
		}
	}
	unique("prompt id", k["prompts"].Maps(), func(n *strictyaml.Node) string { return member(n, "id") })
	unique("agent name", k["agents"].Maps(), func(n *strictyaml.Node) string { return member(n, "name") })
	if n := e.size(); n > maxTrials {
		f.Add(1, "%.0f trials; one eval plans at most %d", n, maxTrials)
	}
}

// member returns a string value of a mapping; empty if it is missing.
func member(n *strictyaml.Node, key string) (s string) {
	n.Each(func(k string, _ int, v *strictyaml.Node) {
		if k == key && v.Scalar() {
			s = v.String()
		}
	})
	return s
}

func require(parent *strictyaml.Node, k map[string]*strictyaml.Node, key string) string {
	n := k[key]
	if n == nil {
		parent.Fail("%s is missing", key)
		return ""
	}
	s := n.String()
	if s == "" {
		n.Fail("%s is empty", key)
	}
	return s
}
