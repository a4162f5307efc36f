// Package workspace makes the folder that an agent works in, from a project
// template, and returns the agent's additions afterwards.
package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/runner/eval"
)

// A Source makes workspaces from project templates.
type Source struct {
	// Git is the path of git; without it workspaces have no repository.
	Git string
	// Load returns a template's files. It is not called for eval.NoTemplate.
	Load func(template string) (fs.FS, error)
}

// A Tree is a workspace with its template.
type Tree struct {
	Dir       string
	Committed bool // it is a git repository of one commit

	template map[string]string // text by path
	real     string            // Dir without links, to see that it still is
}

// Prepare fills dir, which must be empty or missing, with a template and commits it.
// Without a template dir stays empty and is not a repository.
func (s Source) Prepare(ctx context.Context, template, dir string) (*Tree, error) {
	fail := func(err error) (*Tree, error) {
		return nil, fmt.Errorf("workspace %s from template %s: %w", dir, template, err)
	}
	files, err := s.files(template)
	if err != nil {
		return fail(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fail(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return fail(errors.Join(err, errNotEmpty(len(entries))))
	}
	t := &Tree{Dir: dir, template: map[string]string{}}
	if t.real, err = filepath.EvalSymlinks(dir); err != nil {
		return fail(err)
	}
	if files == nil {
		return t, nil
	}
	if err := os.CopyFS(dir, files); err != nil {
		return fail(err)
	}
	if t.template, err = texts(files); err != nil {
		return fail(err)
	}
	if s.Git == "" {
		return t, nil
	}
	if err := commit(ctx, s.Git, dir); err != nil {
		return fail(err)
	}
	t.Committed = true
	return t, nil
}

// Intact reports whether the workspace is still in its place.
func (t *Tree) Intact() bool {
	real, err := filepath.EvalSymlinks(t.Dir)
	return err == nil && real == t.real
}

func errNotEmpty(n int) error {
	if n == 0 {
		return nil
	}
	return errors.New("the folder is not empty; each trial needs a new one")
}

// files returns a template's files; nil without a template.
func (s Source) files(template string) (fs.FS, error) {
	if template == eval.NoTemplate {
		return nil, nil
	}
	return s.Load(template)
}

func texts(files fs.FS) (map[string]string, error) {
	out := map[string]string{}
	err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, p)
		out[p] = string(data)
		return err
	})
	return out, err
}

// Hash returns the digest of a template in 64 hexadecimal digits; empty if it does not
// exist.
func (s Source) Hash(template string) (string, error) {
	files, err := s.files(template)
	if err != nil || files == nil {
		return "", err
	}
	h := sha256.New()
	err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(files, p)
		_, _ = fmt.Fprintf(h, "%q %t %d\n%s", p, info.Mode()&0o100 != 0, len(data), data)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
