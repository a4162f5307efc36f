package docs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// An api is the part of the API description that the reference prints.
type api struct {
	doc    map[string]any
	groups []*group
}

// A group is the operations of a tag.
type group struct {
	Name               string // in addresses
	Title, Description string
	Operations         []*operation // in the order of the description
}

// An operation is a method of a path.
type operation struct {
	ID, Method, Path, Summary, Description string
	Group                                  string
	raw                                    map[string]any
	parameters                             []map[string]any
}

// readAPI reads the description; example server URLs become base.
func readAPI(source []byte, base string) (*api, error) {
	source = bytes.ReplaceAll(source, []byte("https://firstpick.example"), []byte(base))
	var root yaml.Node
	if err := yaml.Unmarshal(source, &root); err != nil {
		return nil, fmt.Errorf("the description of the API: %w", err)
	}
	if len(root.Content) != 1 {
		return nil, errors.New("the description of the API is empty")
	}
	a := &api{doc: object(tree(root.Content[0]))}
	for _, t := range list(a.doc["tags"]) {
		name := word(object(t)["name"])
		if name == "" {
			return nil, errors.New("the description of the API has a tag without a name")
		}
		a.groups = append(a.groups, &group{Name: name, Title: strings.ToUpper(name[:1]) + name[1:], Description: word(object(t)["description"])})
	}
	paths := object(a.doc["paths"])
	for _, path := range keys(paths) {
		item := object(paths[path])
		for _, method := range keys(item) {
			if slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				if err := a.add(path, method, item); err != nil {
					return nil, err
				}
			}
		}
	}
	return a, nil
}

func (a *api) add(path, method string, item map[string]any) error {
	raw := object(item[method])
	tag := ""
	if tags := list(raw["tags"]); len(tags) > 0 {
		tag = word(tags[0])
	}
	i := slices.IndexFunc(a.groups, func(g *group) bool { return g.Name == tag })
	if i < 0 {
		return fmt.Errorf("the description of the API: %s %s has no tag of the list", method, path)
	}
	op := &operation{ID: word(raw["operationId"]), Method: strings.ToUpper(method), Path: path, Summary: word(raw["summary"]), Description: word(raw["description"]), Group: tag, raw: raw}
	for _, p := range slices.Concat(list(item["parameters"]), list(raw["parameters"])) {
		op.parameters = append(op.parameters, a.resolve(p))
	}
	a.groups[i].Operations = append(a.groups[i].Operations, op)
	return nil
}

// resolve follows references.
func (a *api) resolve(v any) map[string]any {
	m := object(v)
	for range 8 { // deeper than any of ours
		ref, ok := m["$ref"].(string)
		if !ok {
			return m
		}
		m = a.doc
		for _, name := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
			m = object(m[name])
		}
	}
	return m
}

func object(v any) map[string]any { m, _ := v.(map[string]any); return m }

func list(v any) []any { l, _ := v.([]any); return l }

func word(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// order is the member of each object with the names of the others, in the order
// in the file. No name in a file is empty.
const order = ""

// tree returns a node of YAML as values; objects know the order of their members.
func tree(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		var names []string
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			names = append(names, n.Content[i].Value)
			out[n.Content[i].Value] = tree(n.Content[i+1])
		}
		out[order] = names
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, tree(c))
		}
		return out
	case yaml.AliasNode:
		return tree(n.Alias)
	default:
		var v any
		if n.Decode(&v) != nil {
			return n.Value
		}
		return v
	}
}

// keys returns the names of the members of an object, in their order.
func keys(m map[string]any) []string {
	names, _ := m[order].([]string)
	return names
}

// asJSON writes an example as JSON in one line.
func asJSON(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var members []string
		for _, name := range keys(v) {
			members = append(members, asJSON(name)+":"+asJSON(v[name]))
		}
		return "{" + strings.Join(members, ",") + "}"
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, asJSON(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "null" // of YAML, which has no such values
	}
	return strings.TrimSpace(b.String())
}

// pretty writes an example as JSON, indented.
func pretty(v any) string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(asJSON(v)), "", "  "); err != nil {
		return "" // output of asJSON is valid
	}
	return b.String() + "\n"
}
