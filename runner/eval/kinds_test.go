package eval_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/firstpick/firstpick/runner/eval"
)

// compiled is the schema that editors use.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var doc any
	if err := json.Unmarshal(eval.Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("eval.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("eval.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestSchemaAgreesOnEveryKeyOfEveryKind tries each key with each kind: parser and
// schema take it both, or refuse it both.
func TestSchemaAgreesOnEveryKeyOfEveryKind(t *testing.T) {
	values := map[string]any{
		"study": "s", "file": "f.jsonl", "truth": map[string]any{"a": 1}, "seed": 3, "latency_ms": 5, "fail_rate": 0.1, "prompt_spread": 1,
		"model": "m-1", "api_key_env": "MY_KEY", "base_url": "https://models.example/v1", "price": map[string]any{"input_per_mtok": 1, "output_per_mtok": 2, "cache_read_per_mtok": 0.1},
		"max_tokens": 100, "timeout_s": 60, "max_cost_usd": 2.5, "max_concurrency": 4, "temperature": 0.5, "effort": "low", "web_search": true,
		"binary": "x", "version": "1.2", "args": []string{"-v"}, "env": []string{"LANG"}, "purity": "clean", "network": "off", "max_turns": 5,
		"trial_cost_usd": 1, "wall_s": 60, "stall_s": 30, "grace_s": 5, "memory_mb": 300, "disk_mb": 1000, "max_processes": 100, "command": []string{"run", "{prompt}"}, "format": "text",
	}
	schema := compiled(t)
	taken := 0
	for _, k := range eval.Kinds() {
		kind, needed := k.Name, strings.Fields(k.Requires)
		if k.OneOf != "" {
			needed = strings.Fields(k.OneOf)[:1]
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			a := map[string]any{"name": "a", "kind": kind, key: values[key]}
			for _, field := range needed {
				a[field] = values[field]
			}
			if kind == eval.KindRecorded && key == "file" {
				delete(a, "study")
			}
			text, err := json.Marshal(map[string]any{
				"name": "e", "category": "c", "prompts": []any{map[string]any{"id": "p", "text": "Which?"}}, "agents": []any{a},
			})
			if err != nil {
				t.Fatal(err)
			}
			_, parseErr := eval.Parse("eval.yaml", text) // JSON is YAML
			inst, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			if schemaErr := schema.Validate(inst); (parseErr == nil) != (schemaErr == nil) {
				t.Errorf("%s with %s: the parser says %v, the schema %v", kind, key, parseErr, fmt.Sprint(schemaErr))
			}
			if parseErr == nil {
				taken++
			}
		}
	}
	if taken < 150 {
		t.Errorf("only %d pairs of kind and key are taken", taken)
	}
}
