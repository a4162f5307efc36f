package openapi_test

import (
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/public/openapi"
)

// TestChangesAreDocumented compares the enum of changes with the table of kinds.
func TestChangesAreDocumented(t *testing.T) {
	var doc yaml.Node
	if err := yaml.Unmarshal(openapi.Source(), &doc); err != nil {
		t.Fatal(err)
	}
	what := find(&doc, "what")
	if what == nil {
		t.Fatal("changes have no property what")
	}
	var got, want []string
	if err := find(what, "enum").Decode(&got); err != nil {
		t.Fatal(err)
	}
	for _, k := range change.Kinds() {
		if k.Report != "" {
			want = append(want, k.Report)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("openapi.yaml has %q, and reports have %q", got, want)
	}
}

// find returns the value of the first key below a node.
func find(n *yaml.Node, key string) *yaml.Node {
	if n == nil {
		return nil
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == key {
			return n.Content[i+1]
		}
		if found := find(c, key); found != nil {
			return found
		}
	}
	return nil
}
