package docs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fields writes the table of an object's members. Objects with a name are told of by
// the table of that name.
func (f *filler) fields(w *lines, schema any, named map[string]bool) {
	if _, ref := object(schema)["$ref"]; ref {
		return
	}
	var rows []string
	f.members(&rows, schema, "", 0, named)
	if len(rows) > 0 {
		w.line("\n| Field | Type | Meaning |\n| --- | --- | --- |\n%s", strings.Join(rows, "\n"))
	}
}

// members adds rows for the members of an object, and of objects in it without a name.
func (f *filler) members(rows *[]string, schema any, prefix string, depth int, named map[string]bool) {
	if _, ref := object(schema)["$ref"]; ref && depth > 0 {
		return
	}
	s := f.api.resolve(schema)
	for _, part := range slices.Concat(list(s["allOf"]), list(s["oneOf"]), list(s["anyOf"])) {
		f.members(rows, part, prefix, depth+1, named) // those with a name have a table of their own
	}
	required := list(s["required"])
	properties := object(s["properties"])
	for _, name := range keys(properties) {
		p := f.api.resolve(properties[name])
		meaning := word(p["description"])
		if own := word(object(properties[name])["description"]); own != "" {
			meaning = own // beside a reference
		}
		if !slices.Contains(required, any(name)) {
			meaning = strings.TrimSpace("Optional. " + meaning)
		}
		row := fmt.Sprintf("| `%s%s` | %s | %s |", prefix, name, f.kind(properties[name], named), cell(meaning))
		if !slices.Contains(*rows, row) { // of two alternatives
			*rows = append(*rows, row)
		}
		if depth < 3 {
			inner, mark := properties[name], "."
			if p["type"] == "array" {
				inner, mark = p["items"], "[]."
			}
			f.members(rows, inner, prefix+name+mark, depth+1, named)
		}
	}
}

// kind describes the type of a value. Types with a name are linked, and noted in named.
func (f *filler) kind(schema any, named map[string]bool) string {
	m := object(schema)
	if ref, ok := m["$ref"].(string); ok {
		name := ref[strings.LastIndex(ref, "/")+1:]
		s := f.api.resolve(schema)
		if s["properties"] == nil && s["oneOf"] == nil && s["allOf"] == nil && s["anyOf"] == nil {
			return f.kind(s, named) // a word or number with a name
		}
		named[name] = true
		return "[" + name + "](#type-" + name + ")"
	}
	for _, join := range []struct{ key, between string }{{"oneOf", " or "}, {"anyOf", " or "}, {"allOf", " with "}} {
		if parts := list(m[join.key]); len(parts) > 0 {
			var kinds []string
			for _, p := range parts {
				if k := f.kind(p, named); !slices.Contains(kinds, k) {
					kinds = append(kinds, k)
				}
			}
			return strings.Join(kinds, join.between)
		}
	}
	if c, ok := m["const"]; ok {
		return "`" + word(c) + "`"
	}
	if all := list(m["enum"]); len(all) > 0 {
		var words []string
		for _, e := range all {
			words = append(words, "`"+word(e)+"`")
		}
		return strings.Join(words, ", ")
	}
	switch t := m["type"].(type) {
	case []any:
		var kinds []string
		for _, one := range t {
			kinds = append(kinds, word(one))
		}
		return strings.Join(kinds, " or ")
	case string:
		if t == "array" {
			return "list of " + f.kind(m["items"], named)
		}
		return t + bounds(m)
	}
	return "any"
}

// bounds describes the limits of a value.
func bounds(m map[string]any) string {
	var out []string
	for _, b := range []struct{ key, text string }{
		{"format", "%v"}, {"minimum", "from %v"}, {"maximum", "to %v"}, {"maxLength", "at most %v characters"}, {"default", "default %v"},
	} {
		if v, ok := m[b.key]; ok {
			out = append(out, fmt.Sprintf(b.text, v))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, ", ") + ")"
}

// types writes the tables of the types that were named, and of those that they name.
func (f *filler) types(w *lines, named map[string]bool) {
	schemas := object(object(f.api.doc["components"])["schemas"])
	written := map[string]bool{}
	tables := map[string]string{}
	for len(written) < len(named) {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			if written[name] {
				continue
			}
			written[name] = true
			s := object(schemas[name])
			t := &lines{}
			t.line("\n<a id=\"type-%s\"></a>\n### %s", name, name)
			if d := word(s["description"]); d != "" {
				t.line("\n%s", d)
			}
			if s["properties"] == nil {
				t.line("\n%s.", f.kind(s, named))
			}
			var rows []string
			f.members(&rows, s, "", 0, named)
			if len(rows) > 0 {
				t.line("\n| Field | Type | Meaning |\n| --- | --- | --- |\n%s", strings.Join(rows, "\n"))
			}
			tables[name] = t.String()
		}
	}
	if len(tables) > 0 {
		w.line("\n## Types")
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		w.WriteString(tables[name])
	}
}
