package progress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/agent"
)

// maxReasons limits the number of distinct reasons: a provider may put a number
// of its own into every text.
const maxReasons = 100

// failures counts attempts that failed and trials that were excluded, by reason.
type failures struct {
	list []*failure // in the order in which they first came
	more int        // of further reasons
}

// A failure is one reason, how often it came, the agents, and the trial it came with
// first.
type failure struct {
	reason string
	count  int
	agents []string
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
		return
	default:
		i = len(f.list)
		f.list = append(f.list, &failure{reason: reason, count: 1, first: fmt.Sprintf("%s, %s #%d", clean(e.Trial.Agent), clean(e.Trial.PromptID), e.Trial.Repeat)})
	}
	f.list[i].of(clean(e.Trial.Agent))
}

func (f *failure) of(agents ...string) {
	for _, a := range agents {
		if !slices.Contains(f.agents, a) {
			f.agents = append(f.agents, a)
		}
	}
}

// top returns the reasons, the most frequent first.
func (f *failures) top() []*failure {
	out := slices.Clone(f.list)
	sorting.StableFunc(out, func(a, b *failure) int { return cmp.Compare(b.count, a.count) })
	return out
}

func (f *failure) String() string {
	if f.count == 1 {
		return fmt.Sprintf("%s: %s", f.first, f.reason)
	}
	return fmt.Sprintf("%d× %s (first: %s)", f.count, f.reason, f.first)
}

// kind is the word before the colon: one of agent's reasons.
func (f *failure) kind() string {
	kind, _, _ := strings.Cut(f.reason, ":")
	return kind
}

// kinds groups reasons by kind, the most frequent first. The reason of a group is that of
// its most frequent failure.
func (f *failures) kinds() (out []*failure) {
	for _, x := range f.top() {
		i := slices.IndexFunc(out, func(y *failure) bool { return y.kind() == x.kind() })
		if i < 0 {
			one := *x
			one.agents = slices.Clone(x.agents)
			out = append(out, &one)
			continue
		}
		out[i].count += x.count
		out[i].of(x.agents...)
	}
	sorting.StableFunc(out, func(a, b *failure) int { return cmp.Compare(b.count, a.count) })
	return out
}

// advice says what to do about a kind of failure; empty for an unknown one.
func advice(kind string) string {
	switch kind {
	case agent.ReasonRateLimited:
		return "the provider limits requests, and each was sent again; a lower max_concurrency avoids them"
	case agent.ReasonServer:
		return "the provider's own errors; each request was sent again"
	case agent.ReasonNetwork, "unreachable":
		return "firstpick doctor checks the address of each agent"
	case agent.ReasonTimeout, agent.ReasonStalled:
		return "answers took too long: raise timeout_s of the agent"
	case agent.ReasonAuth:
		return "the key was refused: firstpick doctor checks each key"
	case agent.ReasonQuota:
		return "the account has no credit left: top it up, then resume"
	case agent.ReasonNotFound:
		return "correct the model or base_url of the agent"
	case agent.ReasonBadRequest, agent.ReasonUnsupported:
		return "the provider rejects a setting: correct the agent in the eval"
	case agent.ReasonMalformed, agent.ReasonNoAnswer:
		return "firstpick trial shows what was answered"
	case agent.ReasonCrashed, agent.ReasonNotStarted, agent.ReasonOverLimit:
		return "firstpick doctor starts the agent's program"
	}
	return ""
}

// clean makes one line of a text that others wrote, without characters that would
// steer the terminal.
func clean(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
