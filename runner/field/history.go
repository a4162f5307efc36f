package field

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// Limits of a history. Larger ones are refused; a commit with a longer field is skipped.
const (
	maxCommits = 2_000_000
	maxField   = 1 << 20 // bytes: GitHub limits the text of a pull request to 64 KiB
)

// A commit is what is kept of one.
type commit struct {
	hash    string
	at      time.Time // committed
	invalid bool      // without a possible date, or too large
	merge   bool
	agent   string // empty for people and other programs
	// origin is the author, the date and the subject of a commit by an agent: a rebase and a
	// cherry-pick keep them.
	origin  [2]string
	title   string   // of a squashed pull request, without its number
	pull    string   // its number; empty for others
	reverts *reverts // nil if absent
}

var (
	hashPattern = lazyregexp.MustCompile(`^[0-9a-f]{40,64}$`)
	pullNumber  = lazyregexp.MustCompile(`\s*\(#(\d{1,9})\)\s*$`)
)

// log returns the commits of HEAD, the newest first, parents after their children. Commits
// dated after latest are invalid.
func (r *repository) log(ctx context.Context, latest time.Time) (commits []commit, err error) {
	args := []string{
		"log", "-z", "--topo-order", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8",
		"--format=tformat:%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%at%x00%B", r.head, "--",
	}
	table := marks()
	err = r.stream(ctx, nil, args, func(in *bufio.Reader) error {
		for {
			var f [9]string
			invalid := false
			for i := range f {
				text, whole, err := readField(in, maxField)
				if i == 0 && errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return fmt.Errorf("after %d commits: %w", len(commits), err)
				}
				f[i], invalid = text, invalid || !whole
			}
			if !hashPattern.MatchString(f[0]) {
				return fmt.Errorf("git log printed %.80q in place of a commit", f[0])
			}
			if len(commits) == maxCommits {
				return fmt.Errorf("more than %d commits", maxCommits)
			}
			seconds, err := strconv.ParseInt(f[6], 10, 64)
			c := commit{hash: f[0], at: time.Unix(seconds, 0).UTC(), merge: strings.Contains(f[1], " "), reverts: revertsOf(f[8])}
			c.invalid = invalid || err != nil || seconds < 0 || c.at.After(latest)
			subject, _, _ := strings.Cut(f[8], "\n")
			if m := pullNumber.FindStringSubmatchIndex(subject); m != nil {
				c.title, c.pull = strings.Clone(subject[:m[0]]), strings.Clone(subject[m[2]:m[3]])
			}
			if c.agent = agentOf(table, []string{f[2], f[4]}, []string{f[3], f[5]}, f[8]); c.agent != "" {
				c.origin = [2]string{f[2] + "\x00" + f[3] + "\x00" + f[7], strings.Clone(subject)}
			}
			commits = append(commits, c)
		}
	})
	return commits, err
}
