package cliagent

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/cliagent/process"
)

// TestMain makes the test binary the programs that the tests run, and their
// supervisor.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "supervise" {
		os.Exit(process.Supervise(os.Args[2:]))
	}
	if script := os.Getenv("FAKE_CLI"); script != "" {
		os.Exit(fake(script))
	}
	os.Exit(m.Run())
}

// A fakeCLI is what a program does in place of a real one.
type fakeCLI struct {
	Stdout string // a file to replay
	Stderr string
	Lines  int    // of it, at most; 0: all
	Pause  string // after each line that holds this text it waits for a minute
	Report string // a file that becomes the report
	Write  map[string]string
	Env    bool // tell the whole environment on stderr
	// End is how it goes on: exit, hang, kill itself, ignore signals with a child
	// that does so too, write lines forever, or one line of 200 MB.
	End  string
	Code int
}

// install writes the program and returns its path.
func (f fakeCLI) install(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "fake")
	script := fmt.Sprintf("#!/bin/sh\nexport FAKE_CLI='%s'\nexec '%s' \"$@\"\n", strings.ReplaceAll(string(text), "'", `'\''`), self)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return path
}

func fake(script string) int {
	time.AfterFunc(2*time.Minute, func() { os.Exit(99) }) // whatever the test does
	if slices.Contains(os.Args, "--version") {
		fmt.Println("fake 1.2.3 (test)")
		return 0
	}
	var f fakeCLI
	if err := json.Unmarshal([]byte(script), &f); err != nil {
		panic(err)
	}
	if f.End == "stubborn" {
		signal.Ignore(syscall.SIGINT, syscall.SIGTERM)
	}
	for name, text := range f.Write {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	if f.Env {
		fmt.Fprintln(os.Stderr, strings.Join(os.Environ(), " "))
	}
	f.replay()
	if f.Report != "" {
		text, err := os.ReadFile(f.Report)
		if err == nil {
			i := max(slices.Index(os.Args, "--usage-output-file"), slices.Index(os.Args, "--analytics-log"))
			err = os.WriteFile(os.Args[i+1], text, 0o600)
		}
		if err != nil {
			panic(err)
		}
	}
	return f.end()
}

func (f fakeCLI) replay() {
	if f.Stderr != "" {
		text, err := os.ReadFile(f.Stderr)
		if err != nil {
			panic(err)
		}
		_, _ = os.Stderr.Write(text)
	}
	if f.Stdout == "" {
		return
	}
	text, err := os.ReadFile(f.Stdout)
	if err != nil {
		panic(err)
	}
	n := 0
	for line := range bytes.Lines(text) {
		if n++; f.Lines > 0 && n > f.Lines {
			return
		}
		_, _ = os.Stdout.Write(line)
		if f.Pause != "" && strings.Contains(string(line), f.Pause) {
			time.Sleep(time.Minute)
		}
	}
}

func (f fakeCLI) end() int {
	switch f.End {
	case "hang":
		time.Sleep(time.Minute)
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err != nil || self.Kill() != nil {
			panic("it cannot kill itself")
		}
		select {}
	case "stubborn":
		child := exec.Command("/proc/self/exe")
		child.Env = []string{`FAKE_CLI={"End":"hang"}`}
		child.Stdout, child.SysProcAttr = os.Stdout, ownSession()
		if err := child.Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
	case "endless":
		w := bufio.NewWriter(os.Stdout)
		for {
			if _, err := w.WriteString("not a line of any stream\n"); err != nil {
				return 1
			}
		}
	case "long line":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 200 {
			if _, err := os.Stdout.Write(chunk); err != nil {
				return 1
			}
		}
	}
	return f.Code
}
