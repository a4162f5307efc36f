package journal

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/eval"
)

const (
	runFile = "run.json"
	maxRun  = 16 << 20
)

var idPattern = lazyregexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// ValidID reports whether an id is valid for a run. A valid id is never a path.
func ValidID(id string) bool { return idPattern.MatchString(id) }

// runDir returns the folder of a run.
func runDir(root, id string) (string, error) {
	if !ValidID(id) {
		return "", fmt.Errorf("run %q: %w", id, os.ErrNotExist)
	}
	return filepath.Join(root, id), nil
}

// ReadRun reads the plan of a run. It returns os.ErrNotExist for a missing run.
func ReadRun(root, id string) (Run, error) {
	dir, err := runDir(root, id)
	if err != nil {
		return Run{}, err
	}
	path := filepath.Join(dir, runFile)
	info, err := os.Stat(path)
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", id, err)
	}
	if info.Size() > maxRun {
		return Run{}, &DamageError{Path: path, Reason: fmt.Sprintf("%d bytes; a run has at most %d", info.Size(), maxRun)}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Run{}, fmt.Errorf("run %s: %w", id, err)
	}
	var r Run
	if err := json.Unmarshal(data, &r); err != nil {
		return Run{}, &DamageError{Path: path, Reason: err.Error()}
	}
	if r.ID != id {
		return Run{}, &DamageError{Path: path, Reason: fmt.Sprintf("has the id %q", r.ID)}
	}
	if s := r.Shard; s != nil && (s.Index < 1 || s.Index > s.Of) {
		return Run{}, &DamageError{Path: path, Reason: fmt.Sprintf("invalid shard %s", s)}
	}
	if u := r.Until; u != nil && (u.Wave < 1 || u.Stopped != nil && u.Stopped.Asked < 1) {
		return Run{}, &DamageError{Path: path, Reason: "invalid stopping rule"}
	}
	return r, nil
}

// A RunError is a run that cannot be read, and why.
type RunError struct {
	ID  string
	Err error
}

// Error implements error.
func (e *RunError) Error() string { return fmt.Sprintf("run %s: %v", e.ID, e.Err) }

// Unwrap returns the reason.
func (e *RunError) Unwrap() error { return e.Err }

// List returns every run below root, the oldest first, and separately the runs with an
// unreadable run.json, so that one damaged run does not hide the others.
func List(root string) (runs []Run, unreadable []*RunError, err error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || !idPattern.MatchString(e.Name()) {
			continue
		}
		r, err := ReadRun(root, e.Name())
		if err != nil {
			unreadable = append(unreadable, &RunError{e.Name(), err})
			continue
		}
		runs = append(runs, r)
	}
	sorting.Func(runs, func(a, b Run) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return runs, unreadable, nil
}

// Pool returns the evals of those runs that measure a category.
func Pool(runs []Run, category string) (pool eval.Pool) {
	for _, r := range runs {
		if r.Eval.Category == category {
			pool = append(pool, r.Eval)
		}
	}
	return pool
}

// makeRun makes the folder of a run with run.json in it; it appears whole.
func makeRun(root string, r Run) error {
	dir, err := runDir(root, r.ID)
	if err != nil {
		return fmt.Errorf("run id %q: use letters, digits, dots and dashes", r.ID)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if len(data) > maxRun {
		return fmt.Errorf("run %s: a plan of %d bytes exceeds the limit of %d", r.ID, len(data), maxRun)
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err == nil {
		return fmt.Errorf("run %s already exists; resume it", r.ID)
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	err = errors.Join(os.Chmod(tmp, 0o755), writeSynced(filepath.Join(tmp, runFile), data), syncDir(tmp)) //nolint:gosec // a data folder
	if err == nil {
		err = os.Rename(tmp, dir)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	return syncDir(root)
}

// Move moves a run without a writer to another folder of runs on the same file system,
// atomically.
func Move(from, to, id string) error {
	if _, err := ReadRun(from, id); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(from, id), filepath.Join(to, id)); err != nil {
		return fmt.Errorf("run %s: %w", id, err)
	}
	return syncDir(to)
}

// Copy copies a run without a writer to another folder of runs, where it appears
// atomically. It returns os.ErrExist if the run is already there.
func Copy(from, to, id string) error {
	if _, err := ReadRun(from, id); err != nil {
		return err
	}
	place := filepath.Join(to, id)
	if _, err := os.Lstat(place); err == nil {
		return fmt.Errorf("run %s in %s: %w", id, to, os.ErrExist)
	}
	lock, err := lockDir(filepath.Join(from, id), id)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(to, ".new-")
	if err != nil {
		return err
	}
	err = errors.Join(os.Chmod(tmp, 0o755), copyFiles(filepath.Join(from, id), tmp), syncDir(tmp)) //nolint:gosec // a data folder
	if err == nil {
		err = os.Rename(tmp, place)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("run %s: %w", id, err), os.RemoveAll(tmp))
	}
	return syncDir(to)
}

// copyFiles copies the files that a run consists of.
func copyFiles(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || e.Name() == "lock" {
			continue
		}
		if err := copySynced(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copySynced(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
