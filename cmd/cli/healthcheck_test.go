package cli

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthcheck(t *testing.T) {
	status := http.StatusOK
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":"ok"}`))
	}))
	t.Cleanup(srv.Close)
	listen := strings.TrimPrefix(srv.URL, "http://")
	check := func(args ...string) (string, error) {
		var out bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stdout = append([]string{"healthcheck"}, args...), &out
		env.Getenv = func(name string) string {
			if name == "FIRSTPICK_LISTEN" {
				return listen
			}
			return ""
		}
		err := newRootCmd(env).ExecuteContext(t.Context())
		return out.String(), err
	}
	for _, args := range [][]string{nil, {srv.URL}} {
		if out, err := check(args...); err != nil || out != `{"status":"ok"}` {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
	status = http.StatusServiceUnavailable
	if _, err := check(); codeOf(err) != exitFailed || !strings.Contains(err.Error(), "503") {
		t.Errorf("a server that is not well: %v", err)
	}
	srv.Close()
	if _, err := check(); codeOf(err) != exitFailed {
		t.Errorf("no server: %v", err)
	}
	if _, err := check("http://[bad"); codeOf(err) != exitUsage {
		t.Errorf("a bad URL: %v", err)
	}
}
