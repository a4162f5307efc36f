package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/journal"
)

// queuedEval is the eval of the kills, two and a half times as often.
var queuedEval = strings.NewReplacer("repeats: 100", "repeats: 250", "latency_ms: 3", "latency_ms: 5", "fail_rate: 0.02, ", "").Replace(killedEval)

// TestWorkersKilledAndCutOffLoseNothing lets two workers ask 5,000 questions. One is
// killed in the middle; the other's network is cut for longer than it takes until it
// counts as dead, and comes back. No trial is lost, none is there twice, and the
// snapshot is that of a run on one machine, byte for byte.
func TestWorkersKilledAndCutOffLoseNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("cuts a network for eighteen seconds")
	}
	address := cluster(t)
	spread, alone := t.TempDir(), t.TempDir()
	for _, dir := range []string{spread, alone} {
		if err := os.WriteFile(filepath.Join(dir, "killed.yaml"), []byte(queuedEval), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	first := startWorker(t, spread, nil, address)
	cut := newCutNetwork(t, address)
	startWorker(t, spread, cut.enter, cut.address)

	run := firstpick(t, spread, "run", "killed.yaml", "--queue", address, "--concurrency", "32", "--json")
	run.Stderr = &strings.Builder{}
	events, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = run.Process.Kill() })
	began := time.Now()
	seen := countEvents(events, func(results int) {
		if results%1000 == 0 {
			t.Logf("%d results after %s", results, time.Since(began).Round(time.Millisecond))
		}
		switch results {
		case 2000:
			if err := first.Process.Kill(); err != nil {
				t.Error(err)
			}
		case 4000:
			cut.forAWhile(t, 18*time.Second)
		}
	})
	if err := run.Wait(); err != nil {
		t.Fatalf("the run: %v\n%s", err, run.Stderr)
	}
	t.Logf("network: %s; %d results, failed attempts: %v", cut.how, seen.results, seen.reasons)
	if seen.reasons["worker_lost"] == 0 {
		t.Error("nothing was under way when the workers were lost: the test tests nothing")
	}
	checkOnce(t, filepath.Join(spread, ".firstpick", "runs"), 5_000)
	must(t, firstpick(t, alone, "run", "killed.yaml"))
	for _, dir := range []string{spread, alone} {
		must(t, firstpick(t, dir, "publish", "--allow-synthetic"))
	}
	a, b := contents(t, spread), contents(t, alone)
	if len(a) < 5 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("snapshots differ: %d and %d files", len(a), len(b))
	}
}

// startWorker starts a worker, behind the words of enter.
func startWorker(t *testing.T, dir string, enter []string, address string) *exec.Cmd {
	t.Helper()
	args := append(enter, "firstpick", "worker", "--state", address, "--concurrency", "16")
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	log := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("a worker's last words:\n%s", log.String()[max(0, log.Len()-2000):])
		}
	})
	return cmd
}

