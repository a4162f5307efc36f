package erasure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/firstpick/firstpick/server/store/state"
)

// Folders are the places of files that belong to workspaces; empty ones are skipped.
type Folders struct {
	Journals string // WORKSPACE/runs/RUN, and WORKSPACE/uploads/RUN of pushed runs
	Bundles  string // WORKSPACE/BUNDLE; the local copies, where results are in a bucket
	Work     string // RUN: work folders
	Adopted  string // RUN: runs that the operator adopted
	Trials   string // the read model of adopted runs, which is rebuilt when it is missing
	Mails    string // of mail as files
	Bucket   Bucket // of bundles; may be nil
}

// A Bucket holds WORKSPACE/BUNDLE/FILE.
type Bucket interface {
	Names(ctx context.Context) ([]string, error)
	Remove(ctx context.Context, name string) error
}

// erase deletes the files of everything that is reports.
func (f Folders) erase(ctx context.Context, is func(kind, id string) bool) error {
	workspaces, err := names(f.Journals)
	if err != nil {
		return err
	}
	for _, w := range workspaces {
		dir := filepath.Join(f.Journals, w)
		if is(state.EraseWorkspace, w) {
			err = errors.Join(err, remove(dir))
			continue
		}
		err = errors.Join(err, f.eraseRuns(filepath.Join(dir, "runs"), is, nil), f.eraseRuns(filepath.Join(dir, "uploads"), is, nil))
	}
	err = errors.Join(err, f.eraseBundles(is), f.eraseRuns(f.Work, is, nil), f.eraseRuns(f.Adopted, is, func() error {
		// Its rows are in the read model too, which the next command rebuilds from the journals.
		return errors.Join(remove(f.Trials), remove(f.Trials+".wal"))
	}))
	if f.Bucket == nil {
		return err
	}
	files, listed := f.Bucket.Names(ctx)
	if listed != nil {
		return errors.Join(err, fmt.Errorf("list the bundles: %w", listed))
	}
	for _, name := range files {
		if w, rest, _ := strings.Cut(name, "/"); is(state.EraseWorkspace, w) || is(state.EraseBundle, w+"/"+strings.SplitN(rest, "/", 2)[0]) {
			err = errors.Join(err, f.Bucket.Remove(ctx, name))
		}
	}
	return err
}

// eraseRuns deletes the folders of erased runs in a folder; after each it calls then.
func (f Folders) eraseRuns(root string, is func(kind, id string) bool, then func() error) error {
	runs, err := names(root)
	for _, run := range runs {
		if !is(state.EraseRun, run) {
			continue
		}
		if then != nil {
			err = errors.Join(err, then())
		}
		err = errors.Join(err, remove(filepath.Join(root, run)))
	}
	return err
}

func (f Folders) eraseBundles(is func(kind, id string) bool) error {
	workspaces, err := names(f.Bundles)
	for _, w := range workspaces {
		dir := filepath.Join(f.Bundles, w)
		if is(state.EraseWorkspace, w) {
			err = errors.Join(err, remove(dir))
			continue
		}
		bundles, listed := names(dir)
		err = errors.Join(err, listed)
		for _, b := range bundles {
			if is(state.EraseBundle, w+"/"+b) {
				err = errors.Join(err, remove(filepath.Join(dir, b)))
			}
		}
	}
	return err
}

// eraseMails deletes mails in files that hold one of the texts.
func (f Folders) eraseMails(texts []string) error {
	files, err := names(f.Mails)
	for _, name := range files {
		path := filepath.Join(f.Mails, name)
		if !strings.HasSuffix(name, ".eml") && !strings.HasSuffix(name, ".tmp") {
			continue
		}
		data, read := os.ReadFile(path)
		if read != nil {
			err = errors.Join(err, ignoreMissing(read))
			continue
		}
		// A long line is folded with a = at its end, in any part of a word.
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("=\r\n"), nil), []byte("=\n"), nil)
		for _, text := range texts {
			if text != "" && state.Names(strings.ToLower(string(data)), strings.ToLower(text)) {
				err = errors.Join(err, remove(path))
				break
			}
		}
	}
	return err
}

// names lists a folder; a missing one is empty.
func names(dir string) ([]string, error) {
	if dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, ignoreMissing(err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out, nil
}

// remove deletes a file or folder, also a folder of programs that made parts of it
// read-only.
func remove(path string) error {
	if path == "" || path == ".wal" {
		return nil
	}
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // RemoveAll reports what stays
		}
		return nil
	})
	return os.RemoveAll(path)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
