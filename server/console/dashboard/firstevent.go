package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/sse"
	"github.com/firstpick/firstpick/server/store/identity"
)

const (
	pollEvery = time.Second // for the first event
	keepAlive = 15          // polls without an event, after which a closed connection is noticed
	maxPolls  = 15 * 60     // then the browser connects again, and is authenticated again
)

// An arrived is the first event of a workspace: the agent, if it has a name, and the page, if
// the event is a visit. Elsewhere is its host, if that is not the workspace's site.
type arrived struct {
	Agent     string `json:"agent,omitempty"`
	Page      string `json:"page,omitempty"`
	At        string `json:"at,omitempty"`
	Elsewhere string `json:"elsewhere,omitempty"`
}

func (v *visit) firstArrived(ctx context.Context) ([]byte, error) {
	r, err := v.h.Collect.First(ctx, v.Workspace.ID)
	if err != nil || r == nil {
		return []byte("{}"), err
	}
	return json.Marshal(arrived{r.Agent, r.Host + r.Path, r.At.UTC().Format(time.RFC3339), elsewhere(v.Workspace.Site, r.Host)})
}

// elsewhere returns the host of an event that is neither the host of a site nor below it; empty
// for one that is, and where either is unknown.
func elsewhere(site, host string) string {
	u, err := url.Parse(site)
	if err != nil || u.Host == "" || host == "" {
		return ""
	}
	own := strings.TrimPrefix(u.Hostname(), "www.")
	if name := (&url.URL{Host: host}).Hostname(); name == own || strings.HasSuffix(name, "."+own) {
		return ""
	}
	return host
}

// firstEvent is a stream with one event, `first`, as soon as the workspace has an event.
func (h *Handler) firstEvent(v *visit) error {
	stream, err := h.Streams.Open(v.W, v.R, v.Signed.Account.ID)
	if errors.Is(err, sse.ErrTooMany) {
		return &apierr.Error{Status: http.StatusTooManyRequests, Code: "rate_limited", Description: "Too many pages wait for events. Close one, then try again.", RetryAfter: 30}
	} else if err != nil {
		return err
	}
	defer stream.End()
	if err := stream.Begin(); err != nil {
		return nil //nolint:nilerr // the browser is gone
	}
	for n := range maxPolls {
		if n > 0 && v.Still(stream.Context(), identity.Viewer) != nil {
			return nil
		}
		got, err := h.Collect.Received(stream.Context(), v.Workspace.ID)
		switch {
		case err != nil:
			return nil //nolint:nilerr // the browser connects again
		case got:
			if data, err := v.firstArrived(stream.Context()); err == nil {
				_ = stream.Send(1, "first", data)
			}
			return nil
		case n%keepAlive == keepAlive-1 && stream.Beat() != nil:
			return nil
		}
		if h.Sleep(stream.Context(), pollEvery) != nil {
			return nil
		}
	}
	return nil
}
