// Package project reads a user's own project template: a folder, or a commit of a git
// repository. It is bounded, has no links, and nothing of it is run.
package project

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
)

// Limits of a template.
const (
	MaxFiles = 1000
	MaxBytes = 8 << 20
)

// A Source is where a template comes from: Dir, or Git with Ref.
type Source struct {
	Name string `json:"name"`
	// Dir is a folder below the current one.
	Dir string `json:"dir,omitempty"`
	// Git is the https address of a repository, or its folder below the current one; Ref is
	// the full hash of a commit in it.
	Git string `json:"git,omitempty"`
	Ref string `json:"ref,omitempty"`
	// Digest is that of the files when the run was planned. An eval file may have it; other
	// files are refused then.
	Digest string `json:"digest,omitempty"`
}

var commitHash = lazyregexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

var digestHash = lazyregexp.MustCompile(`^[0-9a-f]{64}$`)

// Check returns an error for a source that cannot be read. An eval may come from somebody
// else: its folders must be below the current one.
func (s Source) Check() error {
	switch {
	case (s.Dir == "") == (s.Git == ""):
		return errors.New("want one of dir, and git with ref")
	case s.Digest != "" && !digestHash.MatchString(s.Digest):
		return fmt.Errorf("digest: want 64 hexadecimal digits, as in the plan of a run (got %q)", s.Digest)
	case s.Dir != "" && s.Ref != "":
		return errors.New("ref: only git has one")
	case s.Dir != "" && !filepath.IsLocal(s.Dir):
		return fmt.Errorf("dir: want a folder below the current one (got %q)", s.Dir)
	case s.Git != "" && !commitHash.MatchString(s.Ref):
		return fmt.Errorf("ref: want the full hash of a commit, as git rev-parse prints it (got %q)", s.Ref)
	case s.Git != "" && !isHTTPS(s.Git) && (strings.Contains(s.Git, "://") || !filepath.IsLocal(s.Git)):
		return errors.New("git: want an https address, or a folder below the current one")
	case s.Git != "" && isHTTPS(s.Git):
		return checkAddress(s.Git)
	}
	return nil
}

func isHTTPS(address string) bool { return strings.HasPrefix(address, "https://") }

// checkAddress refuses an address that may have credentials: plans and manifests keep it in
// clear. No error has the address.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "":
		return errors.New("git: malformed https address")
	case u.User != nil:
		return errors.New("git: the address has a user or password, which would be stored: remove it, or clone the repository and name its folder")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("git: the address has a query or fragment: remove it")
	}
	return nil
}

// Load reads the files and returns their digest. git is the path of git, and tmp a folder for
// temporary files. It fails if the source has a Digest and the files have another.
func (s Source) Load(ctx context.Context, git, tmp string) (fs.FS, string, error) {
	if err := s.Check(); err != nil {
		return nil, "", fmt.Errorf("template %s: %w", s.Name, err)
	}
	read := func() ([]file, error) { return readDir(s.Dir) }
	if s.Git != "" {
		read = func() ([]file, error) { return readCommit(ctx, git, tmp, s.Git, s.Ref) }
	}
	files, err := read()
	if err == nil && len(files) == 0 {
		err = errors.New("it has no files")
	}
	if err != nil {
		return nil, "", fmt.Errorf("template %s: %w", s.Name, err)
	}
	digest := digestOf(files)
	if s.Digest != "" && digest != s.Digest {
		return nil, "", fmt.Errorf("template %s: the files changed since the run was planned, or the digest was written (digest %.12s, was %.12s): start a new run", s.Name, digest, s.Digest)
	}
	tree, err := tree(files)
	return tree, digest, err
}

// A file is one file of a template.
type file struct {
	path       string
	data       []byte
	executable bool
}

// A budget limits the files of a template.
type budget struct{ files, bytes int64 }

func (b *budget) take(name string, size int64) error {
	b.files, b.bytes = b.files+1, b.bytes+size
	switch {
	case b.files > MaxFiles:
		return fmt.Errorf("more than %d files", MaxFiles)
	case b.bytes > MaxBytes:
		return fmt.Errorf("more than %d bytes (at %s)", MaxBytes, name)
	case !fs.ValidPath(name) || strings.Contains(name, `\`), // archive/zip reads \ as /
		slices.Contains(strings.Split(strings.ToLower(name), "/"), ".git"):
		return fmt.Errorf("%q is not a valid path", name)
	}
	return nil
}

func readDir(dir string) (files []file, err error) {
	current, err := os.OpenRoot(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = current.Close() }()
	root, err := current.OpenRoot(dir) // fails for a link that leads out of it
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	var left budget
	err = fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path.Base(p) == ".git" && d.IsDir():
			return fs.SkipDir
		case path.Base(p) == ".git": // of a work tree or a submodule
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%s is a link or a special file; a template has ordinary files only", p)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if err := left.take(p, info.Size()); err != nil {
			return err
		}
		data, err := fs.ReadFile(root.FS(), p)
		files = append(files, file{p, data, info.Mode()&0o100 != 0})
		return err
	})
	return files, err
}

// digestOf returns the digest of the files as workspace.Source.Hash computes it.
func digestOf(files []file) string {
	sorting.Func(files, func(a, b file) int { return slices.Compare(strings.Split(a.path, "/"), strings.Split(b.path, "/")) })
	h := sha256.New()
	for _, f := range files {
		_, _ = fmt.Fprintf(h, "%q %t %d\n%s", f.path, f.executable, len(f.data), f.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// tree makes a file system. A zip file in memory is the standard library's only one that is
// built file by file and knows modes.
func tree(files []file) (fs.FS, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.path, Method: zip.Store}
		h.SetMode(0o644)
		if f.executable {
			h.SetMode(0o755)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
}
