package cli

import (
	"bytes"
	"runtime/debug"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	const commit, at = "abcdef1234567890abcdef1234567890abcdef12", "2026-11-23T10:00:00Z"
	vcs := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}, {Key: "vcs.time", Value: at}}
	for name, c := range map[string]struct {
		build  Build
		text   string
		served string
	}{
		"a release":                      {Build{"1.2.3", commit, at}, "1.2.3 (commit abcdef1, 2026-11-23)", "1.2.3"},
		"a release without a checkout":   {Build{Version: "1.2.3"}, "1.2.3", "1.2.3"},
		"nothing is known":               {Build{}, "dev", "0.0.0-dev"},
		"a short commit":                 {Build{Commit: "abc"}, "dev (commit abc)", "0.0.0-dev"},
		"go test":                        {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}), "dev", "0.0.0-dev"},
		"go build without a checkout":    {BuildOf(&debug.BuildInfo{}), "dev", "0.0.0-dev"},
		"go build in a checkout":         {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: vcs}), "dev (commit abcdef1, 2026-11-23)", "0.0.0-dev"},
		"go build with changes":          {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3+dirty"}, Settings: vcs}), "dev (commit abcdef1, 2026-11-23)", "0.0.0-dev"},
		"go install of a branch":         {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123100000-abcdef123456"}}), "dev (commit abcdef1, 2026-11-23)", "0.0.0-dev"},
		"go install of a release":        {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}), "1.2.3", "1.2.3"},
		"go build of a tagged checkout":  {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: vcs}), "1.2.3 (commit abcdef1, 2026-11-23)", "1.2.3"},
		"go install of a prerelease":     {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "v1.2.3-rc.1"}}), "1.2.3-rc.1", "1.2.3-rc.1"},
		"a version that is not semantic": {BuildOf(&debug.BuildInfo{Main: debug.Module{Version: "main"}}), "dev", "0.0.0-dev"},
	} {
		if got := c.build.String(); got != c.text {
			t.Errorf("%s: %q, want %q", name, got, c.text)
		}
		if got := c.build.Served(); got != c.served {
			t.Errorf("%s: served as %q, want %q", name, got, c.served)
		}
	}
}

func TestVersionOfTheProgram(t *testing.T) {
	for _, c := range []struct{ args, first string }{
		{"--version", "firstpick 1.2.3 (commit abcdef1, 2026-11-23)"},
		{"-v", "firstpick 1.2.3 (commit abcdef1, 2026-11-23)"},
		{"version", "firstpick 1.2.3 (commit abcdef1, 2026-11-23)"},
	} {
		var out bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stdout, env.Build = []string{c.args}, &out, Build{"1.2.3", "abcdef1234", "2026-11-23T10:00:00Z"}
		if err := newRootCmd(env).ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		if first, _, _ := strings.Cut(out.String(), "\n"); first != c.first {
			t.Errorf("%s: %q, want %q", c.args, first, c.first)
		}
	}
}
