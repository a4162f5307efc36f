package publish

import (
	"path"

	"github.com/firstpick/firstpick/analytics"
)

// promptList is prompts/<category>.json.
type promptList struct {
	Category string             `json:"category"`
	Prompts  []analytics.Prompt `json:"prompts"`
}

func promptsPath(category string) string { return path.Join("prompts", category+".json") }

// addPrompts counts the trials of each prompt of a board. Prompts without a trial are
// there too, as the manifest has them.
func (m *Manifest) addPrompts(b *analytics.Board, of analytics.Measurement) {
	counted := map[string]analytics.Prompt{}
	for _, p := range of.Prompts() {
		counted[p.Name()] = p
	}
	b.Prompts = []analytics.Prompt{}
	for _, e := range m.Evals {
		if e.Category != b.Category {
			continue
		}
		for _, listed := range e.Prompts {
			p, ok := counted[e.Name+"/"+listed.ID]
			if !ok {
				p = of.Prompt(e.Name+"/"+listed.ID, nil)
			}
			p.SHA256 = listed.SHA256
			b.Prompts = append(b.Prompts, p)
		}
	}
}

// promptDocuments renders the prompts of boards, by path.
func promptDocuments(boards []analytics.Board, add func(name string, v any) error) error {
	for _, b := range boards {
		if err := add(promptsPath(b.Category), promptList{b.Category, b.Prompts}); err != nil {
			return err
		}
	}
	return nil
}
