package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/agentauth"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/server/channel/setup"
)

type setupOptions struct {
	*app
	write, site, key string
	json, files      bool
	timeout          time.Duration
}

func newSetupCmd(env *Env) *cobra.Command {
	o := &setupOptions{}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Install the collector in a site: detect its stack, print the recipe, verify the setup",
		Long: `Install the collector, which reports AI agents that read a site.

Start with:  firstpick setup detect`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	sub := func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usage(args), RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return run(cmd.Context(), args)
		}}
		cmd.AddCommand(c)
		return c
	}
	detect := sub("detect [DIR]", "Find the stacks of a project by its files", cobra.MaximumNArgs(1), o.detect)
	detect.Flags().BoolVar(&o.json, "json", false, "print JSON")

	print := sub("print STACK", "Print the recipe of a stack, or write its files", cobra.ExactArgs(1), o.print)
	addServerFlag(print.Flags(), "that of the saved agent session, or http://"+demoListen, "url")
	print.Flags().BoolVar(&o.files, "files", false, "list the files of the recipe without writing them")
	print.Flags().StringVar(&o.write, "write", "", "write the files into this project folder, without overwriting")
	print.MarkFlagsMutuallyExclusive("files", "write")

	prove := sub("prove --site URL", "Visit a site as an agent, and check that the collector reports the visit", cobra.NoArgs, o.prove)
	prove.Flags().StringVar(&o.site, "site", "", "URL of a page of the site (required)")
	addServerFlag(prove.Flags(), "FIRSTPICK_URL, that of the saved agent session, or http://"+demoListen, "url")
	prove.Flags().StringVar(&o.key, "key", "", "collector key (default: FIRSTPICK_KEY)")
	prove.Flags().DurationVar(&o.timeout, "timeout", 30*time.Second, "how long to wait for the visit to arrive")
	prove.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// service returns the address of the service: of --server, or the saved one. It notes when
// there is neither: the session is saved in another folder than that of most sites.
func (o *setupOptions) service() (string, error) {
	base, file := o.cfg.Server, filepath.Join(o.cfg.Data, agentFile)
	if base == "" {
		if s, err := agentauth.ReadSession(file); err == nil {
			base = s.URL
		} else {
			base = o.localURL()
			o.note("%s is the default server: --server is not set, and there is no session in %s; a deployed site that sends there loses its events", base, file)
		}
	}
	base, err := agentauth.CheckBase(base)
	if err != nil {
		return "", usageErr("--server must be an https URL, or http on this machine", "--server: %w", err)
	}
	return base, nil
}

// A foundStack is a line of detect.
type foundStack struct {
	Stack string `json:"stack"`
	Title string `json:"title"`
	File  string `json:"file"`
	Why   string `json:"why,omitempty"`
	Next  string `json:"next"`
}

func (o *setupOptions) detect(_ context.Context, args []string) error {
	dir := firstOr(args, ".")
	found, err := setup.Detect(os.DirFS(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return usageErr("give the folder of the site's code", "folder %s does not exist", dir)
	}
	if err != nil {
		return badInput(err)
	}
	list := []foundStack{}
	t := table{header: []string{"stack", "title", "found by", "next"}}
	for _, f := range found {
		l := foundStack{f.Stack.Slug, f.Stack.Title, f.File, clean(f.Why), "firstpick setup print " + f.Stack.Slug}
		list = append(list, l)
		t.add(l.Stack, l.Title, strings.TrimSpace(clean(l.File)+" "+l.Why), l.Next)
	}
	if o.json {
		return printJSON(o.env, list)
	}
	if len(list) == 0 {
		return usageErr("choose one: firstpick setup print "+strings.Join(setup.Slugs(), "|"), "no known stack in %s", dir)
	}
	if err := t.print(o.env, format{}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stderr, "next: %s; install one of them per site, besides mcp and conversions\n", list[0].Next)
	return err
}

func (o *setupOptions) print(_ context.Context, args []string) error {
	stack, ok := setup.Find(args[0])
	if !ok {
		return usageErr("firstpick setup detect finds it; "+nearest.Hint(args[0], setup.Slugs()), "unknown stack %q", args[0])
	}
	if o.files {
		t := table{header: []string{"file"}}
		for _, f := range stack.Files {
			t.add(f.Path)
		}
		return t.print(o.env, format{})
	}
	base, err := o.service()
	if err != nil {
		return err
	}
	if o.write != "" {
		return o.writeFiles(stack, base)
	}
	_, err = io.WriteString(o.env.Stdout, stack.Recipe(base))
	return err
}

// writeFiles writes the code of a recipe, all of it or nothing.
func (o *setupOptions) writeFiles(stack *setup.Stack, base string) error {
	if len(stack.Files) == 0 {
		return usageErr("firstpick setup print "+stack.Slug+" shows the steps", "the recipe of %s has no files", stack.Slug)
	}
	if info, err := os.Stat(o.write); err != nil || !info.IsDir() {
		return usageErr("--write must be the folder of the project", "folder %s does not exist", o.write)
	}
	for _, f := range stack.Files {
		path := filepath.Join(o.write, filepath.FromSlash(f.Path))
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return usageErr("move it away, or merge the recipe by hand: firstpick setup print "+stack.Slug, "%s already exists; nothing was written", path)
		}
	}
	for _, f := range stack.Files {
		path := filepath.Join(o.write, filepath.FromSlash(f.Path))
		if err := writeNew(path, []byte(f.Code(base))); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(o.env.Stdout, path); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(o.env.Stderr, "next: hook it in, step 3 of firstpick setup print %s; then set FIRSTPICK_KEY and deploy\n", stack.Slug)
	return err
}
