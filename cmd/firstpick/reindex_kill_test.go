package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestReindexKilled kills a reindex in its midst. A server goes on from there, and
// so does another reindex: the report is what it was.
func TestReindexKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("stores fifty thousand events: some seconds")
	}
	const events = 50_000 // of two batches and a half
	s := newKilled(t)
	s.start(s.listen)
	token, key := s.claimedWorkspace()
	for first := 0; first < events; first += 1000 {
		list := make([]any, 1000)
		for i := range list {
			list[i] = map[string]any{"type": "touch", "id": fmt.Sprint(first + i), "url": "/", "userAgent": "GPTBot/1.3"}
		}
		if a, err := s.send(http.DefaultClient, s.base, "POST", "/api/collect", map[string]any{"events": list}, key); err != nil || a.status != http.StatusAccepted {
			t.Fatal(a, err)
		}
	}
	s.reportWith(token, events)
	reindex := []string{"traffic", "reindex", "--data", filepath.Join(s.dir, "data")}
	refused := firstpick(t, s.dir, reindex...)
	refused.Env = s.env
	if out, err := refused.CombinedOutput(); err == nil || !strings.Contains(string(out), "stop the server first") {
		t.Errorf("beside a server: %v\n%s", err, out)
	}
	s.kill()
	broken := 0
	for range 6 {
		cmd := firstpick(t, s.dir, reindex...)
		cmd.Env = s.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(50+rand.IntN(400)) * time.Millisecond) // the moment of the kill is the test
		_ = cmd.Process.Kill()
		if cmd.Wait() != nil {
			broken++
		}
	}
	s.start(s.listen)
	s.reportWith(token, events)
	s.kill()
	again := firstpick(t, s.dir, reindex...)
	again.Env = s.env
	out, err := again.Output()
	if err != nil || !strings.HasPrefix(string(out), fmt.Sprintf("%d events in ", events)) {
		t.Errorf("%v\n%s", err, out)
	}
	s.start(s.listen)
	s.reportWith(token, events)
	t.Logf("%d of 6 were killed in time; the last: %s", broken, out)
}
