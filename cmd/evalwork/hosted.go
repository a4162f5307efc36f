package evalwork

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/journal"
	"github.com/firstpick/firstpick/runner/redact"
	"github.com/firstpick/firstpick/server/kit/safehttp"
)

// Reasons for refusing an attempt.
const (
	reasonPrivate = "private_address" // its address is not a public one
	reasonUnbound = "unbound_key"     // a key would go to a host which it is not bound to
)

// A hosted agent removes all keys of the workspace from what the runner stores: an
// agent by itself knows only its own key. It does not retry if the address is forbidden
// or the key is not bound to it.
type hosted struct {
	agent.Agent
	keys *redact.Redactor
}

// Ask implements agent.Agent.
func (a hosted) Ask(ctx context.Context, t agent.Task) (agent.Reply, error) {
	reply, err := a.Agent.Ask(ctx, t)
	if err != nil {
		return agent.Reply{}, a.failure(err)
	}
	reply.Raw = a.keys.Bytes(reply.Raw)
	encoded, err := json.Marshal(reply.Answer)
	if err != nil {
		return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonMalformed, Billed: true, Err: errors.New("the answer cannot be stored")}
	}
	if clean := a.keys.Bytes(encoded); !bytes.Equal(clean, encoded) {
		reply.Answer = journal.Answer{}
		if err := json.Unmarshal(clean, &reply.Answer); err != nil {
			return agent.Reply{}, &agent.InfraError{Reason: agent.ReasonMalformed, Billed: true, Err: errors.New("the answer contains a key that cannot be redacted")}
		}
	}
	return reply, nil
}

func (a hosted) failure(err error) error {
	var infra *agent.InfraError
	if !errors.As(err, &infra) {
		return err // the context's
	}
	clean := *infra
	clean.Raw = a.keys.Bytes(infra.Raw)
	if infra.Err == nil {
		return &clean
	}
	text := a.keys.Text(infra.Err.Error())
	if text != infra.Err.Error() {
		clean.Err = errors.New(text)
	}
	never := ""
	switch {
	case infra.Reason != agent.ReasonNetwork:
	case strings.HasSuffix(text, safehttp.ErrPrivate.Error()):
		never = reasonPrivate
	case strings.HasSuffix(text, errUnbound.Error()):
		never = reasonUnbound
	}
	if never != "" {
		clean.Reason, clean.Lane, clean.Retry, clean.Billed = never, true, false, false
	}
	return &clean
}
