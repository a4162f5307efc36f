package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var benchmarkFunc = regexp.MustCompile(`(?m)^func Benchmark`)

// TestBenchmarksMeasureWhatIsShipped fails when a benchmark, or the program that the
// scripts measure with, links the checker of test servers: it took more than half of
// the time that an earlier benchmark reported.
func TestBenchmarksMeasureWhatIsShipped(t *testing.T) {
	measuring := []string{module + "cmd/bench"}
	for _, p := range goList(t, "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles", module+"...") {
		for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if benchmarkFunc.Match(text) {
				measuring = append(measuring, p.ImportPath)
				break
			}
		}
	}
	if len(measuring) < 10 {
		t.Fatalf("only %d packages with benchmarks were found: %v", len(measuring), measuring)
	}
	for _, p := range goList(t, append([]string{"-test", "-json=ImportPath,Deps"}, measuring...)...) {
		binary := strings.HasSuffix(p.ImportPath, ".test") || p.ImportPath == module+"cmd/bench"
		if binary && slices.ContainsFunc(p.Deps, func(d string) bool { return strings.HasPrefix(d, module+"server/servertest") }) {
			t.Errorf("%s has benchmarks and links server/servertest; measure the built program (cmd/bench) or the package alone", p.ImportPath)
		}
	}
}

// A listed is a package as `go list -json` prints it.
type listed struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Imports, Deps             []string
}

func goList(t *testing.T, args ...string) (list []listed) {
	t.Helper()
	var said strings.Builder
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, said.String())
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}
