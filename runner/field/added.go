package field

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// maxBlob is the size of the largest manifest that is read, in bytes.
const maxBlob = 1 << 20

// A change is a manifest before and after a commit, as objects; empty where it is missing.
type change struct{ commit, path, before, after string }

// copied are folders with the packages of others.
var copied = []string{"node_modules", "bower_components", "vendor", "third_party", ".venv", "venv", "site-packages"}

// added returns the packages that commits added to manifests, by commit and ecosystem. A
// package that another manifest lost in the same commit was moved, not added.
func (r *repository) added(ctx context.Context, commits []commit) (map[string]map[catalog.Ecosystem][]string, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	changes, err := r.manifests(ctx, commits)
	if err != nil {
		return nil, err
	}
	blobs, err := r.blobs(ctx, changes)
	if err != nil {
		return nil, err
	}
	type dep struct {
		commit string
		eco    catalog.Ecosystem
		name   string
	}
	balance := map[dep]int{}
	count := func(c change, blob string, by int) {
		kind, deps := manifest.Deps(c.path, blobs[blob])
		for _, d := range deps {
			balance[dep{c.commit, catalog.Ecosystem(kind), d.Name}] += by
		}
	}
	for _, c := range changes {
		count(c, c.before, -1)
		count(c, c.after, 1)
	}
	out := map[string]map[catalog.Ecosystem][]string{}
	for d, n := range balance {
		if n <= 0 {
			continue
		}
		if out[d.commit] == nil {
			out[d.commit] = map[catalog.Ecosystem][]string{}
		}
		out[d.commit][d.eco] = append(out[d.commit][d.eco], d.name)
	}
	return out, nil
}

// manifests returns the manifests that commits changed.
func (r *repository) manifests(ctx context.Context, commits []commit) (changes []change, err error) {
	var in strings.Builder
	for _, c := range commits {
		in.WriteString(c.hash + "\n")
	}
	err = r.stream(ctx, strings.NewReader(in.String()), []string{"diff-tree", "--stdin", "-r", "-z", "--root", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev", "--always", "--pretty=tformat:%H"}, func(stdout io.Reader) error {
		lines, commit := bufio.NewReader(stdout), ""
		for {
			field, err := lines.ReadString(0)
			if errors.Is(err, io.EOF) && field == "" {
				return nil
			}
			if err != nil {
				return err
			}
			field = strings.TrimLeft(strings.TrimSuffix(field, "\x00"), "\n")
			if !strings.HasPrefix(field, ":") {
				commit = field
				continue
			}
			name, err := lines.ReadString(0)
			if err != nil {
				return err
			}
			words, name := strings.Fields(field), strings.TrimSuffix(name, "\x00")
			if kind, _ := manifest.Deps(name, nil); kind == "" || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(copied, dir) }) {
				continue
			}
			if len(words) != 5 {
				return fmt.Errorf("git diff-tree printed %q", field)
			}
			changes = append(changes, change{commit, name, object(words[0], words[2]), object(words[1], words[3])})
		}
	})
	return changes, err
}

// object returns a regular file's object; empty for others: links, missing ones.
func object(mode, hash string) string {
	if !strings.HasSuffix(mode, "100644") && !strings.HasSuffix(mode, "100755") {
		return ""
	}
	return hash
}

// blobs returns the contents of the manifests, by object. What is too large is empty.
func (r *repository) blobs(ctx context.Context, changes []change) (map[string][]byte, error) {
	out := map[string][]byte{}
	var in strings.Builder
	for _, c := range changes {
		for _, hash := range []string{c.before, c.after} {
			if _, known := out[hash]; !known && hash != "" {
				out[hash] = nil
				in.WriteString(hash + "\n")
			}
		}
	}
	err := r.stream(ctx, strings.NewReader(in.String()), []string{"cat-file", "--batch"}, func(stdout io.Reader) error {
		lines := bufio.NewReader(stdout)
		for {
			head, err := lines.ReadString('\n')
			if errors.Is(err, io.EOF) && head == "" {
				return nil
			}
			if err != nil {
				return err
			}
			words := strings.Fields(head)
			if len(words) == 2 && words[1] == "missing" { // of a partial clone
				continue
			}
			var size int64
			if len(words) != 3 {
				return fmt.Errorf("git cat-file printed %q", head)
			}
			if _, err := fmt.Sscan(words[2], &size); err != nil {
				return fmt.Errorf("git cat-file printed %q: %w", head, err)
			}
			var keep bytes.Buffer
			if _, err := io.CopyN(&keep, lines, min(size, maxBlob)); err != nil {
				return err
			}
			if _, err := io.CopyN(io.Discard, lines, size-min(size, maxBlob)+1); err != nil {
				return err
			}
			if size <= maxBlob {
				out[words[0]] = keep.Bytes()
			}
		}
	})
	return out, err
}
