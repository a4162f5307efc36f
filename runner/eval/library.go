package eval

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// Library returns the built-in prompts of a category, as an eval without agents whose
// name is the category. files are those of fixtures. The error is fs.ErrNotExist for a
// category without prompts.
func Library(files fs.FS, category string) (*Eval, error) {
	name := "prompts/" + category + ".yaml"
	data, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return nil, fmt.Errorf("category %q has no built-in prompts: %w", category, fs.ErrNotExist)
	}
	if err != nil {
		return nil, err
	}
	return parseLibrary(name, category, data)
}

func parseLibrary(name, category string, data []byte) (*Eval, error) {
	f, root := strictyaml.Parse(name, bytes.NewReader(data))
	if root == nil {
		return nil, f.Err()
	}
	k := root.Keys("category", "prompts")
	e := &Eval{Name: category, Category: requireName(f, root, k["category"], "category"), Repeats: 1, Templates: []string{NoTemplate}, file: name}
	if e.Category != category {
		f.Add(k["category"].Line(), "category: want %q, as the file is named", category)
	}
	for _, n := range k["prompts"].Maps() {
		p := parsePrompt(n)
		if p.Family == "" || p.Tags.Intent == "" || p.Tags.Persona == "" {
			n.Fail("prompt %q: want family, and the tags intent and persona", p.ID)
		}
		e.Prompts = append(e.Prompts, p)
	}
	unique("prompt id", k["prompts"].Maps(), func(n *strictyaml.Node) string { return member(n, "id") })
	return e, f.Err()
}
