package evalclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	read := func(c *Client) error { _, err := c.Run(t.Context(), "run_1"); return err }
	start := func(key string) func(c *Client) error {
		return func(c *Client) error {
			_, err := c.Start(t.Context(), "evl_1", StartRequest{BudgetUSD: 5, IdempotencyKey: key})
			return err
		}
	}
	const got = "GET /api/v1/runs/run_1"
	const posted = `POST /api/v1/evals/evl_1/runs Idempotency-Key=k1 {"budgetUsd":5}`
	down, run := refuse(503, "temporarily_unavailable"), ok(`{"id":"run_1"}`)
	for name, c := range map[string]struct {
		call   func(*Client) error
		script []reply
		asked  []string
		slept  []int
		code   string // of the error; empty if absent
	}{
		"a busy server":                    {read, []reply{down, down, run}, []string{got, got, got}, []int{1, 2}, ""},
		"a server that stays down":         {read, []reply{down, down, down, down}, []string{got, got, got, got}, []int{1, 2, 4}, "temporarily_unavailable"},
		"a limit that says when":           {read, []reply{busy(429, "7"), run}, []string{got, got}, []int{7}, ""},
		"a limit that says when as a date": {read, []reply{busy(429, "Sat, 21 Nov 2026 10:00:09 GMT"), run}, []string{got, got}, []int{9}, ""},
		"a limit far off":                  {read, []reply{busy(429, "3600")}, []string{got}, nil, CodeRateLimited},
		"a connection that breaks":         {read, []reply{{status: 200, body: `{"id`, cut: true}, run}, []string{got, got}, []int{1}, ""},
		"what is not there":                {read, []reply{refuse(404, CodeRunNotFound)}, []string{got}, nil, CodeRunNotFound},
		"what no server does":              {read, []reply{refuse(501, "not_implemented")}, []string{got}, nil, "not_implemented"},
		"a start with a key":               {start("k1"), []reply{down, busy(429, "2"), run}, []string{posted, posted, posted}, []int{1, 2}, ""},
		"a start without one":              {start(""), []reply{down}, []string{`POST /api/v1/evals/evl_1/runs {"budgetUsd":5}`}, nil, "temporarily_unavailable"},
		"storing an eval": {
			func(c *Client) error { _, err := c.Put(t.Context(), []byte("name: x")); return err },
			[]reply{down}, []string{"POST /api/v1/evals name: x"}, nil, "temporarily_unavailable",
		},
		"cancelling": {
			func(c *Client) error { _, err := c.Cancel(t.Context(), "run_1"); return err },
			[]reply{down, run}, []string{"DELETE /api/v1/runs/run_1", "DELETE /api/v1/runs/run_1"}, []int{1}, "",
		},
		"setting a provider key": {
			func(c *Client) error { _, err := c.SetProviderKey(t.Context(), "X_KEY", "v", nil); return err },
			[]reply{down, ok(`{}`)}, []string{`PUT /api/v1/provider-keys/X_KEY {"value":"v"}`, `PUT /api/v1/provider-keys/X_KEY {"value":"v"}`}, []int{1}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, c.script...)
			client, clock := newClient(f)
			err := c.call(client)
			if (err == nil) != (c.code == "") || err != nil && !strings.Contains(err.Error(), c.code) {
				t.Errorf("error %v, want %q", err, c.code)
			}
			f.asked(c.asked...)
			if !slices.Equal(clock.slept, c.slept) {
				t.Errorf("slept %v, want %v", clock.slept, c.slept)
			}
		})
	}
}

func TestAConnectionThatIsRefusedIsTriedAgain(t *testing.T) {
	f := newFake(t)
	client, clock := newClient(f)
	f.Close()
	if _, err := client.Run(t.Context(), "run_1"); err == nil || strings.Contains(err.Error(), testKey) {
		t.Errorf("error %v", err)
	}
	if !slices.Equal(clock.slept, []int{1, 2, 4}) {
		t.Errorf("slept %v", clock.slept)
	}
	if _, err := client.Put(t.Context(), nil); err == nil || len(clock.slept) != 3 {
		t.Errorf("a POST was tried again: slept %v, %v", clock.slept, err)
	}
}

