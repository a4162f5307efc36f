package prose

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A tree holds the phrases of a lexicon.
type tree struct {
	words    map[string]int32 // exact words, and stems with "~"
	shortest int              // bytes of the shortest stem; 0 for no stems
	phrases  *node
	starts   *node // phrases that stand at the beginning of a clause
}

// grow makes the tree of phrases.
func grow(language string, phrases []line) (*tree, error) {
	t := &tree{words: map[string]int32{}, phrases: &node{}, starts: &node{}}
	for _, l := range phrases {
		if err := t.add(l.class, l.text); err != nil {
			return nil, failure(language, l.number, err)
		}
	}
	return t, nil
}

func (t *tree) add(class Class, text string) error {
	p := &phrase{rest: text}
	alternatives, err := p.alternatives()
	switch low, high := slots(alternatives); {
	case err != nil:
		return fmt.Errorf("%q: %w", text, err)
	case p.rest != "":
		return fmt.Errorf("%q: %q closes nothing", text, p.rest)
	case class <= Past && (low != 1 || high != 1):
		return fmt.Errorf("%q: want one X in each alternative", text)
	case class > Past && high > 0 && class != Ties:
		return fmt.Errorf("%q: section %s takes no X", text, class)
	}
	if empty(alternatives) {
		return fmt.Errorf("%q: may match nothing", text)
	}
	root := t.phrases
	if first := alternatives[0]; len(alternatives) == 1 && len(first) > 0 && first[0].is == start {
		root, alternatives = t.starts, [][]element{first[1:]}
	}
	to, err := t.insert(root, alternatives)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	if !slices.Contains(to.classes, class) {
		to.classes = append(to.classes, class)
	}
	return nil
}

// A node is a step in the tree of phrases.
type node struct {
	next    map[int32]*node
	gaps    []gap
	x, y    *node
	atEnd   *node   // at the end of a clause
	free    []*node // behind a group
	classes []Class
}

type gap struct {
	most int
	to   *node
}

// insert adds alternatives behind a node, and returns the node behind them all.
func (t *tree) insert(from *node, alternatives [][]element) (*node, error) {
	var join *node
	for _, s := range alternatives {
		at := from
		for i, e := range s {
			switch e.is {
			case literal:
				at = at.literal(t.id(e.key))
			case anyWords:
				at = at.gap(e.gap)
			case slotX:
				at = follow(&at.x)
			case slotY:
				at = follow(&at.y)
			case end:
				at = follow(&at.atEnd)
			case start:
				return nil, errors.New("^ stands behind the beginning")
			case group:
				var err error
				if at, err = t.insert(at, e.group); err != nil {
					return nil, fmt.Errorf("element %d: %w", i+1, err)
				}
			}
		}
		if len(alternatives) == 1 {
			return at, nil
		}
		if join == nil {
			join = &node{}
		}
		at.free = append(at.free, join)
	}
	return join, nil
}

func follow(at **node) *node {
	if *at == nil {
		*at = &node{}
	}
	return *at
}

func (n *node) literal(id int32) *node {
	if n.next == nil {
		n.next = map[int32]*node{}
	}
	if n.next[id] == nil {
		n.next[id] = &node{}
	}
	return n.next[id]
}

func (n *node) gap(most int) *node {
	for _, g := range n.gaps {
		if g.most == most {
			return g.to
		}
	}
	to := &node{}
	n.gaps = append(n.gaps, gap{most, to})
	return to
}

// id numbers a word or stem.
func (t *tree) id(key string) int32 {
	if id, ok := t.words[key]; ok {
		return id
	}
	if stem, ok := strings.CutSuffix(key, "~"); ok && (t.shortest == 0 || len(stem) < t.shortest) {
		t.shortest = len(stem)
	}
	id := int32(len(t.words) + 1) //nolint:gosec // a lexicon has thousands of words
	t.words[key] = id
	return id
}

// ids returns the numbers by which phrases may know a word: itself and its stems.
func (t *tree) ids(key string, out []int32) []int32 {
	if id, ok := t.words[key]; ok {
		out = append(out, id)
	}
	if t.shortest == 0 || len(key) < t.shortest {
		return out
	}
	var stem [64]byte
	if len(key) >= len(stem) {
		return out
	}
	copy(stem[:], key)
	for n := t.shortest; n <= len(key); n++ {
		if n < len(key) && !utf8.RuneStart(key[n]) {
			continue
		}
		saved := stem[n]
		stem[n] = '~'
		if id, ok := t.words[string(stem[:n+1])]; ok {
			out = append(out, id)
		}
		stem[n] = saved
	}
	return out
}
