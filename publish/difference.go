package publish

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Difference is the first figure of a document that does not follow from the trials.
type Difference struct {
	// Board is the category, Tool the slug of the tool; empty for figures of neither.
	Board string `json:"board,omitempty"`
	Tool  string `json:"tool,omitempty"`
	// Field is the JSON path in the document, such as tools[2].pickRate.
	Field string `json:"field"`
	// Is and Should are the values as JSON; "missing" stands for no value.
	Is     string `json:"is"`
	Should string `json:"should"`
}

// String describes the difference in one sentence.
func (d Difference) String() string {
	tool := ""
	if d.Tool != "" {
		tool = " (" + d.Tool + ")"
	}
	return fmt.Sprintf("%s%s is %s; the trials of the snapshot give %s", d.Field, tool, d.Is, d.Should)
}

// differenceOf finds the first difference of two JSON documents, in the order of their
// fields' names.
func differenceOf(path string, is, should []byte) *Difference {
	var a, b any
	if tooMany(is) || json.Unmarshal(is, &a) != nil || json.Unmarshal(should, &b) != nil {
		return nil
	}
	d := &Difference{}
	if parts := strings.Split(strings.TrimSuffix(path, ".json"), "/"); parts[0] == "boards" || parts[0] == "reports" {
		d.Board = parts[1]
		d.Tool = strings.Join(parts[2:], "/")
	}
	if !d.find("", a, b) {
		return nil // in white space or in the order of fields
	}
	return d
}

// find reports whether two values differ, and then fills in the place.
func (d *Difference) find(path string, is, should any) bool {
	switch is := is.(type) {
	case map[string]any:
		other, ok := should.(map[string]any)
		if !ok {
			return d.set(path, is, should)
		}
		if slug, ok := is["slug"].(string); ok && slug == other["slug"] {
			before := d.Tool
			if d.Tool = slug; d.fields(path, is, other) {
				return true
			}
			d.Tool = before
			return false
		}
		return d.fields(path, is, other)
	case []any:
		other, ok := should.([]any)
		if !ok {
			return d.set(path, is, should)
		}
		for i := range max(len(is), len(other)) {
			if d.find(fmt.Sprintf("%s[%d]", path, i), at(is, i), at(other, i)) {
				return true
			}
		}
		return false
	default:
		return is != should && d.set(path, is, should)
	}
}

func (d *Difference) fields(path string, is, should map[string]any) bool {
	names := maps.Clone(is)
	maps.Copy(names, should)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if d.find(strings.TrimPrefix(path+"."+name, "."), value(is, name), value(should, name)) {
			return true
		}
	}
	return false
}

// missing is the value of a field that is not there. It differs from null.
type missing struct{}

func value(of map[string]any, name string) any {
	if v, ok := of[name]; ok {
		return v
	}
	return missing{}
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return missing{}
}

func (d *Difference) set(path string, is, should any) bool {
	text := func(v any) string {
		data, err := json.Marshal(v)
		if _, none := v.(missing); none || err != nil {
			return "missing"
		}
		if len(data) > 200 {
			return string(data[:200]) + "…"
		}
		return string(data)
	}
	d.Field, d.Is, d.Should = path, text(is), text(should)
	return true
}
