package sse_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/kit/sse"
)

// serve starts a server whose connections have a tenth of a second for a request and
// for an answer.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ReadTimeout, s.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// TestAStreamOutlivesTheTimesOfItsConnection, which are for a request and an answer of
// the ordinary kind.
func TestAStreamOutlivesTheTimesOfItsConnection(t *testing.T) {
	gate := sse.NewLimiter(1, 1)
	more := make(chan string)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		s, err := gate.Open(w, r, "dana")
		if err != nil {
			t.Error(err)
			return
		}
		defer s.End()
		id := int64(0)
		for data := range more {
			id++
			if err := errors.Join(s.Context().Err(), s.Beat(), s.Send(id, "said", []byte(data))); err != nil {
				t.Errorf("event %d: %v", id, err)
				return
			}
		}
	})
	var lines *bufio.Scanner
	var want []string
	for i, data := range []string{"one", "two\nlines\r\nof it", strings.Repeat("x", 5000)} {
		var wait sync.WaitGroup
		wait.Go(func() { more <- data })
		if i == 0 {
			resp, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			lines = bufio.NewScanner(resp.Body)
			want = []string{"retry: 2000", ""}
		}
		wait.Wait()
		want = append(want, ": beat", "", "id: "+string(rune('1'+i)), "event: said")
		for line := range strings.SplitSeq(strings.ReplaceAll(data, "\r", ""), "\n") {
			want = append(want, "data: "+line)
		}
		for _, line := range append(want, "") {
			if !lines.Scan() || lines.Text() != line {
				t.Fatalf("%.80q, not %.80q: %v", lines.Text(), line, lines.Err())
			}
		}
		want = nil
		<-time.After(150 * time.Millisecond) // longer than either time
	}
	close(more)
	if lines.Scan() {
		t.Errorf("more: %q", lines.Text())
	}
}

// open opens a stream that nobody reads.
func open(t *testing.T, g *sse.Limiter, owner string) (*sse.Stream, error) {
	t.Helper()
	return g.Open(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), owner)
}

func TestPlacesAreCounted(t *testing.T) {
	g := sse.NewLimiter(3, 2)
	var streams []*sse.Stream
	for _, c := range []struct {
		owner string
		fits  bool
	}{{"dana", true}, {"dana", true}, {"dana", false}, {"eve", true}, {"eve", false}, {"frank", false}} {
		s, err := open(t, g, c.owner)
		if (err == nil) != c.fits || err != nil && !errors.Is(err, sse.ErrTooMany) {
			t.Fatalf("%s: %v", c.owner, err)
		}
		if s != nil {
			streams = append(streams, s)
		}
	}
	for range 2 { // the second time gives nothing back
		streams[0].End()
	}
	if _, err := open(t, g, "frank"); err != nil {
		t.Error(err)
	}
	if _, err := open(t, g, "dana"); !errors.Is(err, sse.ErrTooMany) {
		t.Errorf("a place was given back twice: %v", err)
	}
	if streams[0].Context().Err() == nil || streams[1].Context().Err() != nil {
		t.Error("End ends its own stream, and no other")
	}
	g.Close()
	<-streams[1].Context().Done()
	streams[1].End()
	if _, err := open(t, g, "grace"); !errors.Is(err, sse.ErrTooMany) {
		t.Errorf("after Close: %v", err)
	}
}

// TestClosingReachesWhoDoesNotRead: a write that waits for a reader ends within seconds.
func TestClosingReachesWhoDoesNotRead(t *testing.T) {
	g := sse.NewLimiter(1, 1)
	full, failed := make(chan struct{}), make(chan error, 1)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		s, err := g.Open(w, r, "dana")
		if err != nil {
			t.Error(err)
			return
		}
		defer s.End()
		data := []byte(strings.Repeat("x", 1<<20))
		for i := range int64(64) { // more than a connection holds
			if i == 1 {
				close(full)
			}
			if err = s.Send(i, "said", data); err != nil {
				break
			}
		}
		failed <- err
	})
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-full
	<-time.After(100 * time.Millisecond) // until it waits
	g.Close()
	select {
	case err := <-failed:
		if err == nil {
			t.Error("64 MiB went to nobody")
		}
	case <-time.After(time.Minute):
		t.Error("it waits for a reader still")
	}
}

// TestStreamsEndCleanly: a stream that is ended by the server's stop ends as HTTP says
// (RFC 9112, 7.1): with the last chunk, so that no reader takes it for cut off.
func TestStreamsEndCleanly(t *testing.T) {
	for name, handle := range map[string]func(s *sse.Stream) error{
		"waiting for an event": func(s *sse.Stream) error { <-s.Context().Done(); return nil },
		"sending the last one": func(s *sse.Stream) error { <-s.Context().Done(); return s.Send(1, "said", []byte("goodbye")) },
	} {
		t.Run(name, func(t *testing.T) {
			g := sse.NewLimiter(1, 1)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				s, err := g.Open(w, r, "dana")
				if err != nil {
					t.Error(err)
					return
				}
				defer s.End()
				if err := errors.Join(s.Begin(), handle(s)); err != nil {
					t.Error(err)
				}
			})
			conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			r := bufio.NewReader(conn)
			for line := ""; line != "retry: 2000\n"; {
				if line, err = r.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			g.Close()
			rest, err := io.ReadAll(r)
			if err != nil || !strings.HasSuffix(string(rest), "\r\n0\r\n\r\n") {
				t.Errorf("the connection ends with %q, %v", rest, err)
			}
		})
	}
}
