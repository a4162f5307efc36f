package eval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
)

// A Prompt is one unbranded request.
type Prompt struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Family is the task as the eval file has it; see FamilyName.
	Family string `json:"family,omitempty"`
	Tags   Tags   `json:"tags,omitzero"`
	line   int
}

// Tags describe a prompt for counts by group. Each value is one of a closed list, or
// empty if the prompt has no such tag.
type Tags struct {
	// Ecosystem is the package registry of the project, as in the catalogue.
	Ecosystem string `json:"ecosystem,omitempty"`
	// Intent is the kind of request, one of Intents.
	Intent string `json:"intent,omitempty"`
	// Persona is the role of the person who asks, one of Personas.
	Persona string `json:"persona,omitempty"`
}

// Intents returns the kinds of request: write it, name one, name a hosted one, and move
// from something else.
func Intents() []string { return []string{"build", "recommend", "hosted", "migrate"} }

// Personas returns the roles of the people who ask.
func Personas() []string {
	return []string{
		"developer", "backend-developer", "frontend-developer", "mobile-developer", "data-engineer", "platform-engineer",
		"security-engineer", "tech-lead", "maintainer", "student", "product-manager", "founder", "owner", "executive",
		"manager", "specialist", "it-admin",
	}
}

// tagKeys returns the keys of Tags with their values, in the order of the fields.
func tagKeys() []tagKey {
	var ecosystems []string
	for _, e := range catalog.Ecosystems() {
		ecosystems = append(ecosystems, string(e))
	}
	return []tagKey{
		{"ecosystem", ecosystems, func(t *Tags) *string { return &t.Ecosystem }},
		{"intent", Intents(), func(t *Tags) *string { return &t.Intent }},
		{"persona", Personas(), func(t *Tags) *string { return &t.Persona }},
	}
}

type tagKey struct {
	name   string
	values []string
	field  func(*Tags) *string
}

// Check returns an error for a value that is not in its list. Parse checks the tags of
// eval files itself, with lines.
func (t Tags) Check() error {
	for _, key := range tagKeys() {
		if s := *key.field(&t); s != "" && !slices.Contains(key.values, s) {
			return key.unknown(s)
		}
	}
	return nil
}

func (k tagKey) unknown(value string) error {
	return fmt.Errorf("tag %s: unknown value %q; %s", k.name, value, nearest.Hint(value, k.values))
}

// FamilyName returns the task that the prompt asks for: the same for all phrasings of
// one task, and the prompt's id if the eval file names no family.
func (p Prompt) FamilyName() string { return cmp.Or(p.Family, p.ID) }

// TextKey returns the key of the prompt's text. Texts that differ only in white space,
// case or Unicode form (NFKC) have the same key and count as one prompt; see
// Pool.Clusters. It is empty if the text is unknown, as in some imports.
func (p Prompt) TextKey() string {
	text := strings.Join(strings.Fields(folded(p.Text)), " ")
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// folded returns a text without differences of case and Unicode form.
func folded(text string) string {
	return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(text)))
}

func parsePrompt(n *strictyaml.Node) Prompt {
	k := n.Keys("id", "text", "family", "tags")
	p := Prompt{ID: require(n, k, "id"), Text: require(n, k, "text"), line: n.Line()}
	if p.ID != "" && !namePattern.MatchString(p.ID) {
		n.Fail("prompt id %q is not a valid name: want letters, digits and . _ / : -, at most 100", p.ID)
	}
	if family := k["family"]; family != nil {
		p.Family = validName(family, "family")
	}
	p.Tags = parseTags(k["tags"])
	return p
}

func parseTags(n *strictyaml.Node) (t Tags) {
	if n == nil {
		return t
	}
	keys := tagKeys()
	names := make([]string, len(keys))
	for i, key := range keys {
		names[i] = key.name
	}
	k := n.Keys(names...)
	for _, key := range keys {
		value := k[key.name]
		if value == nil {
			continue
		}
		s, _ := value.Text()
		if !slices.Contains(key.values, s) {
			value.Fail("%s", key.unknown(s))
		}
		*key.field(&t) = s
	}
	return t
}
