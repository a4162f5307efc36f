package cli

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestProgramsOfWorkspacesAreShownNoSecrets lists what is hidden from them beside the
// data folder.
func TestProgramsOfWorkspacesAreShownNoSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(file, []byte("state: sqlite:///srv/own.db\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	addConfigFlags(flags)
	if err := flags.Set("config", file); err != nil {
		t.Fatal(err)
	}
	cfg, err := loadConfig(&Env{Getenv: func(string) string { return "" }}, flags)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{file, "/srv/own.db", "/srv/own.db-wal", "/srv/own.db-shm"}
	if got := (&app{cfg: cfg}).secretFiles(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (&app{cfg: Config{State: "postgres://db/firstpick"}}).secretFiles(); got != nil {
		t.Errorf("%q of a worker without files", got)
	}
}

// TestProgramsOfWorkspacesNeedASandbox sees that a worker starts no program of others
// without one, nor as root in one.
func TestProgramsOfWorkspacesNeedASandbox(t *testing.T) {
	for name, c := range map[string]struct {
		tools   []string
		root    bool // only root is refused
		sandbox string
		want    string
	}{
		"no bubblewrap":        {nil, false, "auto", "programs of workspaces need a sandbox and must not run as root: no sandbox: bubblewrap is not installed"},
		"root without setpriv": {[]string{"bwrap"}, true, "auto", "install setpriv (util-linux); sandbox: off runs them without one"},
		"required":             {nil, false, "required", "sandbox: required, but no sandbox"},
		"switched off":         {nil, false, "off", ""},
	} {
		t.Run(name, func(t *testing.T) {
			bin := t.TempDir()
			for _, tool := range c.tools {
				path, err := exec.LookPath(tool)
				if err != nil {
					if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), tool) {
						t.Fatalf("FIRSTPICK_REQUIRE names %s: %v", tool, err)
					}
					t.Skip(err)
				}
				if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
					t.Fatal(err)
				}
			}
			if c.root && os.Geteuid() != 0 {
				c.want = ""
			}
			t.Setenv("PATH", bin)
			flags := pflag.NewFlagSet("", pflag.ContinueOnError)
			addConfigFlags(flags)
			addAgentFlags(flags)
			for flag, value := range map[string]string{"data": t.TempDir(), "sandbox": c.sandbox} {
				if err := flags.Set(flag, value); err != nil {
					t.Fatal(err)
				}
			}
			env := OS()
			cfg, err := loadConfig(env, flags)
			if err != nil {
				t.Fatal(err)
			}
			w, err := (&app{env: env, cfg: cfg, log: slog.New(slog.DiscardHandler)}).evalWorker(nil, "w")
			if err != nil {
				t.Fatal(err)
			}
			_, leave, err := w.Programs(t.Context(), "run", func(string) (string, bool) { return "", false })
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if leave != nil {
				_ = leave()
			}
		})
	}
}
