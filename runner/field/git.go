package field

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits of the reading of one repository.
const (
	maxOutput  = 1 << 30 // bytes of one git program
	gitTimeout = 10 * time.Minute
	maxRefs    = 1 << 20 // bytes of the file of a shallow clone
)

// A repository is a history that may be hostile. Git reads its objects from a directory of
// our own: the configuration, hooks and attributes of the repository are never in effect, so
// nothing that it names is run, and nothing is fetched.
type repository struct {
	git, dir string // program; our own git directory
	objects  string // of the repository
	head     string
	shallow  []string // commits whose parents are missing
}

// open finds the history of HEAD. dir must exist until the repository is not needed.
func open(ctx context.Context, git, path, dir string) (*repository, error) {
	r := &repository{git: git, dir: dir}
	// rev-parse runs nothing of the configuration.
	out, err := r.run(ctx, nil, []string{"-C", path, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--verify", "HEAD^{commit}"})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return nil, fmt.Errorf("%s: not a git repository with a commit", path)
	}
	r.objects, r.head = filepath.Join(lines[0], "objects"), lines[2]
	if err := r.init(lines[0], lines[1]); err != nil {
		return nil, err
	}
	return r, nil
}

// init makes our own git directory.
func (r *repository) init(common, format string) error {
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = " + format + "\n"
	if format != "sha1" && format != "sha256" {
		return fmt.Errorf("unknown object format %q", format)
	}
	err := errors.Join(os.MkdirAll(filepath.Join(r.dir, "refs"), 0o700), os.MkdirAll(filepath.Join(r.dir, "objects"), 0o700),
		os.WriteFile(filepath.Join(r.dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600), os.WriteFile(filepath.Join(r.dir, "config"), []byte(config), 0o600))
	if err != nil {
		return err
	}
	shallow, err := os.ReadFile(filepath.Join(common, "shallow"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && len(shallow) > maxRefs {
		err = fmt.Errorf("%d bytes; at most %d", len(shallow), maxRefs)
	}
	if err != nil {
		return fmt.Errorf("read the list of missing parents: %w", err)
	}
	r.shallow = strings.Fields(string(shallow))
	return os.WriteFile(filepath.Join(r.dir, "shallow"), shallow, 0o600)
}

// environment is all that git sees.
func (r *repository) environment() []string {
	env := []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + r.dir, "LC_ALL=C", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat",
	}
	if r.objects != "" {
		env = append(env, "GIT_DIR="+r.dir, "GIT_OBJECT_DIRECTORY="+r.objects)
	}
	return env
}

// run returns what a git program prints.
func (r *repository) run(ctx context.Context, in io.Reader, args []string) ([]byte, error) {
	var out bytes.Buffer
	err := r.stream(ctx, in, args, func(stdout io.Reader) error {
		_, err := io.Copy(&out, stdout)
		return err
	})
	return out.Bytes(), err
}

// stream calls read with the output of a git program, of which it reads maxOutput bytes.
func (r *repository) stream(ctx context.Context, in io.Reader, args []string, read func(io.Reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	fixed := []string{"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "log.showSignature=false", "-c", "protocol.allow=never"}
	cmd := exec.CommandContext(ctx, r.git, append(fixed, args...)...) //nolint:gosec // our own arguments; paths follow -C
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.WaitDelay = r.environment(), r.dir, in, 5*time.Second
	report := &limited{left: 2000}
	cmd.Stderr = report
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	bounded := &io.LimitedReader{R: pipe, N: maxOutput}
	readErr := read(bounded)
	if readErr == nil && bounded.N == 0 {
		readErr = fmt.Errorf("git printed more than %d bytes", maxOutput)
	}
	if readErr != nil {
		cancel()
	}
	waitErr := cmd.Wait()
	switch {
	case readErr != nil:
		return readErr
	case ctx.Err() != nil:
		return fmt.Errorf("git took longer than %s, or was interrupted: %w", gitTimeout, ctx.Err())
	case waitErr != nil:
		return fmt.Errorf("git: %w: %s", waitErr, strings.TrimSpace(report.String()))
	}
	return nil
}

// limited keeps the first bytes that are written to it.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, _ = l.Buffer.Write(p[:n])
	return len(p), nil
}
