package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/journal"
)

// What the fake model charges, in USD: 20 tokens read and 10 written at 1,000 USD per
// million; a question may write 20.
const answerUSD = 0.03

const billedAnswer = `{"model":"fake-1","choices":[{"message":{"content":"I would use Flask."},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":10}}`

// TestKilledRunsOfRealAgents kills a run many times at random moments while it
// asks a model over HTTP and runs programs that have children. No answer that was
// stored is lost or asked for again, no process outlives the run, and what the
// model charged stays within the budget.
func TestKilledRunsOfRealAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("kills a run many times: half a minute")
	}
	var charged atomic.Int64
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(time.Duration(20+rand.IntN(60)) * time.Millisecond):
		case <-r.Context().Done():
		}
		charged.Add(1) // a question that was given up is charged all the same
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(billedAnswer))
	}))
	t.Cleanup(model.Close)

	dir := t.TempDir()
	marker := fmt.Sprintf("30.%d", 1_000_000+rand.IntN(1_000_000)) // seconds that a child would sleep: nobody else's
	script := "sleep " + marker + " & sleep 0.0$((RANDOM % 8 + 2)); echo 'I would use Django.'; kill $!"
	rounds := kills(t, 30)
	repeats := max(50, 250*rounds/30) // an unbroken run is longer than all kills
	trials := 4 * repeats             // of two agents and two prompts
	eval := fmt.Sprintf(`name: killed
category: webserver
repeats: %d
seed: 5
concurrency: 12
prompts:
  - {id: p1, text: Write an API server.}
  - {id: p2, text: Write a web backend.}
agents:
  - {name: api, kind: openai-chat, base_url: %q, model: fake-1, max_tokens: 20, price: {input_per_mtok: 1000, output_per_mtok: 1000}}
  - {name: program, kind: command, command: [bash, -c, %q, "{prompt}"], trial_cost_usd: 0.01, price: {input_per_mtok: 1, output_per_mtok: 1}, memory_mb: 10}
`, repeats, model.URL+"/v1", script)
	if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), []byte(eval), 0o600); err != nil {
		t.Fatal(err)
	}
	runs := filepath.Join(dir, ".firstpick", "runs")
	const budget = 1000.0
	args := []string{"run", "killed.yaml", "--max-cost", fmt.Sprint(budget)}
	id, seen := "", map[string]bool{}
	for round := range rounds {
		cmd := firstpick(t, dir, args...)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(20 * time.Millisecond) { // until it got somewhere
			if list, _, _ := journal.List(runs); len(list) == 1 {
				id = list[0].ID
				if done, err := runner.Replay(runs, id); err == nil && len(done.Valid) > len(seen) {
					break
				}
			}
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond) // the moment of the kill is the test
		_ = cmd.Process.Kill()
		if cmd.Wait() == nil {
			t.Fatalf("round %d: the run was over before it was killed", round)
		}
		if id == "" {
			t.Fatalf("no run began:\n%s", &said)
		}
		if left := orphans(t, marker); left != "" {
			t.Fatalf("round %d: still alive: %s", round, left)
		}
		done, err := runner.Replay(runs, id)
		if err != nil {
			t.Fatal(err)
		}
		for trial := range seen {
			if !done.Valid[trial] {
				t.Fatalf("round %d: the answer of trial %s is lost", round, trial)
			}
		}
		for trial := range done.Valid {
			seen[trial] = true
		}
		args = []string{"run", "--resume", id, "--max-cost", fmt.Sprint(budget)}
	}
	out := must(t, firstpick(t, dir, args...))
	counts := map[string]int{}
	_, err := journal.Scan(runs, id, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult {
			counts[r.Trial.ID]++
		}
		return nil
	})
	if err != nil || len(counts) != trials {
		t.Fatalf("%d trials have an answer, want %d, %v\n%s", len(counts), trials, err, out)
	}
	for trial, n := range counts {
		if n != 1 {
			t.Errorf("trial %s has %d answers", trial, n)
		}
	}
	done, err := runner.Replay(runs, id)
	if err != nil {
		t.Fatal(err)
	}
	bill := float64(charged.Load()) * answerUSD
	if atMost := done.SpentUSD + done.LostUSD; bill > atMost || atMost > budget {
		t.Errorf("the model charged %.2f, the run reckons with at most %.2f, the budget was %.2f", bill, atMost, budget)
	}
	if left := orphans(t, marker); left != "" {
		t.Errorf("still alive at the end: %s", left)
	}
	t.Logf("%d kills after %d of %d trials; the model was asked %d times for %d answers and charged %.2f of %.2f USD", rounds, len(seen), trials, charged.Load(), trials/2, bill, budget)
}

// orphans returns the command lines that hold the marker, once the system had three
// seconds to end them.
func orphans(t *testing.T, marker string) string {
	t.Helper()
	var found []string
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(20 * time.Millisecond) {
		found = nil
		lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil || len(lines) == 0 {
			t.Skip("no /proc to look for orphans in")
		}
		for _, path := range lines {
			line, err := os.ReadFile(path)
			if err == nil && strings.Contains(string(line), marker) && !strings.Contains(string(line), "firstpick.test") {
				found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
		if len(found) == 0 {
			return ""
		}
	}
	encoded, _ := json.Marshal(found)
	return string(encoded)
}
