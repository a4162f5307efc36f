package sessions

import (
	"cmp"
	"fmt"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// shown is how many skipped files of one reason a summary names.
const shown = 5

// Summary returns the lines of a summary: what was read, and what was skipped and why. It
// names at most 5 files of each reason unless all are wanted.
func (r *Report) Summary(all bool) []string {
	out := []string{fmt.Sprintf("read %s: %s, %d skipped", count(r.Files, "file"), count(len(r.Sessions), "session"), len(r.Skipped))}
	for _, reason := range Reasons() {
		var of []Skip
		for _, s := range r.Skipped {
			if s.Reason == reason {
				of = append(of, s)
			}
		}
		if len(of) == 0 {
			continue
		}
		sorting.StableFunc(of, func(a, b Skip) int { return cmp.Compare(a.Path, b.Path) })
		out = append(out, fmt.Sprintf("skipped %d: %s", len(of), reason))
		for i, s := range of {
			if i == shown && !all {
				out = append(out, fmt.Sprintf("  and %d more (--skipped lists all)", len(of)-shown))
				break
			}
			line := "  " + s.Path
			if s.Detail != "" {
				line += ": " + s.Detail
			}
			out = append(out, line)
		}
	}
	if r.BadLines > 0 {
		out = append(out, fmt.Sprintf("%s unreadable in imported sessions, the first: %s", count(r.BadLines, "line"), r.First))
	}
	more := 0
	for _, s := range r.Sessions {
		if s.Prompts > 1 {
			more++
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("%s with later prompts of the user, which may have steered the answer", count(more, "session")))
	}
	for i, n := range r.Notes {
		if i == shown && !all {
			out = append(out, fmt.Sprintf("and %d more notes (--skipped lists all)", len(r.Notes)-shown))
			break
		}
		out = append(out, n)
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
