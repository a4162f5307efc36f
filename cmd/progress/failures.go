package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/runner"
)

// maxReasons limits the number of distinct reasons: a provider may put a number
// of its own into every text.
const maxReasons = 100

// failures counts attempts that failed and trials that were given up, by reason.
type failures struct {
	list []*failure // in the order in which they first came
	more int        // of further reasons
}

// A failure is one reason, how often it came, and the trial it came with first.
type failure struct {
	reason string
	count  int
	first  string
}

func (f *failures) add(e runner.Event) {
	reason := clean(e.Reason)
	i := slices.IndexFunc(f.list, func(x *failure) bool { return x.reason == reason })
	switch {
	case i >= 0:
		f.list[i].count++
	case len(f.list) == maxReasons:
		f.more++
	default:
		first := fmt.Sprintf("%s, %s #%d", e.Trial.Agent, e.Trial.PromptID, e.Trial.Repeat)
		f.list = append(f.list, &failure{reason, 1, first})
	}
}

// top returns the reasons, the most frequent first.
func (f *failures) top() []*failure {
	out := slices.Clone(f.list)
	slices.SortStableFunc(out, func(a, b *failure) int { return cmp.Compare(b.count, a.count) })
	return out
}

func (f *failure) String() string {
	if f.count == 1 {
		return fmt.Sprintf("%s: %s", f.first, f.reason)
	}
	return fmt.Sprintf("%d× %s (first: %s)", f.count, f.reason, f.first)
}

// clean makes one line of a text that others wrote, without characters that would
// steer the terminal.
func clean(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
