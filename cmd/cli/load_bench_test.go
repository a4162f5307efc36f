package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/cmd/porttest"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/content"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// BenchmarkLoadSnapshot starts the program as a server of a snapshot of 100 boards of 50 tools,
// 30 agents and 20 prompts. It measures the time from the start until the server is ready: it
// reads and verifies the files, and builds the site. MB is the most memory that the process has
// had resident until then, MB-empty that of a server without a snapshot.
func BenchmarkLoadSnapshot(b *testing.B) {
	program := filepath.Join(b.TempDir(), "firstpick")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-trimpath", "-o", program, "../firstpick").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	root := b.TempDir()
	_, empty := startServer(b, program, root, "/healthz")
	writeSnapshot(b, root, sitetest.Large(b, 100, 50, 30, 20))
	var ms, mb []float64
	for b.Loop() {
		took, peak := startServer(b, program, root, "/readyz")
		ms, mb = append(ms, took), append(mb, peak)
	}
	b.ReportMetric(slices.Min(ms), "ms")
	b.ReportMetric(slices.Max(mb), "MB")
	b.ReportMetric(empty, "MB-empty")
}

// startServer starts a server of a folder of snapshots. It returns the milliseconds until the
// server answers the path with 200, and its peak memory in MB until then. The server is stopped.
func startServer(b *testing.B, program, snapshots, path string) (ms, mb float64) {
	b.Helper()
	address, err := porttest.Free()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.CommandContext(b.Context(), program, "server", "--data", b.TempDir(), "--snapshots", snapshots, "--listen", address)
	cmd.Env = append(os.Environ(), "FIRSTPICK_LIMITS=off")
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	for answers := false; !answers; answers = get(b, "http://"+address+path) {
		if time.Since(start) > time.Minute {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			b.Fatalf("%s is not answered within a minute:\n%s", path, said.String())
		}
		time.Sleep(2 * time.Millisecond)
	}
	ms = float64(time.Since(start).Milliseconds())
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		b.Skip("memory is read from /proc, which this system lacks: ", err)
	}
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	if _, err := fmt.Sscanf(rest, "%f kB", &mb); err != nil {
		b.Fatal(err)
	}
	return ms, mb / 1024
}

func get(b *testing.B, url string) bool {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false // it does not listen yet
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
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
