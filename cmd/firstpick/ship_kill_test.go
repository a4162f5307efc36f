package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const shipKills = 20

// TestShipperKilledSendsEachLineOnce kills a shipper twenty times while a log is
// written and rotated, and the server twice. Each line is an event, once.
func TestShipperKilledSendsEachLineOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a shipper twenty times: some seconds")
	}
	s := newKilled(t)
	s.start(s.listen)
	key := s.collectorKey()
	log := filepath.Join(s.dir, "access.log")
	ship := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "firstpick", append([]string{"traffic", "ship", "--server", s.base, "--host", "acme.example", "--spool", filepath.Join(s.dir, "spool")}, args...)...)
		cmd.Env = append(s.env, "FIRSTPICK_KEY="+key)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, &out
	}

	lines := 0
	write := func(n int) {
		t.Helper()
		f, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			lines++
			at := time.Now().UTC().Format("02/Jan/2006:15:04:05 -0700")
			if _, err := fmt.Fprintf(f, "203.0.113.7 - - [%s] \"GET /p/%d HTTP/1.1\" 200 5 \"-\" \"GPTBot/1.3\"\n", at, lines); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	rotated := 0
	write(5000)
	// A shipper that was killed before it kept its first place has never seen what is rotated then.
	if cmd, out := ship("--once", log); cmd.Wait() != nil {
		t.Fatal(out)
	}
	for round := range shipKills {
		cmd, out := ship(log)
		var killing sync.WaitGroup
		killing.Go(func() {
			time.Sleep(time.Duration(20+rand.IntN(400)) * time.Millisecond) // the moment of the kill is the test
			_ = cmd.Process.Kill()
		})
		for range 20 {
			write(50 + rand.IntN(100))
			time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		}
		switch round % 4 {
		case 1:
			rotated++
			if err := os.Rename(log, fmt.Sprintf("%s.%d", log, rotated)); err != nil {
				t.Fatal(err)
			}
			write(10)
		case 3:
			rotated++
			data, err := os.ReadFile(log)
			if err == nil {
				err = os.WriteFile(fmt.Sprintf("%s.%d", log, rotated), data, 0o644)
			}
			if err == nil {
				err = os.Truncate(log, 0)
			}
			if err != nil {
				t.Fatal(err)
			}
			write(10)
		}
		killing.Wait()
		if err := cmd.Wait(); err == nil {
			t.Fatalf("the shipper ended by itself:\n%s", out)
		}
		switch round { // away for some rounds, twice
		case 5, 12:
			s.kill()
		case 8, 14:
			s.start(s.listen)
		}
	}
	cmd, out := ship("--once", log)
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	a, err := s.send(http.DefaultClient, s.base, "GET", "/api/collect", nil, key)
	if err != nil || a.number("eventsTotal") != lines {
		t.Errorf("%d lines, and the server counts %s, %v\n%s", lines, a, err, out)
	}
	t.Logf("%d lines, %d rotations\n%s", lines, rotated, out)
}
