package evals_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/quota"
)

// TestBodiesThatAreTooLarge are refused by their size, told or not.
func TestBodiesThatAreTooLarge(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	w := s.Workspace(t, "dana", paid)
	a := newAPI(t, s, s.EvalKey(t, w))
	e, _ := s.Ready(t, w)
	comment := "#" + strings.Repeat("x", 256<<10)
	a.do("POST", "/api/v1/evals", servertest.EvalText+comment).refused(413, "request_too_large")
	a.do("POST", "/api/v1/evals/check", servertest.EvalText+comment).refused(413, "request_too_large")
	fits := servertest.EvalText + comment[:256<<10-len(servertest.EvalText)]
	a.do("POST", "/api/v1/evals", fits).is(200)
	a.do("POST", "/api/v1/evals/"+e.ID+"/runs", strings.Repeat(" ", 64<<10)+`{"budgetUsd":1}`).refused(413, "request_too_large")
	a.do("PUT", "/api/v1/provider-keys/A_KEY", `{"value":"`+strings.Repeat("x", 64<<10)+`"}`).refused(413, "request_too_large")
	endless, out := io.Pipe()
	go func() {
		for {
			if _, err := io.WriteString(out, comment); err != nil {
				return
			}
		}
	}()
	req, err := http.NewRequest(http.MethodPost, s.URL+"/api/v1/evals", endless)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.key)
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		resp.Body.Close()
	}
	endless.Close()
	if err == nil && resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("without end: %d", resp.StatusCode)
	}
}

// TestABodyThatNeverComes is not waited for: the connection has ten seconds.
func TestABodyThatNeverComes(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	key := s.EvalKey(t, s.Workspace(t, "dana", paid))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/v1/evals HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\nname: ", key)
	if err := conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal("no answer:", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("answered %d", resp.StatusCode)
	}
}

// TestHostileNames: whatever stands in a path, it names nothing.
func TestHostileNames(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		a := newAPI(t, s, s.EvalKey(t, w))
		s.Ready(t, w)
		for _, id := range []string{
			"..%2f..%2fetc%2fpasswd", "%2e%2e", "%00", "run_%00", "a%0ab", "%ff%fe", "%27%20or%201=1--", "%e2%80%ae", strings.Repeat("x", 8000), "*", "%25", "-1",
		} {
			for _, path := range []string{"/api/v1/runs/%s", "/api/v1/runs/%s/traces", "/api/v1/runs/%s/traces?format=parquet", "/api/v1/runs/%s/events", "/api/v1/runs/%s/compare?with=x", "/api/v1/runs/%s/explain?tool=x", "/api/v1/evals/%s", "/api/v1/evals/%s/runs"} {
				if got := a.get(fmt.Sprintf(path, id)); got.status != http.StatusNotFound {
					t.Errorf(path+": %d %.200s", id, got.status, got.body)
				}
			}
			if got := a.do(http.MethodDelete, "/api/v1/runs/"+id, ""); got.status != http.StatusNotFound {
				t.Errorf("DELETE %s: %d", id, got.status)
			}
			if got := a.do(http.MethodDelete, "/api/v1/provider-keys/"+id, ""); got.status != http.StatusNotFound {
				t.Errorf("DELETE key %s: %d", id, got.status)
			}
			if got := a.do(http.MethodPut, "/api/v1/provider-keys/"+id, `{"value":"sk-12345678"}`); got.status != http.StatusBadRequest && got.status != http.StatusNotFound {
				t.Errorf("PUT key %s: %d", id, got.status)
			}
			if got := a.get("/api/v1/runs?eval=" + id); got.status != http.StatusNotFound && got.status != http.StatusBadRequest {
				t.Errorf("runs of %s: %d %s", id, got.status, got.body)
			}
			if got := a.get("/api/v1/runs?cursor=" + id); got.status != http.StatusBadRequest {
				t.Errorf("cursor %s: %d", id, got.status)
			}
		}
	})
}

