// Package field reads what agents added to real repositories from their git histories:
// commits with the mark of an agent, and the packages that they added to manifests.
package field

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
)

// A Scanner reads repositories.
type Scanner struct {
	// Git is the path of the git program.
	Git     string
	Catalog *catalog.Catalog
	// Since limits the commits by their committer date; the zero time does not.
	Since time.Time
	// Now is the time of the scan: a commit dated more than a day later is skipped.
	Now time.Time
	// Stall is the longest time that git may print nothing; zero is a minute.
	Stall time.Duration
	// Temp is the folder for our own git directories; empty for that of the system.
	Temp string
}

// Counts says what a scan read. Agents + People + Merges + Reverts + Copies + Skipped =
// Commits.
type Counts struct {
	Repositories int // without those that could not be read
	Commits      int
	// Agents counts commits by agents that were kept, also those that added no tool.
	Agents int
	// People counts commits without the mark of an agent, also those of other programs.
	People int
	Merges int // not counted: what they bring was committed before
	// Reverts counts reverts and the commits that they take back.
	Reverts int
	// Copies counts further commits by an agent with the same author, author's date and
	// additions in one repository: cherry-picks and rebases.
	Copies int
	// Skipped counts commits with an impossible date, a message of more than 1 MiB, or more
	// than 500 manifests.
	Skipped int
	// Units are the commits by agents that added a tool of the catalogue.
	Units int
	// Unread counts changes of manifests that were links, larger than manifest.MaxSize or
	// malformed before or after a commit by an agent: what it added there is unknown.
	Unread int
}

// Scan reads the history of HEAD of every repository. A commit that several of them have
// counts once. name and title are those of the study. The error joins those of the
// repositories that could not be read; the study has the others, and is nil if there are
// none or ctx is done.
func (s *Scanner) Scan(ctx context.Context, name, title string, paths []string) (*observed.Study, Counts, error) {
	study := &observed.Study{
		Kind: observed.Kind, Observed: true, Name: name, Title: title, Unit: observed.Commit, Ecosystems: catalog.Ecosystems(),
		Estimand: "Share among the commits by agents that add a tool of the category to a manifest: what agents added to these repositories, mostly what their owners asked for.",
	}
	all := &scan{seen: map[string]bool{}}
	owners := catalog.NewOwners(s.Catalog)
	var failed []error
	for _, path := range paths {
		one, err := s.repository(ctx, path, owners, all.seen)
		switch {
		case ctx.Err() != nil:
			return nil, Counts{}, ctx.Err()
		case err != nil:
			failed = append(failed, fmt.Errorf("%s: %w", path, err))
		default:
			all.merge(one)
		}
	}
	if all.Repositories == 0 {
		return nil, Counts{}, errors.Join(failed...)
	}
	all.Units, study.Read, study.Units = len(all.units), all.Agents, all.units
	if !all.asOf.IsZero() {
		study.AsOf = &all.asOf
	}
	study.Source = observed.Source{Title: "git histories", Cite: fmt.Sprintf("Commits by agents in %d git histories, read by firstpick field scan.", all.Repositories)}
	return study, all.Counts, errors.Join(failed...)
}

// A scan is what was read of repositories.
type scan struct {
	Counts
	units []observed.Unit
	asOf  time.Time // of the last commit by an agent; zero if absent
	// seen has the hashes of commits and the origins of additions.
	seen map[string]bool
}

func (s *scan) merge(one *scan) {
	s.Repositories++
	s.Commits += one.Commits
	s.Agents += one.Agents
	s.People += one.People
	s.Merges += one.Merges
	s.Reverts += one.Reverts
	s.Copies += one.Copies
	s.Skipped += one.Skipped
	s.Unread += one.Unread
	s.units = append(s.units, one.units...)
	if one.asOf.After(s.asOf) {
		s.asOf = one.asOf
	}
	maps.Copy(s.seen, one.seen)
}

// repository reads one repository, without what was seen in others.
func (s *Scanner) repository(ctx context.Context, path string, owners *catalog.Owners, seen map[string]bool) (out *scan, err error) {
	dir, err := os.MkdirTemp(s.Temp, "firstpick-field-")
	if err != nil {
		return nil, err
	}
	r := &repository{git: s.Git, path: path, dir: dir, stall: cmp.Or(s.Stall, time.Minute)}
	defer func() {
		var failed *exec.ExitError
		if errors.As(err, &failed) && r.head != "" {
			err = fmt.Errorf("%w: check the repository with git -C %s fsck; if it is a partial clone, %s", err, path, r.refetch())
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	commits, err := r.log(ctx, s.Now.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	out = &scan{seen: map[string]bool{}}
	gone := r.cancelled(commits)
	var kept []commit
	for _, c := range commits {
		if seen[c.hash] || !c.invalid && c.at.Before(s.Since) {
			continue
		}
		out.seen[c.hash] = true
		out.Commits++
		switch {
		case c.invalid:
			out.Skipped++
		case c.merge:
			out.Merges++
		case gone[c.hash]:
			out.Reverts++
		case c.agent == "":
			out.People++
		default:
			kept = append(kept, c)
		}
	}
	repo := commits[len(commits)-1].hash[:12] // the first commit: two clones are one repository
	err = r.added(ctx, kept, func(c commit, a additions) {
		out.Unread += a.unread
		key := fmt.Sprint(repo, c.origin[0], a.names) // maps are printed in the order of their keys
		if len(a.names) == 0 {                        // an agent may commit twice in a second
			key += c.origin[1]
		}
		sum := sha256.Sum256([]byte(key))
		key = string(sum[:])
		switch {
		case a.tooMany:
			out.Skipped++
			return
		case seen[key] || out.seen[key]:
			out.Copies++
			return
		}
		out.seen[key] = true
		out.Agents++
		if c.at.After(out.asOf) {
			out.asOf = c.at
		}
		if u := unitOf(owners, repo, c, a); len(u.Tools) > 0 {
			out.units = append(out.units, u)
		}
	})
	return out, err
}

// unitOf returns the tools that a commit added; none if it added none of the catalogue.
func unitOf(owners *catalog.Owners, repo string, c commit, a additions) observed.Unit {
	u := observed.Unit{ID: c.hash, Repo: repo, Agent: c.agent, Tools: map[string][]string{}}
	most := 0
	for _, eco := range catalog.Ecosystems() {
		names := a.names[eco]
		tools := observed.ToolsOf(owners.Package, eco, names)
		for category, slugs := range tools {
			merged := append(u.Tools[category], slugs...)
			slices.Sort(merged)
			u.Tools[category] = slices.Compact(merged)
		}
		if tools != nil && len(names) > most {
			u.Language, most = languageOf(eco), len(names)
		}
	}
	return u
}

// languageOf names the language of an ecosystem's packages, as field studies do.
func languageOf(eco catalog.Ecosystem) string {
	switch eco {
	case catalog.NPM:
		return "TypeScript"
	case catalog.PyPI:
		return "Python"
	case catalog.Go:
		return "Go"
	case catalog.Cargo:
		return "Rust"
	case catalog.RubyGems:
		return "Ruby"
	case catalog.Composer:
		return "PHP"
	case catalog.Maven:
		return "Java"
	case catalog.NuGet:
		return "C#"
	case catalog.Docker, catalog.System:
	}
	return "other"
}
