package project

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
	"strconv"
	"strings"
	"time"
)

// gitTimeout limits one git program.
const gitTimeout = 2 * time.Minute

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
	protocol := "https"
	if !isHTTPS(from) {
		protocol = "file"
		if from, err = resolve(from); err != nil {
			return nil, err
		}
	}
	run := func(in io.Reader, args ...string) ([]byte, error) {
		limited, cancel := context.WithTimeout(ctx, gitTimeout)
		defer cancel()
		cmd := exec.CommandContext(limited, git, append([]string{
			"--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.version=2", "-c", "credential.helper=", "-c", "gc.auto=0",
		}, args...)...) //nolint:gosec // our own arguments; addresses follow --
		cmd.Dir, cmd.Stdin, cmd.WaitDelay = dir, in, 5*time.Second
		cmd.Env = []string{
			"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + dir, "LC_ALL=C", "GIT_DIR=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=" + protocol,
		}
		var out, report bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &report
		if err := cmd.Run(); err != nil {
			text := strings.TrimSpace(report.String())
			return nil, fmt.Errorf("git %s: %w: %.300s", args[0], err, text)
		}
		return out.Bytes(), nil
	}
	format := "sha1"
	if len(ref) == 64 {
		format = "sha256"
	}
	if _, err := run(nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "."); err != nil {
		return nil, err
	}
	if _, err := run(nil, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--", from, ref); err != nil {
		return nil, fmt.Errorf("commit %s: %w", ref, err)
	}
	list, err := run(nil, "ls-tree", "-r", "-l", "-z", "--full-tree", ref)
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
	blobs, err := run(strings.NewReader(ids.String()), "cat-file", "--batch")
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(bytes.NewReader(blobs))
	for i := range files { // "ID blob SIZE\n", the bytes, "\n"
		head, err := r.ReadString('\n')
		if err == nil && !strings.HasSuffix(head, fmt.Sprintf(" blob %d\n", len(files[i].data))) {
			err = fmt.Errorf("git cat-file: %q", strings.TrimSpace(head))
		}
		if err == nil {
			_, err = io.ReadFull(r, files[i].data)
		}
		if err == nil {
			_, err = r.ReadByte()
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files[i].path, err)
		}
	}
	return files, nil
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
