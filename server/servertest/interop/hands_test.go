package interop_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/keyring"
	"github.com/firstpick/firstpick/server/servertest"
)

// An order is what a script asks of the test.
type order struct {
	Seconds int `json:"seconds"` // wait
	// person
	Email           string `json:"email"` // assertion too
	Action          string `json:"action"`
	UserCode        string `json:"user_code"`
	VerificationURI string `json:"verification_uri"`
	// assertion
	Aud     string `json:"aud"`
	Sub     string `json:"sub"`
	AuthAge int    `json:"auth_age"`
}

// hands do for a script what a program cannot do: let time pass, act as the
// person, vouch for someone. The script asks over HTTP; the work is done on the
// test's own goroutine, where a test may fail.
type hands struct {
	URL    string
	t      *testing.T
	s      *servertest.Service
	people map[string]*browser
	work   chan func()
}

func newHands(t *testing.T, s *servertest.Service) *hands {
	h := &hands{t: t, s: s, people: map[string]*browser{}, work: make(chan func())}
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	h.URL = web.URL
	return h
}

// ServeHTTP hands an order over and answers with its result.
func (h *hands) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	result := make(chan any, 1)
	select {
	case h.work <- func() { result <- h.do(path.Base(r.URL.Path), o) }:
	case <-r.Context().Done():
		return
	}
	select {
	case got := <-result:
		json.NewEncoder(w).Encode(got)
	case <-h.t.Context().Done(): // the test failed while it did this
	}
}

// serveUntil does what is asked until the script ends.
func (h *hands) serveUntil(ended <-chan struct{}) {
	h.t.Helper()
	for {
		select {
		case f := <-h.work:
			f()
		case <-ended:
			return
		}
	}
}

func (h *hands) do(what string, o order) any {
	h.t.Helper()
	switch what {
	case "wait":
		h.s.Clock.Add(time.Duration(o.Seconds) * time.Second)
	case "person":
		if h.people[o.Email] == nil {
			h.people[o.Email] = newBrowser(h.t, h.s, o.Email)
		}
		h.people[o.Email].decide(o)
	case "assertion":
		return map[string]string{"assertion": h.s.IdP.Assertion(o.Aud, o.Sub, o.Email, func(_, claims map[string]any) {
			if o.AuthAge != 0 {
				claims["auth_time"] = h.s.Clock.Now().Unix() - int64(o.AuthAge)
			}
		})}
	case "rotate":
		if _, _, err := h.s.Agents.Ring.Rotate(h.t.Context(), keyring.Overlap); err != nil {
			h.t.Fatal(err)
		}
	default:
		h.t.Fatalf("the script asks for %q", what)
	}
	return struct{}{}
}
