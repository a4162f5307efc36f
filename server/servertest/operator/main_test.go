// Package operator_test uses the pages of operators over HTTP as browsers without script do,
// on both stores.
package operator_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }

// A person uses the pages of a server.
type person struct{ *servertest.Person }

func newPerson(t *testing.T, s *servertest.Service, email string) *person {
	t.Helper()
	return &person{servertest.NewPerson(t, s, email)}
}

// newOperator returns an operator who is signed in by the link of the command line.
func newOperator(t *testing.T, s *servertest.Service) *person {
	t.Helper()
	p := &person{servertest.NewVisitor(t, s, "ops@example.com")}
	link, err := s.Agents.OperatorLink(t.Context(), p.Email, true)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := p.Get(strings.TrimPrefix(link, s.URL)); status != http.StatusOK {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return p
}

// foreign sends a form with the token of the session as a page of another site would, and
// returns the status.
func (p *person) foreign(path string, form ...string) int {
	p.T.Helper()
	values := url.Values{"form_token": {p.FormToken()}}
	for i := 0; i < len(form); i += 2 {
		values.Add(form[i], form[i+1])
	}
	req := p.Request(http.MethodPost, path, values)
	req.Header.Set("Origin", "https://evil.example")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	status, _ := p.Do(req)
	return status
}
