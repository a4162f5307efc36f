package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/transcript"
)

// Limits of Diff.
const (
	maxFiles   = 2000
	maxFile    = 1 << 20   // bytes
	maxAdded   = 4 << 20   // bytes of added lines
	maxEntries = 100_000   // of all folders
	maxRead    = 256 << 20 // bytes of all files
	// sniffed is the size of the prefix that identifies most binary files.
	sniffed  = 8 << 10
	maxDepth = 40 // of folders
	maxNotes = 20
	// maxManifests limits the manifests that are parsed: a hostile one takes a tenth of
	// a second.
	maxManifests = 200
)

// Stats are the statistics of Diff.
type Stats struct {
	Files, Lines int      // in the diff
	Skipped      int      // new or changed, but binary, too large, or made by a program
	Notes        []string // truncated or unreadable files
}

// Diff returns what the workspace has in addition to the template, by path. It reads
// files of an agent: it follows no links, reads nothing outside the workspace, and
// omits and notes excess files. It does not use git, since an agent may commit.
func (t *Tree) Diff(ctx context.Context) ([]transcript.FileChange, Stats, error) {
	w := &walk{ctx: ctx, template: t.template, had: map[string]bool{}}
	for p, text := range t.template {
		kind, deps := manifest.Deps(p, []byte(text))
		for _, d := range deps {
			w.had[kind+" "+d.Name] = true
		}
	}
	if !t.Intact() {
		w.addNote("the workspace is gone, or a link stands in its place")
		return nil, w.stats, nil
	}
	_ = os.Chmod(t.Dir, 0o700) //nolint:gosec // a folder, which an agent may have closed
	var err error
	if w.root, err = os.OpenRoot(t.Dir); err != nil {
		w.addNote("the workspace cannot be opened: %v", err) // an action of the agent, not a reason to retry
		return nil, w.stats, nil
	}
	defer func() { _ = w.root.Close() }()
	if err := w.folder(".", 0); err != nil {
		return nil, Stats{}, fmt.Errorf("workspace: %w", err)
	}
	sorting.Func(w.out, func(a, b transcript.FileChange) int { return strings.Compare(a.Path, b.Path) })
	w.stats.Files = len(w.out)
	return w.out, w.stats, nil
}

// A walk is the state of a Diff.
type walk struct {
	ctx      context.Context //nolint:containedctx // of one call
	root     *os.Root
	template map[string]string
	had      map[string]bool // kinds and names of the template's packages
	out      []transcript.FileChange
	stats    Stats

	entries, manifests, bytes int
	seen                      int64 // bytes read
	full                      bool  // limits reached
}

func (w *walk) addNote(format string, args ...any) {
	switch n := len(w.stats.Notes); {
	case n < maxNotes-1:
		w.stats.Notes = append(w.stats.Notes, fmt.Sprintf(format, args...))
	case n == maxNotes-1:
		w.stats.Notes = append(w.stats.Notes, "and more")
	}
}

// folder looks at a folder. It fails only when the context is done.
func (w *walk) folder(dir string, depth int) error {
	if depth > maxDepth {
		w.addNote("%q: folders deeper than %d are left out", dir, maxDepth)
		return nil
	}
	f, err := w.root.Open(dir)
	if err != nil {
		w.addNote("%q: %v", dir, err)
		return nil
	}
	entries, err := f.ReadDir(maxEntries - w.entries + 1)
	_ = f.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		w.addNote("%q: %v", dir, err)
	}
	sorting.Func(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if w.entries++; w.entries > maxEntries {
			w.addNote("more than %d files and folders: the rest is left out", maxEntries)
			w.full = true
		}
		if w.full {
			return nil
		}
		p := path.Join(dir, e.Name())
		switch {
		case e.IsDir():
			if !slices.Contains(madeFolders, e.Name()) {
				if err := w.folder(p, depth+1); err != nil {
					return err
				}
			}
		case e.Type().IsRegular():
			w.file(p)
		}
	}
	return nil
}

