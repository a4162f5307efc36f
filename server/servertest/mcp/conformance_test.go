package mcp_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// scored is how many scenarios each revision's list of requirements has: a suite that
// ran fewer has not judged.
func scored() map[string]int { return map[string]int{"2026-07-28": 37, "2025-11-25": 30} }

// others is how many more it runs without scoring them.
func others() map[string]int { return map[string]int{"2026-07-28": 13, "2025-11-25": 3} }

// A verdict is what the suite found.
type verdict struct {
	output    string
	code      int
	scenarios int
	failed    []string // scenario:check, sorted
}

var stamped = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\dT:.-]+Z$`)

// judge runs the suite for a revision.
func (n node) judge(t *testing.T, url, revision string, args ...string) verdict {
	t.Helper()
	dir := t.TempDir()
	v := verdict{}
	v.output, v.code = n.run(t, "@modelcontextprotocol/conformance/dist/index.js",
		append([]string{"server", "--url", url, "--requirements", revision, "-o", dir}, args...)...)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		scenario := stamped.FindStringSubmatch(e.Name())
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "checks.json"))
		var checks []struct{ ID, Status string }
		if scenario == nil || err != nil || json.Unmarshal(data, &checks) != nil {
			t.Fatalf("%s: cannot be read: %v", e.Name(), err)
		}
		v.scenarios++
		for _, c := range checks {
			if c.Status == "FAILURE" || c.Status == "WARNING" {
				v.failed = append(v.failed, scenario[1]+":"+c.ID)
			}
		}
	}
	slices.Sort(v.failed)
	v.failed = slices.Compact(v.failed)
	return v
}

var baselineEntry = regexp.MustCompile(`^  - (\S+:\S+) +# \S+ \S+ .+`)

// readBaseline reads which checks our server is known to fail. Each stands in a line of
// its own that ends with the reason.
func readBaseline(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	entries := map[string]bool{}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if strings.HasPrefix(line, "#") || line == "server:" {
			continue
		}
		m := baselineEntry.FindStringSubmatch(line)
		if m == nil || entries[m[1]] {
			t.Fatalf("%s:%d: want a check, once, and in a comment why it fails: %s", file, i+1, line)
		}
		entries[m[1]] = true
	}
	return slices.Sorted(maps.Keys(entries))
}

// TestConformance has the suite judge the real server in both revisions. What fails is
// in the baseline, each check with its reason; what is not there and fails, or is there
// and passes, fails the test, whether it is scored or not.
func TestConformance(t *testing.T) {
	n := newNode(t)
	url := newServer(t)
	for revision, count := range scored() {
		t.Run(revision, func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join(root, "server", "public", "mcp", "conformance", revision+".yml"))
			if err != nil {
				t.Fatal(err)
			}
			want := readBaseline(t, file)
			v := n.judge(t, url, revision, "--expected-failures", file)
			if v.code != 0 || v.scenarios != count+others()[revision] {
				t.Errorf("exit code %d, %d scenarios of %d\n%s", v.code, v.scenarios, count+others()[revision], v.output)
			}
			for _, check := range v.failed {
				if !slices.Contains(want, check) {
					t.Errorf("%s fails and is not in the baseline", check)
				}
			}
			for _, check := range want {
				if !slices.Contains(v.failed, check) {
					t.Errorf("%s is in the baseline and passes", check)
				}
			}
			if slices.ContainsFunc(v.failed, func(c string) bool { return strings.HasPrefix(c, "dns-rebinding-protection:") }) {
				t.Error("pages of other origins reach the server")
			}
		})
	}
}

// TestBaselineIsExact shows that the suite notices a check too few and one too many.
func TestBaselineIsExact(t *testing.T) {
	n := newNode(t)
	url := newServer(t)
	const revision = "2025-11-25"
	data, err := os.ReadFile(filepath.Join(root, "server", "public", "mcp", "conformance", revision+".yml"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"one too few":  regexp.MustCompile(`(?m)^.*tools-call-image:.*\n`).ReplaceAllString(string(data), ""),
		"one too many": string(data) + "  - ping:ping\n",
	} {
		file := filepath.Join(t.TempDir(), "baseline.yml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if v := n.judge(t, url, revision, "--expected-failures", file); text == string(data) || v.code == 0 {
			t.Errorf("%s: the suite is content", name)
		}
	}
}

var summary = regexp.MustCompile(`(?m)^([✓✗]) \S+: \d+ passed, \d+ failed$`)

// TestConformanceOfTheGate puts the server that the SDK's authors made for the suite, with
// all that the protocol knows, behind our gate and our long way. All that is scored
// passes, without a baseline: what a product has no use for fails above for no other
// reason than that it is not there. What is not scored fails only where that server fails
// without us.
func TestConformanceOfTheGate(t *testing.T) {
	n := newNode(t)
	program := buildEverything(t)
	for revision, count := range scored() {
		t.Run(revision, func(t *testing.T) {
			// Asking back in the midst of a call needs a session in the older protocol; the newer one has none.
			behind := startEverything(t, program, revision == "2026-07-28")
			alone, v := n.judge(t, behind.String(), revision), n.judge(t, inFrontOf(t, behind), revision)
			passed := 0
			for _, m := range summary.FindAllStringSubmatch(v.output, -1) {
				if m[1] == "✓" {
					passed++
				}
			}
			if v.code != 0 || passed < count || v.scenarios != count+others()[revision] {
				t.Errorf("exit code %d, %d of %d scenarios passed\n%s", v.code, passed, count, v.output)
			}
			for _, check := range v.failed {
				if !slices.Contains(alone.failed, check) {
					t.Errorf("%s fails because of us", check)
				}
			}
		})
	}
}
