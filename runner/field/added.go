package field

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// additions are the packages that a commit added to manifests, sorted.
type additions struct {
	names map[catalog.Ecosystem][]string
	// unread counts changed manifests that could not be read before or after the commit: what
	// it added to them is unknown.
	unread int
	// tooMany reports more than maxChanges: nothing was read.
	tooMany bool
}

// added calls each with what every commit added. Memory is bounded: git is asked for sizes
// first, and one manifest is read at a time.
func (r *repository) added(ctx context.Context, commits []commit, each func(commit, additions)) error {
	for batch := range slices.Chunk(commits, batchSize) {
		changes, err := r.manifests(ctx, batch)
		if err == nil {
			err = r.measure(ctx, changes)
		}
		if err == nil {
			err = r.packages(ctx, batch, changes, each)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// packages calls each with the packages that every commit added.
func (r *repository) packages(ctx context.Context, commits []commit, changes map[string][]*change, each func(commit, additions)) error {
	var in strings.Builder
	for _, c := range commits {
		if len(changes[c.hash]) > maxChanges {
			continue
		}
		for _, ch := range changes[c.hash] {
			for _, v := range []version{ch.before, ch.after} {
				if v.hash != "" && !v.unread {
					in.WriteString(v.hash + "\n")
				}
			}
		}
	}
	return r.stream(ctx, strings.NewReader(in.String()), []string{"cat-file", "--batch"}, func(stdout *bufio.Reader) error {
		for _, c := range commits {
			if len(changes[c.hash]) > maxChanges {
				each(c, additions{tooMany: true})
				continue
			}
			a, err := balance(stdout, changes[c.hash])
			if err != nil {
				return fmt.Errorf("commit %s: %w", c.hash, err)
			}
			each(c, a)
		}
		return nil
	})
}

// balance reads the manifests of a commit. A package that another manifest lost in the same
// commit was moved, not added.
func balance(in *bufio.Reader, changes []*change) (additions, error) {
	out := additions{names: map[catalog.Ecosystem][]string{}}
	counts := map[catalog.Ecosystem]map[string]int{}
	unknown := map[catalog.Ecosystem]bool{}
	for _, c := range changes {
		kind, _ := manifest.Deps(c.path, nil)
		eco := catalog.Ecosystem(kind)
		before, hadErr := c.read(in, c.before)
		after, hasErr := c.read(in, c.after)
		for _, err := range []error{hadErr, hasErr} {
			if err != nil && !errors.Is(err, errUnread) {
				return out, err
			}
		}
		if hadErr != nil || hasErr != nil {
			out.unread++
			// What it lost may be what another manifest of the commit gained.
			unknown[eco] = unknown[eco] || hasErr == nil
			continue
		}
		if counts[eco] == nil {
			counts[eco] = map[string]int{}
		}
		for _, d := range before {
			counts[eco][d.Name]--
		}
		for _, d := range after {
			counts[eco][d.Name]++
		}
	}
	for eco, names := range counts {
		for name, n := range names {
			if n > 0 && !unknown[eco] {
				out.names[eco] = append(out.names[eco], name)
			}
		}
		slices.Sort(out.names[eco])
	}
	return out, nil
}

var errUnread = errors.New("unread manifest")

// read returns the packages of a version from the output of git cat-file; errUnread if they
// are unknown.
func (c *change) read(in *bufio.Reader, v version) ([]manifest.Dep, error) {
	if v.hash == "" {
		return nil, nil
	}
	if v.unread {
		return nil, errUnread
	}
	kind, size, err := readHeader(in)
	if err == nil && (kind != "blob" || size < 0 || size > manifest.MaxSize) {
		err = fmt.Errorf("git cat-file printed a %s of %d bytes", kind, size)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	data := make([]byte, size+1) // a line feed follows
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, fmt.Errorf("%s: %w", c.path, err)
	}
	_, deps, err := manifest.Read(c.path, data[:size])
	if err != nil {
		err = errUnread
	}
	return deps, err
}
