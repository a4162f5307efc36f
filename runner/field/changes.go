package field

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// Limits of the reading of commits.
const (
	batchSize  = 100  // commits of one call of git
	maxChanges = 500  // manifests of one commit
	maxPath    = 1024 // bytes
)

// A change is a manifest before and after a commit.
type change struct {
	path          string
	before, after version
}

// A version is an object: empty if the manifest is absent. Unread are links and what is too
// large.
type version struct {
	hash   string
	unread bool
}

// copied are folders with the packages of others.
var copied = []string{"node_modules", "bower_components", "vendor", "third_party", ".venv", "venv", "site-packages"}

// manifests returns the manifests that commits changed, by commit.
func (r *repository) manifests(ctx context.Context, commits []commit) (map[string][]*change, error) {
	var in strings.Builder
	for _, c := range commits {
		in.WriteString(c.hash + "\n")
	}
	changes := make(map[string][]*change, len(commits))
	args := []string{"diff-tree", "--stdin", "-r", "-z", "--root", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-abbrev", "--always", "--pretty=tformat:%H"}
	printed := 0
	err := r.stream(ctx, strings.NewReader(in.String()), args, func(stdout *bufio.Reader) error {
		commit := ""
		for {
			field, _, err := readField(stdout, maxPath)
			if errors.Is(err, io.EOF) && printed == len(commits) {
				return nil
			}
			if err != nil {
				return err
			}
			if field = strings.TrimLeft(field, "\n"); !strings.HasPrefix(field, ":") {
				commit, printed = field, printed+1
				continue
			}
			name, whole, err := readField(stdout, maxPath)
			if err != nil {
				return err
			}
			if kind, _ := manifest.Deps(name, nil); !whole || kind == "" || slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(copied, dir) }) {
				continue
			}
			words := strings.Fields(field)
			if len(words) != 5 {
				return fmt.Errorf("git diff-tree printed %.80q", field)
			}
			if len(changes[commit]) <= maxChanges {
				changes[commit] = append(changes[commit], &change{name, versionOf(words[0], words[2]), versionOf(words[1], words[3])})
			}
		}
	})
	if err != nil { // git prints a commit when it has read its trees
		err = fmt.Errorf("commit %s: %w", commits[min(printed, len(commits)-1)].hash, err)
	}
	return changes, err
}

func versionOf(mode, hash string) version {
	switch strings.TrimPrefix(mode, ":") {
	case "000000":
		return version{}
	case "100644", "100755", "100664":
		return version{hash: hash}
	}
	return version{hash, true} // a link or a submodule
}

// measure marks the versions that are too large, and fails for missing ones.
func (r *repository) measure(ctx context.Context, changes map[string][]*change) error {
	var in strings.Builder
	type question struct {
		commit, path string
		*version
	}
	var asked []question
	for commit, all := range changes {
		for _, c := range all {
			for _, v := range []*version{&c.before, &c.after} {
				if v.hash != "" && !v.unread {
					asked = append(asked, question{commit, c.path, v})
					in.WriteString(v.hash + "\n")
				}
			}
		}
	}
	return r.stream(ctx, strings.NewReader(in.String()), []string{"cat-file", "--batch-check", "--buffer"}, func(stdout *bufio.Reader) error {
		for _, v := range asked {
			kind, size, err := readHeader(stdout)
			if err == nil && kind == "" {
				err = fmt.Errorf("a file of the history is missing: if this is a partial clone, %s", r.refetch())
			}
			if err != nil {
				return fmt.Errorf("commit %s: %s: %w", v.commit, v.path, err)
			}
			v.unread = kind != "blob" || size > manifest.MaxSize
		}
		return nil
	})
}

// readHeader reads what git cat-file prints about an object. kind is empty for a missing one.
func readHeader(in *bufio.Reader) (kind string, size int64, err error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return "", 0, err
	}
	if strings.HasSuffix(head, " missing\n") {
		return "", 0, nil
	}
	var hash string
	if _, err = fmt.Sscanf(head, "%s %s %d\n", &hash, &kind, &size); err != nil {
		err = fmt.Errorf("git cat-file printed %.80q", head)
	}
	return kind, size, err
}
