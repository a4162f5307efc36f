// Package field reads what agents added to real repositories from their git histories:
// commits with the mark of an agent, and the packages that they added to manifests.
package field

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/observed"
)

// maxCommits limits the commits of one repository that are read.
const maxCommits = 1_000_000

// A Scanner reads repositories.
type Scanner struct {
	// Git is the path of the git program.
	Git     string
	Catalog *catalog.Catalog
	// Since limits the commits by their committer date; the zero time does not.
	Since time.Time
	// Temp is the folder for our own git directories; empty for that of the system.
	Temp string
}

// Counts says what a scan read. Agents + People + Merges + Reverts = Commits.
type Counts struct {
	Repositories int
	Commits      int
	// Agents counts commits by agents that were kept, also those that added no tool.
	Agents int
	// People counts commits without the mark of an agent, also those of other programs.
	People int
	Merges int // not counted: what they bring was committed before
	// Reverts counts reverts and the commits that they take back.
	Reverts int
	// Units are the commits by agents that added a tool of the catalogue.
	Units int
}

// A commit is one line of a history.
type commit struct {
	hash, parents            string
	author, authorMail       string
	committer, committerMail string
	at                       time.Time
	message                  string
}

// Scan reads the history of HEAD of every repository. A commit that several of them have
// counts once. name and title are those of the study.
func (s *Scanner) Scan(ctx context.Context, name, title string, paths []string) (*observed.Study, Counts, error) {
	var counts Counts
	study := &observed.Study{
		Kind: observed.Kind, Observed: true, Name: name, Title: title, Unit: observed.Commit, Ecosystems: catalog.Ecosystems(),
		Source:   observed.Source{Title: "git histories", Cite: fmt.Sprintf("Commits by agents in %d git histories, read by firstpick field scan.", len(paths))},
		Estimand: "Share among the commits by agents that add a tool of the category to a manifest: what agents added to these repositories, mostly what their owners asked for.",
	}
	seen := map[string]bool{}
	owners, table := catalog.NewOwners(s.Catalog), marks()
	for _, path := range paths {
		dir, err := os.MkdirTemp(s.Temp, "firstpick-field-")
		if err != nil {
			return nil, counts, err
		}
		err = s.scan(ctx, path, dir, scan{study, &counts, seen, owners, table})
		if removeErr := os.RemoveAll(dir); err == nil {
			err = removeErr
		}
		if err != nil {
			return nil, counts, err
		}
	}
	counts.Units, study.Read = len(study.Units), counts.Agents
	return study, counts, nil
}

// A scan is what repositories share.
type scan struct {
	study  *observed.Study
	counts *Counts
	seen   map[string]bool
	owners *catalog.Owners
	marks  []mark
}

func (s *Scanner) scan(ctx context.Context, path, dir string, all scan) error {
	r, err := open(ctx, s.Git, path, dir)
	if err != nil {
		return err
	}
	commits, err := r.log(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	all.counts.Repositories++
	gone := cancelled(commits)
	var kept []commit
	for _, c := range commits {
		if all.seen[c.hash] || !s.Since.IsZero() && c.at.Before(s.Since) {
			continue
		}
		all.seen[c.hash] = true
		all.counts.Commits++
		switch agent := agentOf(all.marks, c); {
		case strings.Contains(c.parents, " "):
			all.counts.Merges++
		case gone[c.hash]:
			all.counts.Reverts++
		case agent == "":
			all.counts.People++
		default:
			all.counts.Agents++
			if !slices.Contains(r.shallow, c.hash) { // otherwise everything looks added
				kept = append(kept, c)
			}
			if all.study.AsOf == nil || c.at.After(*all.study.AsOf) {
				at := c.at
				all.study.AsOf = &at
			}
		}
	}
	added, err := r.added(ctx, kept)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	repo := commits[len(commits)-1].hash[:12] // the first commit: two clones are one repository
	for _, c := range kept {
		u := observed.Unit{ID: c.hash, Repo: repo, Agent: agentOf(all.marks, c), Tools: map[string][]string{}}
		language, most := "", 0
		for _, eco := range catalog.Ecosystems() {
			names := added[c.hash][eco]
			tools := observed.ToolsOf(all.owners.Package, eco, names)
			for category, slugs := range tools {
				merged := append(u.Tools[category], slugs...)
				slices.Sort(merged)
				u.Tools[category] = slices.Compact(merged)
			}
			if tools != nil && len(names) > most {
				language, most = languageOf(eco), len(names)
			}
		}
		if len(u.Tools) > 0 {
			u.Language = language
			all.study.Units = append(all.study.Units, u)
		}
	}
	return nil
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

// log returns the commits of HEAD, the newest first, parents after their children.
func (r *repository) log(ctx context.Context) ([]commit, error) {
	out, err := r.run(ctx, nil, []string{
		"log", "-z", "--topo-order", "--no-show-signature", "--no-mailmap", "--encoding=UTF-8", fmt.Sprintf("--max-count=%d", maxCommits),
		"--format=tformat:%H%x00%P%x00%an%x00%ae%x00%cn%x00%ce%x00%ct%x00%B", r.head, "--",
	})
	if err != nil {
		return nil, err
	}
	const fields = 8
	parts := bytes.Split(bytes.TrimSuffix(out, []byte{0}), []byte{0})
	if len(parts)%fields != 0 {
		return nil, fmt.Errorf("git log printed %d fields; want %d for each commit", len(parts), fields)
	}
	var commits []commit
	for p := range slices.Chunk(parts, fields) {
		var seconds int64
		if _, err := fmt.Sscan(string(p[6]), &seconds); err != nil {
			return nil, fmt.Errorf("commit %s: date %q: %w", p[0], p[6], err)
		}
		commits = append(commits, commit{
			string(p[0]), string(p[1]), string(p[2]), string(p[3]), string(p[4]), string(p[5]), time.Unix(seconds, 0).UTC(), string(p[7]),
		})
	}
	return commits, nil
}
