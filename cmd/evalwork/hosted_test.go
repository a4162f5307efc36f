package evalwork

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/redact"
)

// TestFailuresKeepTheirCause: the runner advises by the cause of a failure, and no failure has
// a key.
func TestFailuresKeepTheirCause(t *testing.T) {
	h := hosted{keys: redact.New("a-key-of-the-workspace")}
	var lookup *net.DNSError
	err := h.failure(&agent.InfraError{Reason: agent.ReasonNetwork, Err: fmt.Errorf("post: %w", &net.DNSError{Name: "api.x.example", Err: "no such host"})})
	if !errors.As(err, &lookup) || lookup.Name != "api.x.example" {
		t.Errorf("%v has lost its cause", err)
	}
	err = h.failure(&agent.InfraError{Reason: agent.ReasonNetwork, Err: fmt.Errorf("a-key-of-the-workspace: %w", &net.DNSError{Name: "a-key-of-the-workspace"})})
	if errors.As(err, &lookup) && strings.Contains(lookup.Name, "a-key") || strings.Contains(err.Error(), "a-key") {
		t.Errorf("%v has a key", err)
	}
}
