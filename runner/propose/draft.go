package propose

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/eval"
)

//go:embed eval.yaml.tmpl
var draftText string

// draftWidth is the longest line of a prompt in a draft, in characters.
const draftWidth = 110

// A Draft is an eval file with built-in prompts, to be edited.
type Draft struct {
	Name, Category string
	Prompts        []eval.Prompt
	// Truth is that of the simulated agent that stands in for real ones.
	Truth string
	// Reasons makes it name a rival with a made-up reason.
	Reasons bool
	// Agents are rows of real ones; without any, the draft has the simulated one.
	Agents []string
	// Repeats is how often each prompt is sent; 0 means 3.
	Repeats int
}

// Render returns the draft as an eval file that passes the checks of a run. file names it in
// errors.
func (d *Draft) Render(file string, c *catalog.Category) ([]byte, error) {
	t, err := template.New("eval").Funcs(template.FuncMap{"lines": wrap, "tags": tagsInYAML}).Parse(draftText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, d); err != nil {
		return nil, err
	}
	e, err := eval.Parse(file, b.Bytes())
	if err == nil {
		err = errors.Join(e.Lint(c)...)
	}
	return b.Bytes(), err
}

// Truth returns what the simulated agent of a product's eval picks: the product and the first
// of its rivals.
func Truth(own string, rivals []string) string {
	text := "{" + own + ": 0.3, "
	for _, slug := range rivals[:min(3, len(rivals))] {
		text += slug + ": 0.2, "
	}
	return text + "diy: 0.1}"
}

// FormatTruth writes the truth of a stored simulated agent as Draft.Truth has it.
func FormatTruth(truth map[string]float64) string {
	var parts []string
	for _, slug := range slices.Sorted(maps.Keys(truth)) {
		parts = append(parts, fmt.Sprintf("%s: %v", slug, truth[slug]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// wrap breaks a paragraph into lines of at most draftWidth characters.
func wrap(text string) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > draftWidth {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

func tagsInYAML(t eval.Tags) string {
	var parts []string
	for _, tag := range []struct{ key, value string }{{"ecosystem", t.Ecosystem}, {"intent", t.Intent}, {"persona", t.Persona}} {
		if tag.value != "" {
			parts = append(parts, tag.key+": "+tag.value)
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
