package field

import (
	"bufio"
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

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// gitTimeout limits one git program.
const gitTimeout = 10 * time.Minute

// A repository is a history that may be hostile. Git reads its objects from a directory of
// our own: the configuration, hooks and attributes of the repository are never in effect, so
// nothing that it names is run, and nothing is fetched.
type repository struct {
	git, path, dir string // program; as the user names it; our own git directory
	objects        string // of the repository
	head           string
	remotes        []string      // owner/name in small letters, as its configuration has them
	stall          time.Duration // the longest time without output
}

// open finds the history of HEAD. r has git, path, dir and stall; dir must exist until the
// repository is not needed.
func (r *repository) open(ctx context.Context) error {
	if info, err := os.Stat(r.path); err != nil || !info.IsDir() {
		return errors.New("no such folder")
	}
	// rev-parse and config run nothing of the configuration.
	out, err := r.run(ctx, "-C", r.path, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-object-format", "--verify", "HEAD^{commit}")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) != 3 {
		return errors.New("not a git repository with a commit")
	}
	common, format, head := lines[0], lines[1], lines[2]
	info, err := os.Lstat(filepath.Join(common, "shallow"))
	switch {
	case err == nil && info.Size() > 0:
		return fmt.Errorf("shallow clone: fetch the rest of its history with git -C %s fetch --unshallow", r.path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return err
	}
	urls, _ := r.run(ctx, "-C", r.path, "config", "--get-regexp", `^remote\..*\.url$`) // fails without remotes
	for _, m := range remoteName.FindAllStringSubmatch(urls, -1) {
		r.remotes = append(r.remotes, strings.ToLower(m[1]))
	}
	r.objects, r.head = filepath.Join(common, "objects"), head
	return r.init(format)
}

// refetch returns the command that completes a partial clone.
func (r *repository) refetch() string {
	return "fetch the rest with git -C " + r.path + " fetch --refetch --no-filter"
}

var remoteName = lazyregexp.MustCompile(`(?m)[/:]([\w.-]+/[\w.-]+?)(?:\.git)?/?$`)

// init makes our own git directory.
func (r *repository) init(format string) error {
	config := "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = " + format + "\n"
	if format != "sha1" && format != "sha256" {
		return fmt.Errorf("unknown object format %q", format)
	}
	return errors.Join(os.MkdirAll(filepath.Join(r.dir, "refs"), 0o700), os.MkdirAll(filepath.Join(r.dir, "objects"), 0o700),
		os.WriteFile(filepath.Join(r.dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600), os.WriteFile(filepath.Join(r.dir, "config"), []byte(config), 0o600))
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

// run returns what a git program prints, of which it keeps 1 MiB.
func (r *repository) run(ctx context.Context, args ...string) (string, error) {
	out := &limited{left: 1 << 20}
	err := r.stream(ctx, nil, args, func(stdout *bufio.Reader) error {
		_, err := io.Copy(out, stdout)
		return err
	})
	return out.String(), err
}

// stream calls read with the output of a git program.
func (r *repository) stream(ctx context.Context, in io.Reader, args []string, read func(*bufio.Reader) error) error {
	limitedCtx, cancel := context.WithTimeoutCause(ctx, gitTimeout, fmt.Errorf("git took longer than %s", gitTimeout))
	defer cancel()
	limitedCtx, stop := context.WithCancelCause(limitedCtx)
	defer stop(nil)
	fixed := []string{"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "safe.directory=*", "-c", "log.showSignature=false", "-c", "protocol.allow=never"}
	cmd := exec.CommandContext(limitedCtx, r.git, append(fixed, args...)...) //nolint:gosec // our own arguments; paths follow -C
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
	stalled := fmt.Errorf("git printed nothing for %s: a file of the repository may be a pipe, or the disk is too slow", r.stall)
	output := &watched{pipe, time.AfterFunc(r.stall, func() { stop(stalled) }), r.stall}
	readErr := read(bufio.NewReader(output))
	output.timer.Stop()
	ended := errors.Is(readErr, io.EOF) || errors.Is(readErr, io.ErrUnexpectedEOF)
	if readErr != nil && !ended {
		stop(readErr)
	}
	waitErr := cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limitedCtx.Err() != nil:
		return context.Cause(limitedCtx)
	case waitErr != nil:
		err := fmt.Errorf("git: %w: %s", waitErr, strings.TrimSpace(report.String()))
		if readErr != nil {
			err = fmt.Errorf("%w: %w", readErr, err)
		}
		return err
	}
	return readErr
}

// A watched reader runs a timer while it waits for input.
type watched struct {
	io.Reader
	timer *time.Timer
	stall time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	w.timer.Reset(w.stall)
	defer w.timer.Stop()
	return w.Reader.Read(p)
}

// readField returns what precedes the next NUL: of more than most bytes only the first ones.
// It returns io.EOF at the end of the input.
func readField(in *bufio.Reader, most int) (field string, whole bool, err error) {
	var out []byte
	n := 0
	for {
		part, err := in.ReadSlice(0)
		n += len(part)
		out = append(out, part[:min(len(part), most-len(out))]...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && n > 0:
			return "", false, io.ErrUnexpectedEOF
		case err != nil:
			return "", false, err
		default:
			return string(bytes.TrimSuffix(out, []byte{0})), n-1 <= most, nil
		}
	}
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
