package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

const maxRecordLine = 16 << 20 // bytes

// A recordLine is an answer in the form of `firstpick import`. Keys that only
// an import needs are let through.
type recordLine struct {
	Agent    string                 `json:"agent"`
	Category string                 `json:"category"`
	PromptID string                 `json:"prompt_id"`
	Repeat   int                    `json:"repeat"`
	At       time.Time              `json:"at"`
	Input    *transcript.Transcript `json:"input"`
	Outcome  *pick.Result           `json:"outcome"`
}

type recordKey struct {
	category, prompt string
	repeat           int
}

// record replays the lines of a file that are of one agent.
type record struct {
	offline
	model   string
	answers map[recordKey]recordLine
}

func openRecord(a eval.Agent) (agent.Agent, error) {
	f, err := os.Open(a.File)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	answers, err := readRecord(f, a.Name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a.File, err)
	}
	if len(answers) == 0 {
		return nil, fmt.Errorf("%s: no line has agent %q", a.File, a.Name)
	}
	return &record{offline: newOffline(a), model: a.Name, answers: answers}, nil
}

func readRecord(r io.Reader, name string) (map[recordKey]recordLine, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxRecordLine)
	answers := map[recordKey]recordLine{}
	n := 1
	for ; in.Scan(); n++ {
		if len(bytes.TrimSpace(in.Bytes())) == 0 {
			continue
		}
		var l recordLine
		if err := json.Unmarshal(in.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("line %d: not an answer: %w", n, err)
		}
		if (l.Input == nil) == (l.Outcome == nil) {
			return nil, fmt.Errorf("line %d: needs either input or outcome", n)
		}
		if l.Agent != name {
			continue
		}
		key := recordKey{l.Category, l.PromptID, max(1, l.Repeat)}
		if _, ok := answers[key]; ok {
			return nil, fmt.Errorf("line %d: duplicate prompt %q, repeat %d", n, l.PromptID, key.repeat)
		}
		answers[key] = l
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: longer than %d MiB", n, maxRecordLine>>20)
	}
	return answers, in.Err()
}

func (r *record) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	if err := ctx.Err(); err != nil {
		return agent.Reply{}, err
	}
	l, ok := r.answers[recordKey{t.Trial.Category, t.Trial.PromptID, t.Trial.Repeat}]
	if !ok {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonNoAnswer, Err: errNoRecord}
	}
	reply := agent.Reply{Answer: journal.Answer{Model: r.model}, At: l.At}
	if l.Input != nil {
		reply.Transcript = *l.Input
		return reply, nil
	}
	given := *l.Outcome
	given.Method = pick.MethodGiven
	reply.Result = &given
	return reply, nil
}
