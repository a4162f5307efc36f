package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// An option is one entry of the closed list.
type option struct {
	kind  pick.Kind // empty for "cannot tell"
	tool  string    // slug; empty for all but tools
	label string
	names []name
}

// A name is a text that names a tool. Exact demands the case as written.
type name struct {
	text  string
	exact bool
}

// A Reader prepares the requests about answers of one category, and reads the judges'
// replies. It may be used by many goroutines.
type Reader struct {
	category *catalog.Category
	options  []option
	names    []name // of all tools
	forms    []form
}

// New returns the reader of a category.
func New(c *catalog.Category) *Reader {
	r := &Reader{category: c, forms: forms()}
	for _, e := range c.Entries {
		o := option{kind: pick.Tool, tool: e.Tool.Slug, label: e.Tool.Name, names: namesOf(e)}
		r.options = append(r.options, o)
		r.names = append(r.names, o.names...)
	}
	r.options = append(r.options,
		option{kind: pick.DIY, label: "its own build: it writes the solution itself, without a product for it"},
		option{kind: pick.Other, label: "another product or library, which is not in this list"},
		option{kind: pick.None, label: "nothing: it asks back, explains, or leaves the choice to the reader"},
		option{kind: pick.Ambiguous, label: "several: it commits to two or more without a preference"},
		option{label: "cannot tell"},
	)
	return r
}

// namesOf returns the names by which an answer may mention a tool.
func namesOf(e catalog.Entry) []name {
	out := []name{{text: e.Tool.Name}}
	for _, a := range e.Aliases {
		out = append(out, name{a.Text, a.Exact})
	}
	var others []string
	others = append(others, e.Tool.Domains...)
	others = append(others, e.Hosts...)
	for _, by := range []map[catalog.Ecosystem][]string{e.Packages, e.Imports} {
		for _, eco := range slices.Sorted(maps.Keys(by)) {
			others = append(others, by[eco]...)
		}
	}
	for _, text := range others {
		out = append(out, name{text: text})
	}
	return slices.DeleteFunc(out, func(n name) bool { return len(n.text) < 2 })
}

// shuffled returns the options in an order that depends on the trial and the model only.
func (r *Reader) shuffled(trial, model string) []option {
	key := func(o option) string {
		sum := sha256.Sum256([]byte(trial + "\x00" + model + "\x00" + string(o.kind) + "\x00" + o.tool))
		return string(sum[:])
	}
	out := slices.Clone(r.options)
	sorting.Func(out, func(a, b option) int { return cmp.Compare(key(a), key(b)) })
	return out
}

// Binding returns the digest of what a judge reads: transcript, options and version.
func (r *Reader) Binding(t transcript.Transcript) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	parts := []any{Version, r.category.Slug, r.category.Name, r.category.Summary}
	for _, o := range r.options {
		parts = append(parts, o.kind, o.tool, o.label)
	}
	for _, part := range append(parts, t) {
		if err := enc.Encode(part); err != nil {
			return "" // malformed JSON in a structured answer: no judgement is bound to it
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// mentions reports whether a text names one of the names as a word of its own.
func mentions(text string, names []name) bool {
	lower := strings.ToLower(text)
	return slices.ContainsFunc(names, func(n name) bool {
		in, want := lower, strings.ToLower(n.text)
		if n.exact {
			in, want = text, n.text
		}
		for from := 0; ; {
			i := strings.Index(in[from:], want)
			if i < 0 {
				return false
			}
			start := from + i
			if whole(in, start, start+len(want)) {
				return true
			}
			from = start + 1
		}
	})
}

// whole reports whether a range is not part of a longer word. Scripts without spaces may
// touch it.
func whole(s string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:start])
	after, _ := utf8.DecodeRuneInString(s[end:])
	word := func(r rune) bool {
		return r == '_' || unicode.IsDigit(r) || unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek)
	}
	return !word(before) && !word(after)
}
