package prose

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
)

//go:embed lexicon/*.txt
var files embed.FS

// A Lexicon has the phrases of one language. It is read-only.
type Lexicon struct {
	// Language is the ISO 639-1 code.
	Language string
	lists    map[Class]map[string]bool // the sections of single words
	tree     func() *tree
}

// Lexicons returns the embedded lexicons, by language. Most texts are of one language, so the
// phrases of each are read when they are first matched. The error names file and line.
func Lexicons() (map[string]*Lexicon, error) { return embedded() }

var embedded = sync.OnceValues(func() (map[string]*Lexicon, error) {
	names, err := fs.Glob(files, "lexicon/*.txt")
	if err != nil {
		return nil, err
	}
	out := map[string]*Lexicon{}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		language := strings.TrimSuffix(strings.TrimPrefix(name, "lexicon/"), ".txt")
		x, phrases, err := parse(language, string(text))
		if err != nil {
			return nil, err
		}
		x.tree = sync.OnceValue(func() *tree {
			t, err := grow(language, phrases)
			if err != nil {
				panic(err) // the lexicons are embedded and tested
			}
			return t
		})
		out[language] = x
	}
	return out, nil
})

// Lists reports whether a section of single words has any.
func (x *Lexicon) Lists(c Class) bool { return len(x.lists[c]) > 0 }

// Holds reports whether a text contains a word of a section of single words.
func (x *Lexicon) Holds(c Class, text string) bool {
	for word := range x.lists[c] {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// Parse reads a lexicon. FORMAT.md describes it.
func Parse(language, text string) (*Lexicon, error) {
	x, phrases, err := parse(language, text)
	if err != nil {
		return nil, err
	}
	t, err := grow(language, phrases)
	x.tree = func() *tree { return t }
	return x, err
}

// A line is a phrase of a lexicon.
type line struct {
	number int
	class  Class
	text   string
}

func failure(language string, line int, err error) error {
	return fmt.Errorf("%s.txt:%d: %w", language, line, err)
}

// parse reads the sections of single words, and returns the lines of phrases.
func parse(language, text string) (x *Lexicon, phrases []line, err error) {
	x = &Lexicon{Language: language, lists: map[Class]map[string]bool{}}
	for _, c := range []Class{And, Or, Lead, Opposing, Common, Barrier, Serves, Complement, Verb, Removes, You, Limit, Here, Article, NameCue, Dangling, Negation, Without, Speaker} {
		x.lists[c] = map[string]bool{}
	}
	section := Class(-1)
	for n, text := range strings.Split(text, "\n") {
		text, _, _ = strings.Cut(text, "# ")
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text == "#":
		case strings.HasPrefix(text, "["):
			i := slices.Index(classNames[:], strings.Trim(text, "[]"))
			if i < 0 {
				return nil, nil, failure(language, n+1, fmt.Errorf("unknown section %s; known: %s", text, strings.Join(classNames[:], ", ")))
			}
			section = Class(i)
		case section < 0:
			return nil, nil, failure(language, n+1, errors.New("a phrase before the first section"))
		case !x.list(section, text):
			phrases = append(phrases, line{n + 1, section, text})
		}
	}
	return x, phrases, nil
}

// list adds the words of a line to their section, if it is one of single words.
func (x *Lexicon) list(class Class, text string) bool {
	set := x.lists[class]
	switch {
	case set == nil:
		return false
	case class == Negation:
		if strings.ContainsAny(text, "(*^") || len(Tokens(text)) != 1 {
			return false
		}
		set[Tokens(text)[0].Key] = true
	default:
		for _, w := range strings.Fields(text) {
			key := ""
			for _, t := range Tokens(w) { // "または" is three
				key += t.Key
			}
			set[key] = true
		}
	}
	return true
}

// An element is one step of a phrase.
type element struct {
	is    step
	key   string      // a word, or a stem with "~"
	gap   int         // up to so many words
	group [][]element // alternatives
}

type step int

const (
	literal step = iota
	anyWords
	slotX // the name that the class is about
	slotY // a name that it turns down
	start
	end
	group
)

// slots returns the lowest and the highest number of X in an alternative.
func slots(alternatives [][]element) (low, high int) {
	for i, s := range alternatives {
		a, b := 0, 0
		for _, e := range s {
			if e.is == slotX {
				a, b = a+1, b+1
			}
			l, h := slots(e.group)
			a, b = a+l, b+h
		}
		if i == 0 || a < low {
			low = a
		}
		high = max(high, b)
	}
	return low, high
}

// empty reports whether one of the alternatives matches no word.
func empty(alternatives [][]element) bool {
	return slices.ContainsFunc(alternatives, func(s []element) bool {
		return !slices.ContainsFunc(s, func(e element) bool {
			return e.is == literal || e.is == slotX || e.is == slotY || e.is == group && !empty(e.group)
		})
	})
}

// A phrase is the rest of a line to parse.
type phrase struct{ rest string }

// alternatives parses "a|b" up to the end or a closing parenthesis.
func (p *phrase) alternatives() ([][]element, error) {
	var all [][]element
	for {
		s, err := p.sequence()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
		if !strings.HasPrefix(p.rest, "|") {
			return all, nil
		}
		p.rest = p.rest[1:]
	}
}

// sequence parses words and groups.
func (p *phrase) sequence() ([]element, error) {
	var out []element
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		if p.rest[0] != '(' {
			out = append(out, p.words()...)
			continue
		}
		p.rest = p.rest[1:]
		alternatives, err := p.alternatives()
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(p.rest, ")") {
			return nil, errors.New("a parenthesis is open")
		}
		p.rest = p.rest[1:]
		out = append(out, element{is: group, group: alternatives})
	}
	return out, nil
}

// words reads plain words up to a parenthesis or bar.
func (p *phrase) words() []element {
	n := strings.IndexAny(p.rest, "()|")
	if n < 0 {
		n = len(p.rest)
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	var out []element
	tokens := Tokens(text)
	for i, t := range tokens {
		switch raw := text[t.From:t.To]; raw {
		case "X":
			out = append(out, element{is: slotX})
		case "Y":
			out = append(out, element{is: slotY})
		case "^":
			out = append(out, element{is: start})
		case "$":
			out = append(out, element{is: end})
		case "*":
			out = append(out, element{is: anyWords, gap: 2})
		case "**":
			out = append(out, element{is: anyWords, gap: 6})
		case "'": // an elision before a group: "j'(ai|irais) X"; an ending is one with its letters
			if len(out) > 0 && t.From > 0 && text[t.From-1] != ' ' {
				out[len(out)-1].key += "'"
			}
		case "{": // a parenthesis of the text
			out = append(out, element{key: "("})
		case "~":
			if len(out) > 0 {
				out[len(out)-1].key += "~"
			}
		default:
			key := t.Key
			if i > 0 && tokens[i-1].Key == "'" && tokens[i-1].To == t.From && isEnding(key) && (tokens[i-1].From == 0 || text[tokens[i-1].From-1] == ' ') {
				key = "'" + key // "that('s| is) X"
			}
			out = append(out, element{key: key})
		}
	}
	return out
}
