package servertest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/servertest"
)

// TestAnAnswerBeforeTheBodyArrives: a client that sends all of a large body before it
// reads, and closes the connection after the answer, gets the whole answer and no reset.
func TestAnAnswerBeforeTheBodyArrives(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.Options{})
	w := newAgent(t, s)
	key := collectorKey(t, s, registrations.KeyRequest{Kind: "secret"})
	for name, tt := range map[string]struct {
		path, media, bearer string
		size, want          int
	}{
		"JSON":                             {"/api/agent/identity", jsonMedia, "", 3 << 20, 413},
		"JSON of who may not":              {"/api/agent/keys", jsonMedia, "", 3 << 20, 401},
		"JSON of who may":                  {"/api/agent/keys", jsonMedia, w.token, 3 << 20, 413},
		"a form for programs":              {"/api/oauth2/token", formMedia, "", 3 << 20, 413},
		"a form that is not too large yet": {"/api/oauth2/token", formMedia, "", 40 << 10, 413},
		"a form of a person":               {"/signin", formMedia, "", 3 << 20, 413},
		"events without a key":             {"/api/collect?format=ndjson", jsonMedia, "", 3 << 20, 401},
		"events with a key":                {"/api/collect", jsonMedia, key, 7 << 20, 413},
		"MCP":                              {"/api/mcp", jsonMedia, "", 3 << 20, 413},
		"nothing is here":                  {"/api/nothing", jsonMedia, "", 3 << 20, 404},
		"another method":                   {"/api/agent/workspace", jsonMedia, "", 3 << 20, 405},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for range 20 {
				head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\nSec-Fetch-Site: same-origin\r\n",
					tt.path, strings.TrimPrefix(s.URL, "http://"), tt.media, tt.size)
				if tt.bearer != "" {
					head += "Authorization: Bearer " + tt.bearer + "\r\n"
				}
				status, err := sendAll(t, s, head+"\r\n", tt.size)
				if err != nil || status != tt.want {
					t.Fatalf("%d, want %d: %v", status, tt.want, err)
				}
			}
		})
	}
}

// sendAll sends a head and a body of so many bytes, then reads the answer to the end of
// the connection.
func sendAll(t *testing.T, s *servertest.Service, head string, size int) (int, error) {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := io.WriteString(c, head); err != nil {
		return 0, err
	}
	if _, err := c.Write(bytes.Repeat([]byte("a"), size)); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && len(body) == 0 {
		err = io.ErrUnexpectedEOF
	}
	return resp.StatusCode, err
}
