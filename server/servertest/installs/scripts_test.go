package installs_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// run runs a script of a project to its end and returns what it printed.
func (p *project) run(t *testing.T, g *gate, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), p.command[0], script)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "FIRSTPICK_KEY="+g.Key, "FIRSTPICK_URL="+g.URL+"/")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestToolCallsOfAnMCPServer(t *testing.T) {
	p, g := node("mcp", "")(t, "http://127.0.0.1:1"), newGate(t)
	if out := p.run(t, g, "mcp.mjs"); out != "found one found two" {
		t.Errorf("the tools answered %s", out)
	}
	got := g.records(t)
	for _, r := range got {
		if r.Agent != "Claude Code" || r.MCPTool != "search" || r.MCPMethod != "tools/call" || r.MCPVersion != "2.1.0" || r.Source != "mcp" {
			t.Errorf("%+v", r)
		}
	}
	if len(got) != 2 {
		t.Errorf("%d touches", len(got))
	}
	g.complained(t)
}

func TestConversionsOfAServer(t *testing.T) {
	p, g := node("conversions", "")(t, "http://127.0.0.1:1"), newGate(t, losing)
	if out := p.run(t, g, "conversions.mjs"); !strings.Contains(out, "did not take the convert: 400") || !strings.Contains(out, "unknown_currency") {
		t.Errorf("a refused conversion is told as %q", out)
	}
	var got []string
	for _, r := range g.records(t) {
		got = append(got, fmt.Sprint(r.Type, " ", r.Visitor != "", " ", r.Identity, " ", r.Kind, " ", r.Value, r.Currency, " ", r.OrderID, r.RefundOf))
	}
	want := []string{"identify true ref:user_42  0 ", "convert false ref:user_42 paid 4900USD in_1", "convert false ref:user_42 refund -900USD re_1in_1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if seen := g.seen(); len(seen) != 6 || !slices.Equal(seen[0].ids, seen[1].ids) {
		t.Errorf("the identify whose answer was lost did not come again: %v", seen)
	}
}

// A worker that was forked after the application was loaded reports for itself,
// and what its parent had waiting is sent once.
func TestForkedWorkers(t *testing.T) {
	p, g := newProject(t, "python", "http://127.0.0.1:1", "python"), newGate(t)
	p.command = []string{program(t, "python3")}
	p.run(t, g, "fork.py")
	var paths []string
	for _, r := range g.records(t) {
		paths = append(paths, r.Path)
	}
	slices.Sort(paths)
	if want := []string{"/before", "/child", "/parent"}; !slices.Equal(paths, want) {
		t.Errorf("%v, want %v", paths, want)
	}
	ids := map[string]bool{}
	for _, d := range g.seen() {
		for _, id := range d.ids {
			if ids[id] {
				t.Errorf("%s was sent twice", id)
			}
			ids[id] = true
		}
	}
}

func TestQueuesAreBounded(t *testing.T) {
	for name, script := range map[string]string{"js": "overflow.mjs", "python": "overflow.py"} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, holding)
			var p *project
			if name == "js" {
				p = node("express", "")(t, "http://127.0.0.1:1")
			} else {
				p = newProject(t, "python", "http://127.0.0.1:1", "python")
				p.command = []string{program(t, "python3")}
			}
			var stats struct{ Sent, Rejected, Failed, Dropped int }
			if err := json.Unmarshal([]byte(p.run(t, g, script)), &stats); err != nil {
				t.Fatal(err)
			}
			got := g.records(t)
			if len(got) != stats.Sent || stats.Sent+stats.Dropped != 6100 || stats.Sent > 5100 || stats.Rejected+stats.Failed > 0 {
				t.Fatalf("%+v, %d stored", stats, len(got))
			}
			if last := got[len(got)-1].Path; last != "/6099" {
				t.Errorf("the newest event is %s", last)
			}
			for _, d := range g.seen() {
				if len(d.ids) > 100 {
					t.Errorf("a delivery has %d events", len(d.ids))
				}
			}
		})
	}
}
