package pick

import (
	"slices"
	"strings"
)

// A vendorCommand is a command of a vendor's own program with the tool that it uses.
type vendorCommand struct {
	words  []string
	target *target
}

func (x *index) addCommands(t *target) {
	for _, c := range t.Commands {
		words := strings.Fields(c)
		x.programs[words[0]] = append(x.programs[words[0]], vendorCommand{words, t})
	}
}

// hasCommand reports whether a text has all words of a vendor's command in it. Most commands need
// no parser.
func (x *index) hasCommand(text string) bool {
	for _, commands := range x.programs {
		if slices.ContainsFunc(commands, func(c vendorCommand) bool { return containsAll(text, c.words) }) {
			return true
		}
	}
	return false
}

func containsAll(s string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(s, w) })
}

// byCommand returns the targets whose command the words are. Words behind `--` belong to a program
// that the command runs.
func (x *index) byCommand(words []string) []*target {
	if end := slices.Index(words, "--"); end >= 0 {
		words = words[:end]
	}
	if len(words) == 0 || slices.Contains(words, "--help") || words[len(words)-1] == "-h" {
		return nil
	}
	var out []*target
	for _, c := range x.programs[program(words[0])] {
		if len(words) >= len(c.words) && slices.Equal(words[1:len(c.words)], c.words[1:]) && !slices.Contains(out, c.target) {
			out = append(out, c.target)
		}
	}
	return out
}

// called returns the program that a package manager runs, with its arguments: `npx wrangler@4 d1`
// and `yarn wrangler d1` run `wrangler d1`. Other words are returned as they are.
func (t *installTools) called(words []string) []string {
	if len(words) == 0 {
		return nil
	}
	m := t.managers[program(words[0])]
	if m == nil {
		return words
	}
	for _, v := range m.verbs {
		rest, ok := m.after(words[1:], v.words)
		if v.op != run || !ok {
			continue
		}
		if rest = m.skipFlags(rest); len(rest) > 0 {
			return append([]string{depName(rest[0])}, rest[1:]...)
		}
	}
	for _, verb := range m.bins {
		if rest, ok := m.after(words[1:], verb); ok {
			if rest = m.skipFlags(rest); len(rest) > 0 {
				return rest
			}
		}
	}
	return words
}