// TestTheKeyStaysWithItsServer redirects to another server, to another path, and takes
// addresses that are not safe.
func TestTheKeyStaysWithItsServer(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server was asked %s, with %q", r.URL, r.Header.Get("Authorization"))
	}))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{other.URL + "/api/v1/runs/run_1", "/elsewhere"} {
			f := newFake(t, reply{status: status, header: map[string]string{"Location": to}})
			client, clock := newClient(f)
			if _, err := client.Run(t.Context(), "run_1"); err == nil || !strings.Contains(err.Error(), "follows no redirect") || len(clock.slept) > 0 {
				t.Errorf("%d to %s: error %v, slept %v", status, to, err, clock.slept)
			}
			f.asked("GET /api/v1/runs/run_1")
		}
	}
	for _, base := range []string{"http://firstpick.example", "http://127.0.0.1.example", "http://10.0.0.1", "ftp://127.0.0.1", "//127.0.0.1", "https://user@firstpick.example", ""} {
		client, clock := newClient(newFake(t))
		client.Base, client.HTTP = base, &http.Client{Transport: noTransport{t}}
		if _, err := client.Run(t.Context(), "run_1"); err == nil || len(clock.slept) > 0 {
			t.Errorf("%q: error %v, slept %v", base, err, clock.slept)
		}
	}
}

type noTransport struct{ t *testing.T }

func (n noTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("%s was asked, with %q", r.URL, r.Header.Get("Authorization"))
	return nil, errors.New("no")
}

func TestARefusalIsToldWholeAndWithoutSecrets(t *testing.T) {
	f := newFake(t, reply{
		status: 400, header: map[string]string{"X-Request-Id": "r-1", "Retry-After": "3"},
		body: `{"error":"invalid_eval","error_description":"it holds ` + testKey + ` and sk-secret\u001b[2J","reason":"r","suggestions":["flask"],
			"issues":[{"line":3,"message":"bad sk-secret"},{"message":"whole"},{"line":-1,"message":"x"}]}`,
	})
	client, _ := newClient(f)
	_, err := client.SetProviderKey(t.Context(), "X_KEY", "sk-secret", nil)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if e.Error() != "invalid_eval (400): it holds *** and ***[2J [r]" || e.RequestID != "r-1" || e.RetryAfter.Seconds() != 3 {
		t.Errorf("%+v: %s", e, e)
	}
	if !slices.Equal(e.Issues, []Issue{{Line: 3, Message: "bad ***"}, {Message: "whole"}, {Message: "x"}}) || !slices.Equal(e.Suggestions, []string{"flask"}) {
		t.Errorf("%+v", e)
	}
	if !IsCode(err, CodeInvalidEval) || IsCode(err, CodeNoResults) || IsCode(nil, CodeNoResults) {
		t.Error("the code is not found")
	}
	if err := (&Error{Status: 502}).Error(); err != "the server answered 502 Bad Gateway" {
		t.Error(err)
	}
}

func TestWhatIsNoAnswerOfAnEvalAPI(t *testing.T) {
	for name, body := range map[string]string{"a page": "<!doctype html>", "nothing": "", "another type": `{"id":7}`} {
		client, _ := newClient(newFake(t, ok(body)))
		if _, err := client.Run(t.Context(), "run_1"); err == nil || !strings.Contains(err.Error(), "is not the JSON") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestListsAreReadPageByPage(t *testing.T) {
	page := func(next string, ids ...string) reply {
		for i := range ids {
			ids[i] = `{"id":"` + ids[i] + `","name":"name of ` + ids[i] + `"}`
		}
		return ok(`{"evals":[` + strings.Join(ids, ",") + `],"nextCursor":` + next + `}`)
	}
	all := func(c *Client, enough int) (ids []string, err error) {
		for e, err := range c.Evals(t.Context()) {
			if err != nil {
				return ids, err
			}
			if ids = append(ids, e.ID); len(ids) == enough {
				break
			}
		}
		return ids, nil
	}
	const first, second, third = "GET /api/v1/evals?limit=100", "GET /api/v1/evals?cursor=%26x&limit=100", "GET /api/v1/evals?cursor=y&limit=100"

	f := newFake(t, page(`"&x"`, "a", "b"), page(`"y"`), page("null", "c"))
	client, _ := newClient(f)
	if ids, err := all(client, 0); err != nil || !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("%v, %v", ids, err)
	}
	f.asked(first, second, third)

	f = newFake(t, page(`"&x"`, "a", "b"))
	client, _ = newClient(f)
	if ids, err := all(client, 1); err != nil || !slices.Equal(ids, []string{"a"}) {
		t.Errorf("%v, %v", ids, err)
	}
	f.asked(first)

	f = newFake(t, page(`"&x"`, "a"), page(`"y"`, "b"), page(`"&x"`, "c"))
	client, _ = newClient(f)
	if ids, err := all(client, 0); err == nil || !strings.Contains(err.Error(), "in circles") || len(ids) != 3 {
		t.Errorf("%v, %v", ids, err)
	}

	var endless []reply
	for i := range 2 * maxEmpty {
		endless = append(endless, page(fmt.Sprintf("%q", fmt.Sprint(i))))
	}
	f = newFake(t, endless...)
	client, _ = newClient(f)
	if _, err := all(client, 0); err == nil || !strings.Contains(err.Error(), "in circles") {
		t.Errorf("pages without end: %v", err)
	}

	f = newFake(t, page(`"&x"`, "a"), refuse(400, "invalid_request"))
	client, _ = newClient(f)
	if ids, err := all(client, 0); !IsCode(err, "invalid_request") || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}

	f = newFake(t, ok(`{"evals":{}}`))
	client, _ = newClient(f)
	if _, err := all(client, 0); err == nil {
		t.Error("a list that is none was taken")
	}
}

