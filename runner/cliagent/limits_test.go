package cliagent

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/agent"
	"github.com/firstpick/firstpick/runner/eval"
)

// TestATrialIsEndedAtItsLimits sees that a program that uses more than the eval lets it
// is ended, is not asked again, and says of what it was too much.
func TestATrialIsEndedAtItsLimits(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		cli    eval.CLI
		want   string
	}{
		"memory":    {`x=$(head -c 200000000 /dev/zero | tr '\0' x); sleep 60`, eval.CLI{MemoryMB: 50}, "the limit is 50 MB (memory_mb)"},
		"disk":      {"i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/zero > f$i; i=$((i+1)); done; sleep 60", eval.CLI{DiskMB: 20}, "the limit is 20 MB (disk_mb)"},
		"home":      {"head -c 30000000 /dev/zero > $HOME/f; sleep 60", eval.CLI{DiskMB: 20}, "the limit is 20 MB (disk_mb)"},
		"processes": {"i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); done; wait", eval.CLI{MaxProcesses: 20}, "the limit is 20 (max_processes)"},
	} {
		t.Run(name, func(t *testing.T) {
			d := deps(t)
			a := eval.Agent{Name: "sh", Kind: eval.KindCommand, CLI: &c.cli}
			a.CLI.Command, a.CLI.WallS, a.CLI.StallS = []string{"sh", "-c", c.script, "{prompt}"}, 60, 60
			_, _, err := ask(t.Context(), t, a, d)
			var infra *agent.InfraError
			if !errors.As(err, &infra) || infra.Reason != agent.ReasonOverLimit || infra.Retry || infra.Lane || !strings.HasSuffix(infra.Err.Error(), c.want) {
				t.Errorf("%+v, want over_limit: ... %s", err, c.want)
			}
			empty(t, d)
		})
	}
}

// TestLimitsOfATrialAreConditions names them in the manifest.
func TestLimitsOfATrialAreConditions(t *testing.T) {
	p, err := New(eval.Agent{Name: "sh", Kind: eval.KindCommand, CLI: &eval.CLI{Command: []string{"sh", "{prompt}"}, DiskMB: 5}}, deps(t))
	if err != nil {
		t.Fatal(err)
	}
	got := p.Profile().Manifest.Parameters
	for name, want := range map[string]string{"memory_mb": "4096", "disk_mb": "5", "max_processes": "1024"} {
		if got[name] != want {
			t.Errorf("%s %q, want %s", name, got[name], want)
		}
	}
}
