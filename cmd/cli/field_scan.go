package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
	"github.com/firstpick/firstpick/runner/field"
)

type fieldScanOptions struct {
	*app
	since, out, name string
}

func newFieldScanCmd(env *Env) *cobra.Command {
	o := &fieldScanOptions{}
	cmd := &cobra.Command{
		Use:   "scan REPO...",
		Short: "Count the tools that agents added in git histories",
		Long: `Read the history of HEAD of local git repositories and write a field study: commits by
agents (` + strings.Join(field.Agents(), ", ") + `), and
the packages that they add to manifests. Agents are recognised by Co-authored-by
trailers, names and addresses; commits without such a mark count as human. Merges do not
count, nor do reverts, reverted commits, and copies of a commit (cherry-picks). The study
has hashes of commits and no names, paths or texts; a repository is named by the hash of
its first commit.

A manifest of more than 64 KiB or with a syntax error is skipped and counted, and so is a
commit with an impossible date. Repositories need their full history: shallow and partial
clones fail. If a repository fails, the others are read and the exit code is 1.

A repository may be hostile: its configuration and hooks have no effect, and nothing is
fetched.`,
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args)
		},
	}
	cmd.Flags().StringVar(&o.since, "since", "", "leave out earlier commits: first day as YYYY-MM-DD (UTC)")
	cmd.Flags().StringVar(&o.out, "out", "", "write the study to this file (default: the data folder)")
	cmd.Flags().StringVar(&o.name, "name", "scan", "name of the study")
	return cmd
}

func (o *fieldScanOptions) run(ctx context.Context, repos []string) error {
	var since time.Time
	if o.since != "" {
		var err error
		if since, err = time.Parse(time.DateOnly, o.since); err != nil {
			return usageErr("", "--since must be a day as YYYY-MM-DD (got %q)", o.since)
		}
	}
	cat, err := o.catalog()
	if err != nil {
		return err
	}
	git, err := exec.LookPath("git")
	if err != nil {
		return usageErr("install git", "the program git is missing: %w", err)
	}
	for i, repo := range repos {
		if repos[i], err = filepath.Abs(repo); err != nil {
			return err
		}
	}
	s := field.Scanner{Git: git, Catalog: cat, Since: since, Now: o.env.Now()}
	study, n, failed := s.Scan(ctx, o.name, "Commits by agents in these repositories", repos)
	if study == nil {
		return badInput(failed)
	}
	where := o.out
	if where != "" {
		var file []byte
		if file, err = observed.Encode(study); err != nil {
			return badInput(err)
		}
		err = writeStudy(where, file)
	} else {
		where, err = o.observedRoot(), o.keepStudy(study)
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "OBSERVED: %d commits of %d repositories: %d by agents (%d added a tool), %d by people, %d merges, %d reverts and reverted, %d copies, %d skipped; study %s in %s\n",
		n.Commits, n.Repositories, n.Agents, n.Units, n.People, n.Merges, n.Reverts, n.Copies, n.Skipped, study.Name, where)
	if n.Unread > 0 {
		_, _ = fmt.Fprintf(o.env.Stderr, "%d changed manifests not counted: larger than %d KiB, malformed or links, before or after the commit\n", n.Unread, manifest.MaxSize>>10)
	}
	if failed != nil {
		return fmt.Errorf("%d of %d repositories failed and are not in the study:\n%w", len(repos)-n.Repositories, len(repos), failed)
	}
	return nil
}