func TestAnEvalIsFoundByIDAndByName(t *testing.T) {
	const list = `{"evals":[{"id":"evl_1","name":"web"},{"id":"evl_2","name":"evl_x"}],"nextCursor":null}`
	for name, c := range map[string]struct {
		script []reply
		want   string // the id; empty if absent
		asked  []string
	}{
		"evl_1": {[]reply{ok(`{"id":"evl_1"}`)}, "evl_1", []string{"GET /api/v1/evals/evl_1"}},
		"web":   {[]reply{ok(list), ok(`{"id":"evl_1"}`)}, "evl_1", []string{"GET /api/v1/evals?limit=100", "GET /api/v1/evals/evl_1"}},
		"evl_x": {
			[]reply{refuse(404, CodeEvalNotFound), ok(list), ok(`{"id":"evl_2"}`)}, "evl_2",
			[]string{"GET /api/v1/evals/evl_x", "GET /api/v1/evals?limit=100", "GET /api/v1/evals/evl_2"},
		},
		"nothing": {[]reply{ok(list)}, "", []string{"GET /api/v1/evals?limit=100"}},
	} {
		f := newFake(t, c.script...)
		client, _ := newClient(f)
		e, err := client.FindEval(t.Context(), name)
		if c.want == "" && !IsCode(err, CodeEvalNotFound) || c.want != "" && (err != nil || e.ID != c.want) {
			t.Errorf("%s: %+v, %v", name, e, err)
		}
		f.asked(c.asked...)
	}
}

func TestAnEvalIsSentAsItIsWritten(t *testing.T) {
	for source, want := range map[string]string{"name: x\n": "application/yaml", `{"name":"x"}`: "application/json"} {
		f := newFake(t, ok(`{"id":"evl_1","name":"x"}`))
		client, _ := newClient(f)
		if e, err := client.Check(t.Context(), []byte(source)); err != nil || e.Name != "x" {
			t.Fatal(err)
		}
		if got := f.last.Get("Content-Type"); got != want {
			t.Errorf("%q was sent as %s", source, got)
		}
		f.asked("POST /api/v1/evals/check " + strings.TrimSpace(source))
	}
}

func TestADownloadThatBreaksIsAnError(t *testing.T) {
	f := newFake(t, ok("line\n"), reply{status: 200, body: "li", cut: true})
	client, _ := newClient(f)
	for _, whole := range []bool{true, false} {
		body, err := client.Download(t.Context(), "run_1", NDJSON, Filter{Agent: "a", Outcome: "tool"})
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(body)
		if (err == nil) != whole {
			t.Errorf("%q, %v", data, err)
		}
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}
	const want = "GET /api/v1/runs/run_1/traces?agent=a&format=ndjson&outcome=tool"
	f.asked(want, want)
}

func TestAnEndedContextEndsACall(t *testing.T) {
	f := newFake(t)
	client, clock := newClient(f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Run(ctx, "run_1"); !errors.Is(err, context.Canceled) || len(clock.slept) > 0 {
		t.Errorf("error %v, slept %v", err, clock.slept)
	}
}

func TestIDsAreNoPaths(t *testing.T) {
	f := newFake(t, refuse(404, CodeRunNotFound))
	client, _ := newClient(f)
	_, _ = client.Run(t.Context(), "../../admin?x=1#")
	f.asked("GET /api/v1/runs/..%2F..%2Fadmin%3Fx=1%23")
}
