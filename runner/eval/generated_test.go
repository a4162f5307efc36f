package eval_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

var update = flag.Bool("update", false, "rewrite what is generated from eval.Kinds")

// TestGenerated compares what the table of kinds determines in other files.
func TestGenerated(t *testing.T) {
	for path, render := range map[string]func(text string) string{
		"eval.schema.json":                                  renderSchema,
		"../../server/public/openapi/openapi.yaml":          renderEnum,
		"../../server/public/docs/pages/evals.md":           renderTable,
		"../../server/public/docs/pages/prompts.md":         renderLibrary,
		"../../server/public/docs/pages/ask-real-agents.md": renderNames,
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want := render(string(data))
		if want == string(data) {
			continue
		}
		if !*update {
			t.Errorf("%s is not what eval.Kinds says: run `make golden` (go test ./runner/eval -update) and read the diff", path)
			continue
		}
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// replace replaces the only match of a pattern; it panics where there is not exactly one.
func replace(text, pattern, with string) string {
	re := regexp.MustCompile(pattern)
	if n := len(re.FindAllString(text, -1)); n != 1 {
		panic(fmt.Sprintf("%d places match %s, want 1", n, pattern))
	}
	return re.ReplaceAllLiteralString(text, with)
}

// each renders a text for every kind that the function accepts, and joins them.
func each(sep string, render func(eval.Kind) string) string {
	var parts []string
	for _, k := range eval.Kinds() {
		if s := render(k); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, sep)
}

// quoted renders a list of names: each between quotes.
func quoted(quote, names string) string {
	list := strings.Fields(names)
	for i, name := range list {
		list[i] = quote + name + quote
	}
	return strings.Join(list, ", ")
}

func renderSchema(text string) string {
	refs := each(", ", func(k eval.Kind) string { return `{"$ref": "#/$defs/` + k.Name + `"}` })
	text = replace(text, `(?m)^      "items": \{"oneOf": .*$`, `      "items": {"oneOf": [`+refs+`]}`)
	var ecosystems []string
	for _, e := range catalog.Ecosystems() {
		ecosystems = append(ecosystems, string(e))
	}
	for tag, values := range map[string][]string{"ecosystem": ecosystems, "intent": eval.Intents(), "persona": eval.Personas()} {
		text = replace(text, `"`+tag+`": \{"enum": .*?\}`, `"`+tag+`": {"enum": [`+quoted(`"`, strings.Join(values, " "))+`]}`)
	}
	formats := each("", func(k eval.Kind) string {
		if k.Imitable {
			return ` ` + k.Name
		}
		return ""
	})
	text = replace(text, `(?m)^    "key_format": .*$`, `    "key_format": {"enum": [`+quoted(`"`, "text"+formats)+`]},`)
	defs := each("", func(k eval.Kind) string {
		var b strings.Builder
		fmt.Fprintf(&b, "    %q: {\n      \"type\": \"object\", \"additionalProperties\": false, \"required\": [%s], \"description\": %q,\n",
			k.Name, quoted(`"`, "name kind "+k.Requires), k.Summary)
		fmt.Fprintf(&b, "      \"properties\": {\"name\": {\"$ref\": \"#/$defs/name\"}, \"kind\": {\"const\": %q}", k.Name)
		for _, field := range strings.Fields(k.Fields) {
			fmt.Fprintf(&b, ", %q: {\"$ref\": \"#/$defs/key_%s\"}", field, field)
		}
		b.WriteString("}")
		if k.OneOf != "" {
			var alternatives []string
			for _, field := range strings.Fields(k.OneOf) {
				alternatives = append(alternatives, fmt.Sprintf(`{"required": [%q]}`, field))
			}
			b.WriteString(",\n      \"oneOf\": [" + strings.Join(alternatives, ", ") + "]")
		}
		return b.String() + "\n    },\n"
	})
	name := `    "name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._/:-]{0,99}$"},` + "\n"
	return replace(text, `(?s)`+regexp.QuoteMeta(name)+`.*?(?:    "key_study")`, name+defs+`    "key_study"`)
}

func renderEnum(text string) string {
	return replace(text, `kind: \{type: string, enum: \[recorded.*?\]\}`, `kind: {type: string, enum: [`+each(", ", func(k eval.Kind) string { return k.Name })+`]}`)
}

func renderTable(text string) string {
	rows := each("", func(k eval.Kind) string {
		required := quoted("`", k.Requires)
		if k.OneOf != "" {
			required = "one of " + quoted("`", k.OneOf)
		}
		return fmt.Sprintf("| `%s` | %s | %s | %s |\n", k.Name, strings.TrimSuffix(k.Summary, "."), required, quoted("`", k.KeyEnv))
	})
	head := "| Kind | What it is | Required | Default key variable |\n| --- | --- | --- | --- |\n"
	return replace(text, `(?s)`+regexp.QuoteMeta(head)+`.*?\n?\n(?:\n|$)`, head+rows+"\n")
}

// renderLibrary renders the values of the ecosystem tag and the counts of built-in
// prompts.
func renderLibrary(text string) string {
	var ecosystems []string
	for _, e := range catalog.Ecosystems() {
		ecosystems = append(ecosystems, string(e))
	}
	text = replace(text, "(?m)^\\| `ecosystem` .*$", "| `ecosystem` | registry of the project's packages | "+quoted("`", strings.Join(ecosystems, " "))+" |")
	cat, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		panic(err)
	}
	var rows strings.Builder
	prompts, total := 0, map[string]int{}
	for _, c := range cat.Categories {
		e, err := eval.Library(fixtures.Files(), c.Slug)
		if err != nil {
			panic(err)
		}
		count := map[string]int{}
		for _, p := range e.Prompts {
			count[p.Tags.Intent]++
			total[p.Tags.Intent]++
			prompts++
		}
		fmt.Fprintf(&rows, "| `%s` | %s | %d |%s\n", c.Slug, c.Name, len(e.Prompts), perIntent(count))
	}
	head := fmt.Sprintf("%d categories, %d prompts, each a family of its own.\n\n| Category | Name | Prompts |", len(cat.Categories), prompts)
	for _, intent := range eval.Intents() {
		head += " `" + intent + "` |"
	}
	head += "\n" + strings.Repeat("| --- ", 3+len(eval.Intents())) + "|\n"
	fmt.Fprintf(&rows, "| all | | %d |%s\n", prompts, perIntent(total))
	return replace(text, `(?s)<!-- generated -->\n.*<!-- end -->`, "<!-- generated -->\n"+head+rows.String()+"<!-- end -->")
}

func perIntent(count map[string]int) (cells string) {
	for _, intent := range eval.Intents() {
		cells += fmt.Sprintf(" %d |", count[intent])
	}
	return cells
}

// renderNames lists the kinds of each class in the row of a page that begins with the
// class's first kind. The rest of the row is written by hand.
func renderNames(text string) string {
	names := map[eval.Class][]string{}
	for _, k := range eval.Kinds() {
		names[k.Class] = append(names[k.Class], k.Name)
	}
	for _, list := range names {
		text = replace(text, "(?m)^\\| `"+list[0]+"`[^|]*\\|", "| "+quoted("`", strings.Join(list, " "))+" |")
	}
	return text
}