// checkOnce checks that the one run in a folder has every trial once.
func checkOnce(t *testing.T, root string, trials int) {
	t.Helper()
	runs, _, err := journal.List(root)
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	results := map[string]int{}
	if _, err := journal.Scan(root, runs[0].ID, journal.Offset{}, func(r journal.Record, _ journal.Offset) error {
		if r.Kind == journal.KindResult {
			results[r.Trial.ID]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	doubled := 0
	for _, n := range results {
		if n > 1 {
			doubled++
		}
	}
	if len(results) != trials || doubled > 0 {
		t.Errorf("%d of %d trials have a result, %d of them more than one", len(results), trials, doubled)
	}
}

type seenEvents struct {
	results int
	reasons map[string]int // of failed attempts
}

// countEvents reads the events of a run to their end. at is called at each result.
func countEvents(events io.Reader, at func(results int)) seenEvents {
	seen := seenEvents{reasons: map[string]int{}}
	for lines := bufio.NewReader(events); ; {
		line, err := lines.ReadBytes('\n')
		var e struct{ Kind, Reason string }
		if json.Unmarshal(line, &e) == nil {
			switch e.Kind {
			case "result":
				seen.results++
				at(seen.results)
			case "attempt":
				reason, _, _ := strings.Cut(e.Reason, ":")
				seen.reasons[reason]++
			}
		}
		if err != nil {
			return seen
		}
	}
}

// A cutNetwork is a way to PostgreSQL that can be cut. Where the system lets us,
// the worker lives in a network namespace of its own, whose only interface goes
// down; elsewhere a relay stops to pass bytes on.
type cutNetwork struct {
	how     string
	address string
	enter   []string // words before a command that is to use it
	relay   *exec.Cmd
}

const relayPort = "54320"

func newCutNetwork(t *testing.T, address string) *cutNetwork {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	n := &cutNetwork{how: "a relay that stops"}
	listen, words := freeAddress(t), []string{"pgrelay"}
	unshare := []string{"unshare", "-rn"}
	if os.Geteuid() == 0 { // who is root in a user namespace alone cannot reach the socket
		unshare = []string{"unshare", "-n"}
	}
	if exec.Command(unshare[0], append(unshare[1:], "ip", "link", "set", "lo", "up")...).Run() == nil {
		n.how, listen = "a network namespace, its interface down", "127.0.0.1:"+relayPort
		words = append(unshare, "pgrelay", "netns")
	}
	n.address = "postgres://postgres@" + listen + u.Path + "?sslmode=disable"
	n.relay = exec.CommandContext(t.Context(), words[0], append(words[1:], listen, socket)...)
	ready, err := n.relay.StdoutPipe()
	if err == nil {
		err = n.relay.Start()
	}
	if err == nil {
		_, err = bufio.NewReader(ready).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = n.relay.Process.Kill()
		_ = n.relay.Wait()
	})
	if len(words) > 1 {
		n.enter = []string{"nsenter", "-t", fmt.Sprint(n.relay.Process.Pid), "-n"}
		if os.Geteuid() != 0 {
			n.enter = append(n.enter, "-U", "--preserve-credentials")
		}
		n.enter = append(n.enter, "--")
	}
	return n
}

// forAWhile cuts the network, and mends it later.
func (n *cutNetwork) forAWhile(t *testing.T, d time.Duration) {
	t.Helper()
	if err := n.relay.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Error(err)
	}
	time.AfterFunc(d, func() { _ = n.relay.Process.Signal(syscall.SIGUSR2) })
}

// pgrelay passes connections on to a socket. SIGUSR1 cuts them, SIGUSR2 mends what
// was cut.
func pgrelay() {
	args := os.Args[1:]
	namespace := args[0] == "netns"
	if namespace {
		args = args[1:]
		setLoopback("up")
	}
	listener, err := net.Listen("tcp", args[0])
	if err != nil {
		panic(err)
	}
	gate := &sync.RWMutex{}
	cuts := make(chan os.Signal, 2)
	signal.Notify(cuts, syscall.SIGUSR1, syscall.SIGUSR2)
	go func() {
		for s := range cuts {
			switch {
			case namespace && s == syscall.SIGUSR1:
				setLoopback("down")
			case namespace:
				setLoopback("up")
			case s == syscall.SIGUSR1:
				gate.Lock()
			default:
				gate.Unlock()
			}
		}
	}()
	fmt.Println("ready")
	for {
		near, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		go func() {
			far, err := net.Dial("unix", args[1])
			if err != nil {
				panic(err)
			}
			go pass(gate, near, far)
			pass(gate, far, near)
		}()
	}
}

// pass copies bytes while the gate is open.
func pass(gate *sync.RWMutex, to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		gate.RLock()
		_, werr := to.Write(buf[:n])
		gate.RUnlock()
		if err != nil || werr != nil {
			return
		}
	}
}

func setLoopback(to string) {
	if out, err := exec.Command("ip", "link", "set", "lo", to).CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
}
