package publish

import (
	"path"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish/content"
)

// promptList is prompts/<category>.json: what was asked, and how often which tool was
// picked. An embargo leaves out the texts; the hashes stay, so that a later publication can
// be compared with them.
type promptList struct {
	Category string             `json:"category"`
	Prompts  []analytics.Prompt `json:"prompts"`
}

func promptsPath(category string) string { return path.Join("prompts", category+".json") }

type promptKey struct{ category, eval, prompt string }

// promptTexts are the texts that are published.
type promptTexts map[promptKey]string

// addPrompts counts the trials of each prompt of a board. Prompts without a trial are
// there too, as the manifest has them.
func (m *Manifest) addPrompts(b *analytics.Board, of analytics.Measurement, texts promptTexts) {
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
			p.Eval, p.Prompt = e.Name, listed.ID // names of evals may have slashes
			p.SHA256, p.Text = listed.SHA256, texts[promptKey{e.Category, e.Name, listed.ID}]
			b.Prompts = append(b.Prompts, p)
		}
	}
}

// promptTexts returns the texts of the prompts; none under an embargo.
func (in Input) promptTexts() promptTexts {
	texts := promptTexts{}
	for _, r := range in.Runs {
		for _, p := range r.Eval.Prompts {
			if !in.EmbargoPrompts {
				texts[promptKey{r.Eval.Category, r.Eval.Name, p.ID}] = p.Text
			}
		}
	}
	return texts
}

// publishedTexts returns the texts of a snapshot; layout 1 has none. One that does not have
// the hash of the manifest is damage, as is any text under an embargo.
func publishedTexts(m *Manifest, docs map[string][]byte) (promptTexts, error) {
	texts := promptTexts{}
	if m.SchemaVersion < 2 {
		return texts, nil
	}
	for _, e := range m.Evals {
		var l promptList
		name := promptsPath(e.Category)
		if err := decode(docs, name, &l); err != nil {
			return nil, err
		}
		for _, p := range l.Prompts {
			if m.Embargo && p.Text != "" || !m.Embargo && content.Digest([]byte(p.Text)) != p.SHA256 {
				return nil, &DamageError{Path: name, Reason: "the text of prompt " + p.Name() + " is not that of its hash, or is under an embargo"}
			}
			texts[promptKey{e.Category, p.Eval, p.Prompt}] = p.Text
		}
	}
	return texts, nil
}
