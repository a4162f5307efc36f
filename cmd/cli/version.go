package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/firstpick/firstpick/runner/pick"
)

func newVersionCmd(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the versions of the program, the extractor and the catalogue",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			cat, err := a.catalog()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(env, map[string]string{
					"version": env.Build.Name(), "commit": env.Build.Commit, "date": env.Build.Date, "go": runtime.Version(),
					"extractor": pick.Version, "catalog": cat.Version,
				})
			}
			_, err = fmt.Fprintf(env.Stdout, "firstpick %s\nextractor %s\ncatalogue %s\n%s %s/%s\n",
				env.Build, pick.Version, cat.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newManCmd(env *Env) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Print the manual page, or write all pages to a folder",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			root := cmd.Root()
			root.DisableAutoGenTag = true
			date := env.Now()
			if released, err := time.Parse(time.RFC3339, env.Build.Date); err == nil {
				date = released // the pages of a release are the same whenever they are made
			}
			head := &doc.GenManHeader{Title: "FIRSTPICK", Section: "1", Source: "firstpick " + env.Build.Name(), Date: &date}
			if dir == "" {
				return doc.GenMan(root, head, env.Stdout)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := doc.GenManTree(root, head, dir); err != nil {
				return err
			}
			pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
			_, _ = fmt.Fprintf(env.Stderr, "%d pages in %s\n", len(pages), strings.TrimRight(dir, "/"))
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "write a page per command to this folder")
	return cmd
}