// TestCursorsOfOthers: a cursor is a place, and no key to anything.
func TestCursorsOfOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, eve := s.Workspace(t, "dana", paid), s.Workspace(t, "eve", paid)
		e, _ := s.Ready(t, dana)
		owner, other := newAPI(t, s, s.EvalKey(t, dana)), newAPI(t, s, s.EvalKey(t, eve))
		s.Clock.Add(time.Second)
		owner.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`).is(202)
		owner.do("POST", "/api/v1/evals", strings.Replace(servertest.EvalText, "web-weekly", "another", 1)).is(201)
		for _, list := range []string{"runs", "evals"} {
			cursor := owner.get("/api/v1/" + list + "?limit=1").is(200).text("nextCursor")
			if got := other.get("/api/v1/" + list + "?cursor=" + cursor).is(200).list(list); len(got) != 0 {
				t.Errorf("%s of another: %v", list, got)
			}
		}
		runs := owner.get("/api/v1/runs?limit=1").is(200).text("nextCursor")
		for _, path := range []string{"/api/v1/evals?cursor=", "/api/v1/runs?status=queued&cursor=", "/api/v1/evals/" + e.ID + "/runs?cursor="} {
			owner.get(path+runs).refused(400, "invalid_request")
		}
		for _, forged := range []string{`["evals","\u0000"]`, `["evals",5]`, `["evals"]`, `"evals"`, `["evals",null,1]`, `["runs","a"]`, "\xff"} {
			owner.get("/api/v1/evals?cursor="+base64.RawURLEncoding.EncodeToString([]byte(forged))).refused(400, "invalid_request")
		}
		for _, forged := range []string{`["runs  ",{"at":"2026-11-21T10:00:00Z","id":"\u0000"}]`, `["runs  ",{"at":"now"}]`, `["runs  ",[]]`} {
			owner.get("/api/v1/runs?cursor="+base64.RawURLEncoding.EncodeToString([]byte(forged))).refused(400, "invalid_request")
		}
	})
}

// TestHeaderFloods end at the connection, and the server goes on.
func TestHeaderFloods(t *testing.T) {
	s := servertest.New(t, servertest.Options{})
	a := newAPI(t, s, s.EvalKey(t, s.Workspace(t, "dana", paid)))
	flood, err := http.NewRequest(http.MethodGet, s.URL+"/api/v1/key", nil)
	if err != nil {
		t.Fatal(err)
	}
	flood.Header.Set("If-None-Match", strings.Repeat(`"x", `, 20_000))
	if resp, err := http.DefaultClient.Do(flood); err == nil { // or the connection is cut
		resp.Body.Close()
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a flood: %d", resp.StatusCode)
		}
	}
	a.do("GET", "/api/v1/key", "", "If-None-Match", strings.Repeat(`"x", `, 5_000)).is(200)
	twice, err := http.NewRequest(http.MethodGet, s.URL+"/api/v1/key", nil)
	if err != nil {
		t.Fatal(err)
	}
	twice.Header["Authorization"] = []string{"Bearer " + a.key, "Bearer " + a.key}
	resp, err := http.DefaultClient.Do(twice)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("two keys: %d", resp.StatusCode)
	}
	for _, header := range []string{"Basic " + a.key, "Bearer", "Bearer ", a.key, "bearer  " + a.key + " "} {
		want := http.StatusUnauthorized
		if strings.HasPrefix(header, "bearer") {
			want = http.StatusOK
		}
		if got := a.with("").do("GET", "/api/v1/key", "", "Authorization", header); got.status != want {
			t.Errorf("%q: %d", header, got.status)
		}
	}
	if got := a.with("").do("GET", "/api/v1/key?access_token="+a.key, ""); got.status != http.StatusUnauthorized {
		t.Errorf("a key in the address: %d", got.status)
	}
}

// TestOneIdempotencyKeyOneRun: whoever comes at once, there is one run.
func TestOneIdempotencyKeyOneRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		a := newAPI(t, s, s.EvalKey(t, w))
		e, _ := s.Ready(t, w)
		var group sync.WaitGroup
		answers := make([]*answer, 24)
		for i := range answers {
			group.Go(func() {
				answers[i] = a.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`, "Idempotency-Key", "once")
			})
		}
		group.Wait()
		fresh := 0
		for _, got := range answers {
			if got.status != 202 || got.text("id") != answers[0].text("id") {
				t.Errorf("%d %s, beside %s", got.status, got.body, answers[0].body)
			}
			if got.header.Get("Idempotent-Replayed") == "" {
				fresh++
			}
		}
		if list := a.get("/api/v1/runs").is(200).list("runs"); len(list) != 2 || fresh != 1 {
			t.Errorf("%d runs besides the first, %d of them told as new", len(list)-1, fresh)
		}
	})
}

// TestLimits: a key has its own, whatever else comes from the address; what comes
// without a key that works counts by address, and costs those with one nothing.
func TestLimits(t *testing.T) {
	s := servertest.New(t, servertest.Options{Limits: true, Agents: func(c *registrations.Config) {
		c.Rules = quota.DefaultRules()
		for name, rule := range map[string]string{"eval-read.key": "3/1m", "eval-write.key": "2/1m", "eval-run.key": "1/1m", "eval-failures.ip": "4/1m"} {
			if err := c.Rules.Set(name, rule); err != nil {
				t.Fatal(err)
			}
		}
	}})
	w := s.Workspace(t, "dana", paid)
	a, other := newAPI(t, s, s.EvalKey(t, w)), newAPI(t, s, s.EvalKey(t, w))
	e, _ := s.Ready(t, w)
	for range 4 {
		a.with("fpe_wrong").get("/api/v1/key").refused(401, "invalid_token")
	}
	if got := a.with("").get("/api/v1/key").refused(429, "rate_limited"); !strings.Contains(got.text("error_description"), "without a valid key") {
		t.Errorf("%s", got.body)
	}
	for left := 2; left >= 0; left-- {
		got := a.get("/api/v1/key").is(200)
		if got.header.Get("RateLimit-Policy") != `"eval-read.key";q=3;w=60` || !strings.HasPrefix(got.header.Get("RateLimit"), fmt.Sprintf(`"eval-read.key";r=%d;`, left)) {
			t.Errorf("%d left: %v", left, got.header)
		}
	}
	slow := a.get("/api/v1/runs").refused(429, "rate_limited")
	if slow.header.Get("Retry-After") == "" || !strings.Contains(slow.text("error_description"), "with this key") {
		t.Errorf("%s %v", slow.body, slow.header)
	}
	a.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`).is(202)
	a.do("POST", "/api/v1/evals/"+e.ID+"/runs", `{"budgetUsd":1}`).refused(429, "rate_limited")
	a.do("POST", "/api/v1/evals/check", servertest.EvalText).is(200)
	a.do("PUT", "/api/v1/provider-keys/A_KEY", `{"value":"sk-12345678"}`).is(200)
	a.do("PUT", "/api/v1/provider-keys/A_KEY", `{"value":"sk-12345678"}`).refused(429, "rate_limited")
	other.get("/api/v1/runs").is(200)
	s.Clock.Add(time.Minute)
	a.get("/api/v1/runs").is(200)
}
