package project

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of reading a commit, besides those of its files.
const (
	gitTimeout = 2 * time.Minute // of one git program
	maxFetch   = 3 * MaxBytes    // of the fetched objects, in bytes
	maxListing = 1 << 20         // of the list of files, in bytes
	maxReport  = 64 << 10        // of what git prints besides, in bytes
)

// readCommit fetches one commit into a repository of our own and reads its files from the
// objects. There is no work tree: no hook, filter or attribute of the repository is in effect,
// and submodules are refused.
func readCommit(ctx context.Context, git, tmp, from, ref string) (files []file, err error) {
	if git == "" {
		return nil, errors.New("git is not installed")
	}
	if tmp, err = filepath.Abs(tmp); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(tmp, "git-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := repository{git: git, dir: dir, protocol: "https"}
	if !isHTTPS(from) {
		r.protocol = "file"
		if from, err = resolve(from); err != nil {
			return nil, err
		}
	}
	format := "sha1"
	if len(ref) == 64 {
		format = "sha256"
	}
	if _, err := r.run(ctx, nil, maxReport, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "."); err != nil {
		return nil, err
	}
	if err := r.fetch(ctx, from, ref); err != nil {
		return nil, fmt.Errorf("commit %s: %w", ref, err)
	}
	list, err := r.run(ctx, nil, maxListing, "ls-tree", "-r", "-l", "-z", "--full-tree", ref)
	if err != nil {
		return nil, err
	}
	var left budget
	var ids strings.Builder
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		head, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head) // mode, type, id, size
		if !ok || len(fields) != 4 {
			continue
		}
		switch fields[0] {
		case "100644", "100755", "100664":
		case "160000":
			return nil, fmt.Errorf("%s is a submodule; a template has none", name)
		default:
			return nil, fmt.Errorf("%s is a link; a template has ordinary files only", name)
		}
		size, err := strconv.ParseInt(fields[3], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: size %q of git ls-tree", name, fields[3])
		}
		if err := left.take(name, size); err != nil {
			return nil, err
		}
		ids.WriteString(fields[2] + "\n")
		files = append(files, file{path: name, data: make([]byte, size), executable: fields[0] == "100755"})
	}
	return files, r.readFiles(ctx, ids.String(), files)
}

// A repository is one of our own, in dir.
type repository struct{ git, dir, protocol string }

// fetch fetches a commit without its history. It ends when the objects take more than
// maxFetch bytes.
func (r repository) fetch(ctx context.Context, from, ref string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
				if sizeOf(r.dir) > maxFetch {
					cancel()
				}
			}
		}
	}()
	_, err := r.run(ctx, nil, maxReport, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", from, ref)
	if sizeOf(r.dir) > maxFetch {
		return fmt.Errorf("its objects take more than %d bytes", maxFetch)
	}
	return err
}

// sizeOf returns the size of the files below a folder, which git may be changing.
func sizeOf(dir string) (size int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that is gone
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// readFiles reads the blobs with some ids, one per line, into files.
func (r repository) readFiles(ctx context.Context, ids string, files []file) error {
	blobs, err := r.run(ctx, strings.NewReader(ids), MaxBytes+maxListing, "cat-file", "--batch")
	if err != nil {
		return err
	}
	in := bufio.NewReader(bytes.NewReader(blobs))
	for i := range files { // "ID blob SIZE\n", the bytes, "\n"
		head, err := in.ReadString('\n')
		if err == nil && !strings.HasSuffix(head, fmt.Sprintf(" blob %d\n", len(files[i].data))) {
			err = fmt.Errorf("git cat-file: %q", strings.TrimSpace(head))
		}
		if err == nil {
			_, err = io.ReadFull(in, files[i].data)
		}
		if err == nil {
			_, err = in.ReadByte()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", files[i].path, err)
		}
	}
	return nil
}

// run runs git with its standard input, and returns its output of at most so many bytes.
func (r repository) run(ctx context.Context, in io.Reader, most int, args ...string) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, r.git, append([]string{
		"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.version=2", "-c", "credential.helper=", "-c", "gc.auto=0",
	}, args...)...) //nolint:gosec // our own arguments; addresses follow --
	cmd.Dir, cmd.Stdin, cmd.WaitDelay = r.dir, in, 5*time.Second
	cmd.Env = []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + r.dir, "LC_ALL=C", "GIT_DIR=" + r.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=" + r.protocol,
	}
	out, report := &output{left: most}, &output{left: maxReport}
	cmd.Stdout, cmd.Stderr = out, report
	err := cmd.Run()
	if out.full {
		return nil, fmt.Errorf("git %s: more than %d bytes of output", args[0], most)
	}
	if err != nil {
		return nil, fmt.Errorf("git %s: %w: %.300s", args[0], err, strings.TrimSpace(report.kept.String()))
	}
	return out.kept.Bytes(), nil
}

// An output is a buffer with a limit. A write beyond it fails, which ends the program.
type output struct {
	kept bytes.Buffer
	left int
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.full = o.full || len(p) > o.left; o.full {
		return 0, io.ErrShortWrite
	}
	o.left -= len(p)
	return o.kept.Write(p)
}

// resolve returns the absolute path of a folder without links. It fails if the folder is not
// below the current one.
func resolve(dir string) (string, error) {
	current, err := filepath.Abs(".")
	if err == nil {
		current, err = filepath.EvalSymlinks(current)
	}
	if err != nil {
		return "", err
	}
	at, err := filepath.EvalSymlinks(filepath.Join(current, dir))
	if err != nil {
		return "", err
	}
	if below, err := filepath.Rel(current, at); err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("git: want a folder below the current one (%s is a link that leads out of it)", dir)
	}
	return at, nil
}
