package eval_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

// jsonEval is an eval with one prompt, as text between quotes.
func jsonEval(prompt string) string {
	return "{\n\t\"name\": \"a\", \"category\":\"webserver\",\n\t\"prompts\": [{\"id\": \"p\", \"text\": " + prompt + "}],\n\t" +
		"\"agents\": [{\"name\": \"x\", \"kind\": \"simulated\", \"truth\": {\"diy\": 1e0}}]\n}\n"
}

func TestJSONIsReadLikeYAML(t *testing.T) {
	for written, want := range map[string]string{
		`"plain"`: "plain", `"a\/b"`: "a/b", `"\ud83d\ude00 \u00e9 \" \\ \n\t end"`: "😀 é \" \\ \n\t end", `"\u2028\u0085\u0000\u007f\ufeff"`: "\u2028\u0085\x00\x7f\ufeff",
		"\"a\u0085b\u2028c\"": "a\u0085b\u2028c", `"# no: comment, {x}"`: "# no: comment, {x}",
	} {
		e, err := eval.Parse("eval", []byte(jsonEval(written)))
		if err != nil || e.Prompts[0].Text != want {
			t.Errorf("%s: %v", written, err)
			continue
		}
		if e.Source != jsonEval(written) {
			t.Errorf("%s: the source was changed", written)
		}
	}
}

func TestProblemsInJSONHaveTheirLines(t *testing.T) {
	for source, want := range map[string]string{
		strings.Replace(jsonEval(`"x"`), `"id"`, `"idd"`, 1):            "eval:3: id is missing\neval:3: unknown key \"idd\" in prompts; did you mean id?",
		strings.Replace(jsonEval(`"x"`), `"simulated"`, `null`, 1):      "eval:4: agent kind \"\" is unknown",
		strings.Replace(jsonEval(`"x"`), `"agents"`, `"name":1,"a"`, 1): "eval:4: duplicate key \"name\"",
		strings.Replace(jsonEval(`"x"`), `"truth": {`, `"truth": `, 1):  "eval:3: not YAML",
	} {
		if _, err := eval.Parse("eval", []byte(source)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzJSONText checks that any text comes out of JSON as it went in.
func FuzzJSONText(f *testing.F) {
	for _, s := range []string{"", "a: b", "\u0085", "😀", "\"\\", "- {", "\x00\x1f\n \n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		written, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want string
		if err := json.Unmarshal(written, &want); err != nil || want == "" {
			return
		}
		e, err := eval.Parse("eval", []byte(jsonEval(string(written))))
		if err != nil || e.Prompts[0].Text != want {
			t.Fatalf("%q: %v", want, err)
		}
	})
}

func TestLintTellsEachPromptOnce(t *testing.T) {
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := cat.Category("webserver")
	e, err := eval.Parse("eval", []byte(jsonEval(`"Write it with Flask, or Django."`)))
	if err != nil {
		t.Fatal(err)
	}
	if errs := e.Lint(c); len(errs) != 2 || !strings.HasPrefix(errs[0].Error(), `eval:3: prompt "p" names Django`) {
		t.Errorf("%v", errs)
	}
}
