package field

import (
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// reverts are what the message of a commit says that it takes back.
type reverts struct {
	subject string      // quoted in the commit's own, which git and GitHub begin with Revert
	hashes  []string    // or their first digits
	pulls   [][2]string // repository and number of a pull request
}

var (
	revertedSubject = lazyregexp.MustCompile(`^(?:Revert|Reapply) "(.*)"`)
	// revertedHash are the lines of git revert, for a merge, and with --reference.
	revertedHash = lazyregexp.MustCompile(`(?m)^This reverts commit ([0-9a-f]{7,64})(?:\.|, reversing| \(.*, \d{4}-\d\d-\d\d\)\.)[ \t\r]*$`)
	revertedPull = lazyregexp.MustCompile(`(?m)^Reverts ([\w.-]{1,100}/[\w.-]{1,100})#(\d{1,9})[ \t\r]*$`)
)

// revertsOf returns nil for a message that takes nothing back.
func revertsOf(message string) *reverts {
	out := &reverts{}
	for _, m := range revertedHash.FindAllStringSubmatch(message, 100) {
		out.hashes = append(out.hashes, strings.Clone(m[1]))
	}
	for _, m := range revertedPull.FindAllStringSubmatch(message, 100) {
		out.pulls = append(out.pulls, [2]string{strings.ToLower(m[1]), strings.Clone(m[2])})
	}
	if len(out.hashes)+len(out.pulls) == 0 {
		return nil
	}
	if m := revertedSubject.FindStringSubmatch(message); m != nil {
		out.subject = pullNumber.ReplaceAllString(m[1], "")
	}
	return out
}

// cancelled returns the commits that a revert takes back, and the reverts themselves. The
// commits are the newest first, so that a revert that was reverted has no effect.
func (r *repository) cancelled(commits []commit) map[string]bool {
	pulls := map[string][]commit{} // squashed pull requests by number
	hashes := make([]string, len(commits))
	for i, c := range commits {
		hashes[i] = c.hash
		if c.pull != "" {
			pulls[c.pull] = append(pulls[c.pull], c)
		}
	}
	slices.Sort(hashes)
	out := map[string]bool{}
	for _, c := range commits {
		if c.reverts == nil {
			continue
		}
		targets := r.targets(c, hashes, pulls)
		if !out[c.hash] {
			for _, t := range targets {
				out[t] = true
			}
		}
		if len(targets) > 0 || c.reverts.subject != "" { // else it reports the revert of a commit that is not here
			out[c.hash] = true
		}
	}
	return out
}

// targets returns the commits of this history that a commit takes back. hashes are sorted.
func (r *repository) targets(c commit, hashes []string, pulls map[string][]commit) (out []string) {
	for _, h := range c.reverts.hashes {
		if i, _ := slices.BinarySearch(hashes, h); i < len(hashes) && strings.HasPrefix(hashes[i], h) && hashes[i] != c.hash {
			out = append(out, hashes[i])
		}
	}
	for _, p := range c.reverts.pulls {
		for _, squash := range pulls[p[1]] {
			// Another repository has a pull request of this number too.
			if squash.hash != c.hash && (slices.Contains(r.remotes, p[0]) || c.reverts.subject != "" && squash.title == c.reverts.subject) {
				out = append(out, squash.hash)
			}
		}
	}
	return out
}