// file compares a file with the template's.
func (w *walk) file(p string) {
	base := path.Base(p)
	if w.seen > maxRead {
		w.addNote("more than %d bytes of files: the rest is left out", int64(maxRead))
		w.full = true
		return
	}
	old, was := w.template[p]
	data, size, err := w.read(p, was)
	switch {
	case err != nil:
		w.addNote("%q: %v", p, err)
		return
	case was && size == int64(len(old)) && string(data) == old:
		return
	case slices.Contains(lockFiles, base):
		w.add(transcript.FileChange{Path: strings.ToValidUTF8(p, "\uFFFD")})
		return
	case size > maxFile:
		w.addNote("%q is left out: %d bytes", p, size)
		w.stats.Skipped++
		return
	case !isText(data), isMade(base):
		w.stats.Skipped++
		return
	}
	c := transcript.FileChange{Path: strings.ToValidUTF8(p, "\uFFFD")}
	if w.manifests < maxManifests {
		kind, deps := manifest.Deps(p, data)
		for _, d := range deps {
			if !w.had[kind+" "+d.Name] {
				c.AddedDeps = append(c.AddedDeps, strings.ToValidUTF8(d.Text, "\uFFFD"))
			}
		}
		if kind != "" {
			if w.manifests++; w.manifests == maxManifests {
				w.addNote("more than %d manifests: the packages of the rest are left out", maxManifests)
			}
		}
	}
	for _, line := range addedLines(old, string(data)) {
		if w.bytes += len(line) + 1; w.bytes > maxAdded {
			w.addNote("%q: added lines beyond %d bytes in all are left out", p, maxAdded)
			break
		}
		c.Added = append(c.Added, line)
	}
	if !was || len(c.Added) > 0 || len(c.AddedDeps) > 0 {
		w.add(c)
	}
}

func (w *walk) add(c transcript.FileChange) {
	if len(w.out) == maxFiles {
		w.addNote("more than %d files were added or changed: the rest is left out", maxFiles)
		w.full = true
		return
	}
	w.stats.Lines += len(c.Added)
	w.out = append(w.out, c)
}

// read returns the beginning of a file, one byte more than counts, and its size. Of
// a binary file that is new it returns less.
func (w *walk) read(p string, was bool) (data []byte, size int64, err error) {
	// The file may have been replaced: a pipe must not block, and the root keeps links
	// inside the project.
	f, err := w.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, 0, err
	case !info.Mode().IsRegular():
		return nil, 0, errors.New("no longer a file")
	case info.Size() > maxFile:
		return nil, info.Size(), nil
	}
	defer func() { w.seen += int64(len(data)) }()
	if data, err = io.ReadAll(io.LimitReader(f, sniffed)); err != nil || !was && bytes.Contains(data, []byte{0}) {
		return data, info.Size(), err
	}
	rest, err := io.ReadAll(io.LimitReader(f, maxFile+1-sniffed))
	data = append(data, rest...)
	return data, int64(len(data)), err
}

func isText(data []byte) bool { return !bytes.Contains(data, []byte{0}) && utf8.Valid(data) }

// madeFolders contain downloads and build outputs, never an agent's work.
var madeFolders = []string{
	".git", "node_modules", "bower_components", "vendor", ".bundle", ".venv", "venv", "site-packages", "__pycache__", ".pytest_cache", ".mypy_cache",
	".ruff_cache", ".tox", "dist", "build", "out", "target", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".gradle", ".cache", "coverage",
}

// lockFiles are written by package managers. Their presence shows the manager; their
// text does not count, since it names transitive dependencies.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb", "deno.lock", "poetry.lock", "uv.lock", "pdm.lock",
	"Pipfile.lock", "go.sum", "go.work.sum", "Cargo.lock", "Gemfile.lock", "composer.lock", "packages.lock.json", "gradle.lockfile", "pubspec.lock", "mix.lock",
}

func isMade(base string) bool {
	for _, end := range []string{".min.js", ".min.css", ".map", ".tsbuildinfo", ".log"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return false
}
