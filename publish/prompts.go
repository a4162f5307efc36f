package publish

import (
	"path"

	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/runner/eval"
)

// promptList is prompts/<category>.json: what was asked.
type promptList struct {
	Category string        `json:"category"`
	Prompts  []askedPrompt `json:"prompts"`
}

// askedPrompt is a prompt of an eval. An embargo leaves out its text; the hash stays, so
// that a later publication can be compared with it.
type askedPrompt struct {
	Eval   string    `json:"eval"`
	Prompt string    `json:"prompt"` // its id
	Text   string    `json:"text,omitempty"`
	SHA256 string    `json:"sha256"`
	Family string    `json:"family,omitempty"`
	Tags   eval.Tags `json:"tags,omitzero"`
}

func promptsPath(category string) string { return path.Join("prompts", category+".json") }

type promptKey struct{ category, eval, prompt string }

// promptTexts are the texts that are published.
type promptTexts map[promptKey]string

// promptDocuments renders the prompts of every category by path.
func promptDocuments(m *Manifest, texts promptTexts) (map[string][]byte, error) {
	lists := map[string]*promptList{}
	for _, e := range m.Evals {
		l := lists[e.Category]
		if l == nil {
			l = &promptList{Category: e.Category, Prompts: []askedPrompt{}}
			lists[e.Category] = l
		}
		for _, p := range e.Prompts {
			l.Prompts = append(l.Prompts, askedPrompt{e.Name, p.ID, texts[promptKey{e.Category, e.Name, p.ID}], p.SHA256, p.Family, p.Tags})
		}
	}
	docs := map[string][]byte{}
	for category, l := range lists {
		var err error
		if docs[promptsPath(category)], err = content.JSON(l); err != nil {
			return nil, err
		}
	}
	return docs, nil
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

// publishedTexts returns the texts of a snapshot. One that does not have the hash of the
// manifest is damage, as is any text under an embargo.
func publishedTexts(m *Manifest, docs map[string][]byte) (promptTexts, error) {
	texts := promptTexts{}
	for _, e := range m.Evals {
		var l promptList
		name := promptsPath(e.Category)
		if err := decode(docs, name, &l); err != nil {
			return nil, err
		}
		for _, p := range l.Prompts {
			if m.Embargo && p.Text != "" || !m.Embargo && content.Digest([]byte(p.Text)) != p.SHA256 {
				return nil, &DamageError{Path: name, Reason: "the text of prompt " + p.Eval + "/" + p.Prompt + " is not that of its hash, or is under an embargo"}
			}
			texts[promptKey{e.Category, p.Eval, p.Prompt}] = p.Text
		}
	}
	return texts, nil
}
