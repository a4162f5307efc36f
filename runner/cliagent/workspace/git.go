package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// commit makes dir a git repository with everything in one commit. Nothing of the
// user's configuration is seen, and the same files make the same commit anywhere.
// The repository names an author, so that an agent can commit as well. Git runs outside
// the sandbox: no template brings hooks or a configuration.
func commit(ctx context.Context, git, dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return errors.New("the template has .git: remove it")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	const date = "2025-01-01T00:00:00Z"
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date,
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "--template="},
		{"config", "user.name", "Developer"},
		{"config", "user.email", "developer@example.com"},
		{"add", "--all"},
		{"commit", "--quiet", "--allow-empty", "--message=Start"},
	} {
		cmd := exec.CommandContext(ctx, git, append([]string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"}, args...)...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	return nil
}
