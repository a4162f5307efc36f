package servertest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// TestExamplesFitTheirSchemas holds every example of the description to the schema
// that it stands beside.
func TestExamplesFitTheirSchemas(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromFile("../public/openapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	fit := func(where string, schema *openapi3.SchemaRef, example any) {
		n++
		if schema == nil {
			t.Errorf("%s: an example without a schema", where)
			return
		}
		data, err := json.Marshal(example) // as a client would read it
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		var value any
		if err := json.Unmarshal(data, &value); err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if err := schema.Value.VisitJSON(value, openapi3.MultiErrors(), openapi3.EnableJSONSchema2020()); err != nil {
			t.Errorf("%s: %v", where, err)
		}
	}
	content := func(where string, c openapi3.Content) {
		for media, m := range c {
			if m.Example != nil {
				fit(where+" "+media, m.Schema, m.Example)
			}
			for name, e := range m.Examples {
				fit(where+" "+media+" "+name, m.Schema, e.Value.Value)
			}
			if media == "application/json" && m.Example == nil && len(m.Examples) == 0 {
				t.Errorf("%s: no example", where)
			}
		}
	}
	param := func(where string, list openapi3.Parameters) {
		for _, p := range list {
			if p.Value.Example != nil {
				fit(where+" "+p.Value.Name, p.Value.Schema, p.Value.Example)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		for method, op := range doc.Paths.Value(path).Operations() {
			where := method + " " + path
			param(where, op.Parameters)
			if op.RequestBody != nil {
				content(where, op.RequestBody.Value.Content)
			}
			for status, r := range op.Responses.Map() {
				content(where+" "+status, r.Value.Content)
			}
		}
	}
	for name, s := range doc.Components.Schemas {
		if s.Value.Example != nil {
			fit("schema "+name, s, s.Value.Example)
		}
	}
	if n < 100 {
		t.Errorf("only %d examples were found", n)
	}
}
