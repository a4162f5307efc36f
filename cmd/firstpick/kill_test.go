package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const killedEval = `name: killed
category: webserver
repeats: 100
seed: 3
concurrency: 8
prompts:
  - {id: p1, text: Write an API server.}
  - {id: p2, text: Write a web backend.}
  - {id: p3, text: Serve JSON over HTTP.}
  - {id: p4, text: Build a small web service.}
  - {id: p5, text: Add a health endpoint.}
agents:
  - {name: a, kind: simulated, seed: 1, latency_ms: 10, fail_rate: 0.02, truth: {flask: 5, fastapi: 3, django: 1, diy: 1}}
  - {name: b, kind: simulated, seed: 2, latency_ms: 10, truth: {fastapi: 5, flask: 3, none: 1}}
  - {name: c, kind: simulated, seed: 3, latency_ms: 10, truth: {django: 5, flask: 3}}
  - {name: d, kind: simulated, seed: 4, latency_ms: 10, truth: {flask: 1}}
`

// firstpick runs the program in a folder.
func firstpick(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "firstpick", args...)
	cmd.Dir = dir
	return cmd
}

func must(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// kills is how often a test kills: a third of all each time the tests run. FIRSTPICK_TRIES is
// another number.
func kills(t *testing.T, all int) int {
	t.Helper()
	s := os.Getenv("FIRSTPICK_TRIES")
	if s == "" {
		return (all + 2) / 3
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("FIRSTPICK_TRIES is %q; write a number from 1", s)
	}
	return n
}

// TestKilledRunsResumeExactly kills a run of 2,000 trials many times at random
// moments. Every resume finds what was acknowledged, the end accounts for every
// trial once, and the snapshot is that of a run nobody killed, byte for byte.
func TestKilledRunsResumeExactly(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a run many times: a few seconds")
	}
	broken, whole := t.TempDir(), t.TempDir()
	for _, dir := range []string{broken, whole} {
		if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), []byte(killedEval), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	rng := rand.New(rand.NewPCG(7, 7))
	folder := filepath.Join(broken, ".firstpick", "runs")
	// kill stops a run after it has written that many bytes, or at any time from its start.
	kill := func(bytes int64, args ...string) {
		cmd := firstpick(t, broken, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		atStart := written(folder)
		for began := time.Now(); time.Since(began) < 2*time.Minute && written(folder) < atStart+bytes; time.Sleep(time.Millisecond) {
		}
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond) // the moment of the kill is the test
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if cmd.Wait() == nil {
			t.Fatal("the run was over before it was killed")
		}
	}
	kill(1, "run", "killed.yaml")
	runs, err := os.ReadDir(folder)
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %v: %v", runs, err)
	}
	id := runs[0].Name()
	before := 0
	for i := range kills(t, 20) - 1 {
		var bytes int64
		if i%3 > 0 { // the others die while they start
			bytes = 1 + rng.Int64N(50_000)
		}
		kill(bytes, "run", "--resume", id)
		valid := validTrials(t, broken, id)
		if valid < before {
			t.Fatalf("kill %d: %d trials, and there were %d", i+2, valid, before)
		}
		before = valid
	}
	if t.Logf("after the kills: %d of 2000 trials", before); before == 0 || before == 2000 {
		t.Error("no kill hit a run that had trials, and lacked some")
	}
	if out := must(t, firstpick(t, broken, "run", "--resume", id)); !strings.Contains(out, "planned 2000 = valid 2000 + excluded 0\n") {
		t.Errorf("the end does not add up:\n%s", out)
	}
	must(t, firstpick(t, whole, "run", "killed.yaml"))
	for _, dir := range []string{broken, whole} {
		must(t, firstpick(t, dir, "publish", "--allow-synthetic"))
	}
	a, b := contents(t, broken), contents(t, whole)
	if len(a) < 5 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("snapshots differ: %d and %d files", len(a), len(b))
	}
}

// written returns the size of all journals in a folder of runs, in bytes.
func written(folder string) int64 {
	var size int64
	journals, _ := filepath.Glob(filepath.Join(folder, "*", "journal-*"))
	for _, name := range journals {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return size
}

func validTrials(t *testing.T, dir, id string) int {
	t.Helper()
	cmd := firstpick(t, dir, "runs", "--json")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Runs []struct {
			ID    string
			Valid int
		}
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list.Runs) != 1 || list.Runs[0].ID != id {
		t.Fatalf("%s: %v", out, err)
	}
	return list.Runs[0].Valid
}

// contents reads a folder's snapshots, by path, without the log, which has the times and
// the key of its publisher.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	root := os.DirFS(filepath.Join(dir, ".firstpick", "snapshots"))
	err := fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if path == "log" {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		out[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
