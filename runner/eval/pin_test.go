package eval_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

// TestPin: the digests stand in the text in each form of YAML, and nowhere else.
func TestPin(t *testing.T) {
	a, b := strings.Repeat("a", 64), strings.Repeat("b", 64)
	for name, templates := range map[string]string{
		"flow":            "templates: [none, {name: shop, dir: shop}, {dir: api, name: api}]",
		"flow over lines": "templates:\n  - none\n  - {name: shop, # mine\n     dir: shop}\n  - { name: api, dir: api }",
		"blocks":          "templates:\n- none\n- name: shop\n  dir: shop\n- dir: \"api\" # ä\n  name: api",
		"after umlauts":   "templates: [\"none\", {name: shop, dir: 'größe'}, {name: api, dir: api}]",
		"pinned before":   "templates: [{name: shop, dir: shop, digest: " + a + "}, {name: api, dir: api}]",
	} {
		t.Run(name, func(t *testing.T) {
			source := withKeys(templates)
			before, err := eval.Parse("e.yaml", []byte(source))
			if err != nil {
				t.Fatal(err)
			}
			text, err := eval.Pin([]byte(source), map[string]string{"shop": a, "api": b, "other": a})
			if err != nil {
				t.Fatal(err)
			}
			e, err := eval.Parse("e.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if e.Sources[0].Digest != a || e.Sources[1].Digest != b || len(e.Templates) != len(before.Templates) || e.Sources[1].Dir != "api" {
				t.Errorf("%+v in\n%s", e.Sources, text)
			}
			again, err := eval.Pin(text, map[string]string{"shop": b, "api": a})
			if err != nil || string(again) != string(text) {
				t.Errorf("pinned twice: %v\n%s", err, again)
			}
		})
	}
	source := withKeys("templates: [{name: shop, dir: shop, digest: abc}]")
	if _, err := eval.Parse("e.yaml", []byte(source)); err == nil || !strings.Contains(err.Error(), "digest: want 64") {
		t.Errorf("%v", err)
	}
}
