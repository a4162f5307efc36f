package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/transcript"
)

// The outcomes other than tools in a truth.
const (
	truthDIY     = "diy"
	truthNone    = "none"
	truthRefused = "refused"
)

// simulated answers by drawing from a known truth. Every draw is a hash of the
// seed and the trial, so it holds no state and the same trial always gets the
// same answer, at the same virtual time.
type simulated struct {
	eval.Agent
	offline
	outcomes []string // sorted
	sleep    func(context.Context, time.Duration) error
}

func newSimulated(a eval.Agent, d Deps) (agent.Agent, error) {
	total := 0.0
	for key, share := range a.Truth {
		if share < 0 || math.IsNaN(share) || math.IsInf(share, 0) {
			return nil, fmt.Errorf("truth: the share of %s must be a number of 0 or more (got %v)", key, share)
		}
		total += share
	}
	if total <= 0 {
		return nil, errors.New("truth: want at least one share above 0")
	}
	if a.LatencyMS > 0 && d.Sleep == nil {
		return nil, errors.New("latency_ms needs Deps.Sleep")
	}
	return &simulated{Agent: a, offline: newOffline(a), outcomes: slices.Sorted(maps.Keys(a.Truth)), sleep: d.Sleep}, nil
}

func (s *simulated) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	if err := s.wait(ctx); err != nil {
		return agent.Reply{}, err
	}
	id := t.Trial.ID
	if unit(hash(s.Seed, "fail", id, strconv.Itoa(t.Attempt))) < s.FailRate {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonSimulated, Retry: true, Err: errors.New("simulated failure (fail_rate)")}
	}
	outcome := s.draw(t.Trial.PromptID, id)
	says, err := answerFor(outcome, t.Category)
	if err != nil {
		return agent.Reply{}, err
	}
	says.FinalText += s.reason(outcome, id, t.Category)
	answer := journal.Answer{Transcript: says, Model: "simulated", WallMS: int64(s.LatencyMS)}
	return agent.Reply{Answer: answer, At: s.at(id)}, nil
}

func (s *simulated) wait(ctx context.Context) error {
	if s.LatencyMS == 0 {
		return ctx.Err()
	}
	return s.sleep(ctx, time.Duration(s.LatencyMS)*time.Millisecond)
}

// at is a moment of a virtual day, so that figures made of simulated answers
// are the same bytes whenever they are made.
func (s *simulated) at(id string) time.Time {
	const day = 24 * 60 * 60
	return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(hash(s.Seed, "at", id)%day) * time.Second)
}

// draw chooses an outcome. For each prompt, the logit of each outcome is shifted by a
// normal draw with the standard deviation PromptSpread.
func (s *simulated) draw(prompt, id string) string {
	weights := make([]float64, len(s.outcomes))
	total := 0.0
	for i, o := range s.outcomes {
		weights[i] = s.Truth[o]
		if s.PromptSpread > 0 {
			weights[i] *= math.Exp(s.PromptSpread * normal(s.Seed, "spread", prompt, o))
		}
		total += weights[i]
	}
	u := unit(hash(s.Seed, "outcome", id)) * total
	last := ""
	for i, w := range weights {
		if w == 0 {
			continue
		}
		last = s.outcomes[i]
		if u < w {
			break
		}
		u -= w
	}
	return last
}

// reason returns sentences about a tool that an answer does not pick; empty where the agent has no
// Reasons, and for an answer without a tool.
func (s *simulated) reason(outcome, id string, c *catalog.Category) string {
	if _, ok := c.Entry(outcome); !ok || !s.Reasons {
		return ""
	}
	var rivals []string
	for _, o := range s.outcomes {
		if e, ok := c.Entry(o); ok && o != outcome {
			rivals = append(rivals, e.Tool.Name)
		}
	}
	if len(rivals) == 0 {
		return ""
	}
	choose := func(what string, n int) int { return int(hash(s.Seed, what, id) % uint64(n)) } //nolint:gosec // n is a length
	against := reasonsAgainst()
	return " " + fmt.Sprintf(against[choose("reason", len(against))], rivals[choose("rival", len(rivals))])
}

// reasonsAgainst returns what answers with Reasons add about another tool; the last one gives no reason.
func reasonsAgainst() []string {
	return []string{
		"I also considered %s, but it is more expensive at low volume.",
		"I also considered %[1]s, but %[1]s is harder to set up for a small team.",
		"I also considered %s, but it lacks support for some of what you describe.",
		"I also considered %s, but its fees are higher.",
		"%s is a good alternative.",
	}
}

// answerFor returns the answer of an agent with an outcome, in prose: simulations test
// the extractor too.
func answerFor(outcome string, c *catalog.Category) (transcript.Transcript, error) {
	switch outcome {
	case truthDIY:
		return transcript.Transcript{FinalText: "I'd build this myself rather than add a dependency; I wrote a small implementation of my own."}, nil
	case truthNone:
		return transcript.Transcript{FinalText: "That depends on your requirements. Could you tell me more first?"}, nil
	case truthRefused:
		return transcript.Transcript{FinalText: "I can't help with that.", Stop: transcript.StopRefusal}, nil
	}
	e, ok := c.Entry(outcome)
	if !ok {
		return transcript.Transcript{}, &agent.InfraError{Reason: agent.ReasonBadRequest, Err: fmt.Errorf("truth names %q, which is not a tool of category %s", outcome, c.Slug)}
	}
	return transcript.Transcript{FinalText: fmt.Sprintf("I'd go with %s for this.", e.Tool.Name)}, nil
}
