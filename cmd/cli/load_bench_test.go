package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// loadFolder names the place whose snapshot BenchmarkLoadSnapshot loads in a process of its own.
const loadFolder = "FIRSTPICK_LOAD"

// BenchmarkLoadSnapshot measures what a server does before it serves a snapshot of 100 boards
// of 50 tools, 30 agents and 20 prompts: it reads and verifies the files, and builds the site.
// MB is the most memory that the process has had resident.
func BenchmarkLoadSnapshot(b *testing.B) {
	if root := os.Getenv(loadFolder); root != "" {
		f := &assembly.Follower{Snapshots: &published{place: publish.Local(root)}, BaseURL: sitetest.Base, Holder: &snapshotview.Holder{}, Log: slog.New(slog.DiscardHandler)}
		_, _ = fmt.Fprintf(os.Stderr, "before %s", memoryOf(b))
		start := time.Now()
		f.Poll(b.Context())
		if f.Holder.Current() == nil {
			b.Fatal("nothing is served")
		}
		_, _ = fmt.Fprintf(os.Stderr, "loaded in %d ms\n%s", time.Since(start).Milliseconds(), memoryOf(b))
		return
	}
	root := b.TempDir()
	writeSnapshot(b, root, sitetest.Large(b, 100, 50, 30, 20))
	var ms, cpu, mb, before []float64
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkLoadSnapshot$", "-test.benchtime=1x")
		cmd.Env = append(os.Environ(), loadFolder+"="+root)
		out, err := cmd.CombinedOutput()
		if err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		cpu = append(cpu, float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Milliseconds()))
		for line := range strings.Lines(string(out)) {
			var v float64
			if n, _ := fmt.Sscanf(line, "loaded in %f ms", &v); n == 1 {
				ms = append(ms, v)
			}
			if n, _ := fmt.Sscanf(line, "before VmHWM: %f kB", &v); n == 1 {
				before = append(before, v/1024)
			}
			if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &v); n == 1 {
				mb = append(mb, v/1024)
			}
		}
	}
	if len(ms) == 0 || len(mb) == 0 {
		b.Fatal("the process reports nothing")
	}
	b.ReportMetric(slices.Min(ms), "ms")
	b.ReportMetric(slices.Min(cpu), "ms-CPU") // of the whole process
	b.ReportMetric(slices.Max(mb), "MB")
	b.ReportMetric(slices.Max(before), "MB-before")
}

// memoryOf is the line of the system with the most memory that this process has had resident.
func memoryOf(b *testing.B) string {
	b.Helper()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("memory is read from /proc/self/status, which this system lacks: ", err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	line, _, _ := strings.Cut(rest, "\n")
	return "VmHWM:" + line + "\n"
}

// writeSnapshot writes the documents of a snapshot, without trials, as publish does.
func writeSnapshot(b *testing.B, root string, in snapshotview.Input) {
	b.Helper()
	docs, items := map[string]any{"refs.json": map[string]any{"refs": in.Refs}}, []analytics.CategoryItem{}
	for _, board := range in.Boards {
		items = append(items, board.Item())
		docs["boards/"+board.Category+".json"] = board
		docs["prompts/"+board.Category+".json"] = map[string]any{"category": board.Category, "prompts": board.Prompts}
		for _, s := range board.Tools {
			report, _ := board.Report(s.Slug)
			docs["reports/"+board.Category+"/"+s.Slug+".json"] = report
		}
	}
	docs["categories.json"] = map[string]any{"categories": items}
	m := publish.Manifest{SchemaVersion: publish.SchemaVersion, Statistics: publish.Statistics, Evidence: "none", AsOf: &in.AsOf, Evals: []publish.Eval{}}
	write := func(name string, data []byte) {
		path := filepath.Join(root, "new", filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	for name, v := range docs {
		data, err := json.Marshal(v)
		if err != nil {
			b.Fatal(err)
		}
		write(name, data)
		m.Files = append(m.Files, publish.File{Path: name, SHA256: content.Digest(data), Bytes: int64(len(data))})
	}
	slices.SortFunc(m.Files, func(x, y publish.File) int { return strings.Compare(x.Path, y.Path) })
	data, err := json.Marshal(m)
	if err != nil {
		b.Fatal(err)
	}
	write("manifest.json", data)
	id := content.Digest(data)[:20]
	if err := errors.Join(os.Rename(filepath.Join(root, "new"), filepath.Join(root, id)), os.WriteFile(filepath.Join(root, "current"), []byte(id+"\n"), 0o600)); err != nil {
		b.Fatal(err)
	}
}
