package cliagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/runner/cliagent/process"
	"github.com/firstpick/firstpick/runner/cliagent/sandbox"
	"github.com/firstpick/firstpick/runner/eval"
)

// versionLimit is the timeout of a program's --version: some take seconds.
const versionLimit = 30 * time.Second

// A Binary is an inspected program.
type Binary struct {
	Path   string // the file itself, links resolved
	SHA256 string // of its bytes
	// Version is its --version; empty for a command, which is not queried.
	Version string
	// Caches is a folder with the files that the program creates in an empty home when it
	// starts; see setup.caches. Empty if there are no such files.
	Caches string
}

// Binaries caches inspected programs by path, time and size, because inspection takes a
// second. It is safe for concurrent use.
type Binaries struct {
	mu   sync.Mutex
	seen map[binaryKey]Binary
}

type binaryKey struct {
	path string
	at   time.Time
	size int64
	kind string
}

// find finds and inspects the program. The error says how to install it.
func (p *program) find(ctx context.Context) (Binary, error) {
	found, err := p.deps.LookPath(p.setup.binary)
	if err != nil {
		return Binary{}, fmt.Errorf("%s not found: %s; or set its path with --binary %[1]s=PATH", p.setup.binary, p.install)
	}
	path, err := filepath.Abs(found)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return Binary{}, fmt.Errorf("%s: %w", found, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return Binary{}, err
	}
	if known := p.deps.Binaries; known != nil {
		known.mu.Lock()
		defer known.mu.Unlock()
		key := binaryKey{path, info.ModTime(), info.Size(), p.Kind}
		if b, ok := known.seen[key]; ok {
			return b, nil
		}
		b, err := p.inspect(ctx, path)
		if err == nil {
			if known.seen == nil {
				known.seen = map[binaryKey]Binary{}
			}
			known.seen[key] = b
		}
		return b, err
	}
	return p.inspect(ctx, path)
}

func (p *program) inspect(ctx context.Context, path string) (b Binary, err error) {
	b.Path = path
	if b.SHA256, err = digest(path); err != nil {
		return b, fmt.Errorf("read %s: %w", path, err)
	}
	if p.Kind != eval.KindCommand {
		err = p.ask(ctx, &b)
	}
	return b, err
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

var versionPattern = lazyregexp.MustCompile(`\d+\.\d+(?:\.\d+)?[0-9A-Za-z.+-]*`)

// ask runs the program with --version: in the sandbox, in an empty home, without keys
// and without a network.
func (p *program) ask(ctx context.Context, b *Binary) (err error) {
	if err := os.MkdirAll(p.deps.Root, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(p.deps.Root, "version-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, RemoveAll(dir)) }()
	home, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	for _, d := range []string{home, tmp} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	if err := p.deps.Sandbox.Own(dir); err != nil {
		return err
	}
	search, _ := p.deps.LookupEnv("PATH")
	env := []string{"PATH=" + search, "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "CI=1"}
	exit, err := process.Run(ctx, p.deps.Clock, process.Spec{
		Argv: p.deps.Sandbox.Wrap([]string{b.Path, "--version"}, sandbox.Options{
			Workdir: home, Home: home, Tmp: tmp, Hide: p.deps.Hide, Env: env, ReadOnly: p.shown(b.Path), Limit: versionLimit + time.Minute,
		}),
		Dir: home, Supervisor: p.deps.Supervisor, Wall: versionLimit, MaxRaw: 64 << 10, Env: env, Limits: p.limits(dir),
	})
	if err != nil {
		return fmt.Errorf("%s does not start: %w; reinstall it: %s", b.Path, err, p.install)
	}
	b.Version = strings.TrimRight(versionPattern.FindString(string(exit.Raw)), ".")
	if b.Version == "" || exit.Code != 0 {
		output := strings.TrimSpace(string(exit.Raw) + " " + string(exit.Stderr))
		return fmt.Errorf("%s --version printed no version (%s, status %d): %.300q; reinstall it: %s", b.Path, exit.Why, exit.Code, output, p.install)
	}
	return p.keepCaches(home, b)
}

// keepCaches moves a program's caches out of a home in which no agent ever was.
func (p *program) keepCaches(home string, b *Binary) error {
	dir := filepath.Join(p.deps.Root, "caches-"+b.SHA256[:16])
	for _, name := range p.caches {
		from, to := filepath.Join(home, name), filepath.Join(dir, name)
		if _, err := os.Stat(from); err != nil {
			continue // this version creates none
		}
		b.Caches = dir
		if _, err := os.Stat(to); err == nil {
			continue // another agent's look at the same program kept it
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAll removes a folder, also where a program took the right to do so from
// it: package managers write-protect their caches.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) //nolint:gosec // a folder, to be emptied
		}
		return nil
	})
	return os.RemoveAll(dir)
}
