package cli

import (
	"strings"
	"testing"
	"time"
)

// TestOldNames: every flag, command and key under its old name works as under the new one,
// is reported, and is not in the help.
func TestOldNames(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		args []string
		env  map[string]string
		want string
	}{
		{args: []string{"evals", "list", "--remote", "foo"}, want: "--remote is deprecated, use --server"},
		{args: []string{"agent", "status", "--url", "foo"}, want: "--url is deprecated, use --server"},
		{args: []string{"setup", "print", "express", "--url", "foo"}, want: "--url is deprecated, use --server"},
		{args: []string{"traffic", "ship", "x.log", "--url", "foo"}, want: "--url is deprecated, use --server"},
		{args: []string{"rank", "--base-url", "https://a.example"}, want: "--base-url is deprecated, use --server"},
		{args: []string{"evals", "run", "x", "--budget", "5"}, want: "--budget is deprecated, use --max-cost"},
		{args: []string{"snapshot", "list", "--from", dir}, want: "--from is deprecated, use --snapshots"},
		{args: []string{"log", "--from", dir}, want: "--from is deprecated, use --snapshots"},
		{args: []string{"history", "payments", "--from", dir}, want: "--from is deprecated, use --snapshots"},
		{args: []string{"diff", "a", "b", "--from", dir}, want: "--from is deprecated, use --snapshots"},
		{args: []string{"gate", "--from", dir}, want: "--from is deprecated, use --snapshots"},
		{args: []string{"publish", "--to", dir}, want: "--to is deprecated, use --snapshots"},
		{args: []string{"run", "x.yaml", "--to", dir}, want: "--to is deprecated, use --snapshots"},
		{args: []string{"admin", "key", "list", "w"}, want: "firstpick admin key is deprecated, use firstpick admin eval-key"},
		{args: []string{"admin", "keys", "list"}, want: "firstpick admin keys is deprecated, use firstpick admin signing-key"},
		{args: []string{"evals", "list"}, env: map[string]string{"FIRSTPICK_REMOTE": "foo"}, want: "configuration key remote (FIRSTPICK_REMOTE) is deprecated, use server (FIRSTPICK_SERVER)"},
	} {
		var stdout, stderr strings.Builder
		env := &Env{Args: append(tt.args, "--data", dir), Getenv: func(name string) string { return tt.env[name] }, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Now: time.Now}
		root := newRootCmd(env)
		_ = root.ExecuteContext(t.Context()) // most have nothing to work on
		if n := strings.Count(stderr.String(), "warning: "+tt.want+"\n"); n != 1 || strings.Contains(stdout.String(), "deprecated") {
			t.Errorf("%v: %d warnings in\n%s\nstdout:\n%s", tt.args, n, &stderr, &stdout)
		}
		c, _, _ := root.Find(tt.args)
		if old, _, ok := strings.Cut(strings.TrimPrefix(tt.want, "--"), " is"); ok && strings.Contains(c.UsageString(), "--"+old+" ") {
			t.Errorf("%v: %s is in the help", tt.args, old)
		}
	}
	for old, now := range map[string]string{"remote": "server", "budget": "max-cost"} {
		c, _, err := newRootCmd(referenceEnv()).Find([]string{"evals", "run"})
		if err == nil {
			err = c.ParseFlags([]string{"--" + old, "5"})
		}
		if f := c.Flag(now); err != nil || !f.Changed || f.Value.String() != "5" {
			t.Errorf("--%s does not set --%s: %v, %v", old, now, f.Value, err)
		}
	}
}
