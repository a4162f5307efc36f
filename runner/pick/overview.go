package pick

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

// overview reports whether two or more lines present a rival each: "X – fast, hosted". None of
// them is then the answer.
func (r *reading) overview() bool {
	var found []*target
	for i := range r.units {
		u := &r.units[i]
		if u.Kind != prose.Paragraph {
			continue
		}
		for _, dash := range []string{" – ", " — ", " - "} {
			name, _, ok := strings.Cut(u.Text, dash)
			if !ok || len(name) > maxHead {
				continue
			}
			tokens := prose.Tokens(name)
			for _, m := range r.find(name, tokens) {
				if m.from == 0 && m.to == len(tokens) && !m.target.outside && !slices.Contains(found, m.target) {
					found = append(found, m.target)
				}
			}
			break
		}
	}
	return len(found) > 1
}

// presented reports whether the name at a token is that of a line of an overview.
func (r *reading) presented(s *sentence, at int) bool {
	return r.inOverview && at == 0 && len(s.tokens) > 1 && s.tokens[1].IsMark("–—-") && s.tokens[1].From > s.tokens[0].To
}
