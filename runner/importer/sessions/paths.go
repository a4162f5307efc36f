package sessions

import (
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/runner/transcript"
)

// diff returns the changed files of the session's folder, sorted by path. Without a known
// folder it is the deepest that has all of them.
func (c *changes) diff() []transcript.FileChange {
	folder := slashed(c.cwd)
	if folder == "" {
		folder = common(c.paths)
	}
	var out []transcript.FileChange
	outside := 0
	for _, name := range c.paths {
		rel := path.Clean(slashed(name))
		if isAbs(rel) {
			inside, ok := strings.CutPrefix(rel, strings.TrimSuffix(folder, "/")+"/")
			if !ok {
				outside++
				continue
			}
			rel = inside
		}
		if rel == ".." || strings.HasPrefix(rel, "../") {
			outside++
			continue
		}
		out = append(out, transcript.FileChange{Path: rel, Added: c.added[name]})
	}
	if outside > 0 {
		c.note("changed files outside of the session's folder were left out")
	}
	sorting.StableFunc(out, func(a, b transcript.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return slices.CompactFunc(out, func(a, b transcript.FileChange) bool { return a.Path == b.Path && len(b.Added) == 0 })
}

func slashed(name string) string { return strings.ReplaceAll(name, `\`, "/") }

func isAbs(name string) bool { return path.IsAbs(name) || len(name) > 2 && name[1] == ':' }

// common returns the deepest folder of absolute paths.
func common(names []string) string {
	folder, first := "", true
	for _, name := range names {
		name = path.Clean(slashed(name))
		if !isAbs(name) {
			continue
		}
		if first {
			folder, first = path.Dir(name), false
		}
		for folder != "/" && folder != "." && !strings.HasPrefix(name, folder+"/") {
			folder = path.Dir(folder)
		}
	}
	return folder
}
