package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// catalogCmd has the commands about the workspace's own catalogue.
func (o *evalsOptions) catalogCmd(env *Env) *cobra.Command {
	var base int
	cmd := &cobra.Command{
		Use: "catalog", Short: "Read and store the workspace's own catalogue",
		Long: `Read and store the categories and tools of the workspace. They overlay those of the
server in its evals, and nobody else sees them. The file is YAML: one document a category,
with --- between them, each in the format of a file of --catalog.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	pull := o.command(env, "pull FILE", "Write the catalogue to a file, or with - to stdout", cobra.ExactArgs(1), o.pullCatalog)
	pull.Flags().IntVar(&o.version, "version", 0, "write this version (default: the current one)")
	push := o.command(env, "push FILE", "Store a file as the next version of the catalogue", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return o.pushCatalog(ctx, args[0], base)
	})
	push.Flags().IntVar(&base, "base", -1, "fail unless this version is the current one (0: there is none)")
	push.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.AddCommand(pull, push)
	return cmd
}

func (o *evalsOptions) pullCatalog(ctx context.Context, args []string) error {
	var own *evalclient.Catalog
	var err error
	if o.version > 0 {
		own, err = o.client.CatalogVersion(ctx, o.version)
	} else {
		own, _, err = o.client.Catalog(ctx)
	}
	if err != nil {
		return err
	}
	switch {
	case args[0] == "-" && o.env.StdoutIsTTY:
		_, err = io.WriteString(o.env.Stdout, printableText(own.Source))
	case args[0] == "-":
		_, err = io.WriteString(o.env.Stdout, own.Source)
	default:
		_, err = writeWhole(args[0], strings.NewReader(own.Source))
	}
	if err == nil {
		_, err = fmt.Fprintf(o.env.Stderr, "version %d of the catalogue; after your change: firstpick evals catalog push FILE --base %d\n", own.Version, own.Version)
	}
	return err
}

func (o *evalsOptions) pushCatalog(ctx context.Context, file string, base int) error {
	source, err := readFile("catalog", "push the entries that you add, not the whole catalogue", catalog.MaxOverlay, file)
	if err != nil {
		return err
	}
	now, tag, err := o.client.Catalog(ctx)
	if err != nil {
		return err
	}
	if base > now.Version {
		return usageErr(fmt.Sprintf("--base %d, the version that firstpick evals catalog pull prints; without --base, push replaces any version", now.Version), "the catalogue has version %d, older than --base %d", now.Version, base)
	}
	if base >= 0 && base != now.Version {
		return usageErr("firstpick evals catalog pull FILE, and make your change there", "the catalogue has version %d, not %d: it was changed after version %d", now.Version, base, base)
	}
	own, err := o.client.PutCatalog(ctx, source, tag)
	if err != nil {
		return placed(file, err)
	}
	for _, w := range own.Warnings {
		_, _ = fmt.Fprintf(o.env.Stderr, "note: %s\n", clean(w))
	}
	if o.json {
		return printJSON(o.env, own)
	}
	what := "stored"
	if own.Version == now.Version {
		what = "unchanged"
	}
	_, err = fmt.Fprintf(o.env.Stdout, "version %d of the catalogue, %s\n", own.Version, what)
	return err
}
