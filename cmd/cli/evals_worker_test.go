package cli

import (
	"os"
	"path/filepath"
	"slices"
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
