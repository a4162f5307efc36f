package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
)

// download writes the trials of a run to a file, which appears whole or not at all.
func (o *evalsOptions) download(ctx context.Context, args []string) (err error) {
	switch {
	case o.out == "":
		return usageErr("-o FILE, or -o - for stdout", "no output file given")
	case o.fileFormat != evalclient.NDJSON && o.fileFormat != evalclient.Parquet:
		return usageErr("", "--format must be ndjson or parquet (got %q)", o.fileFormat)
	case o.fileFormat == evalclient.Parquet && o.filter != evalclient.Filter{}:
		return usageErr("omit the filters, or use --format ndjson", "a Parquet file contains all valid trials")
	case o.fileFormat == evalclient.Parquet && o.out == "-" && o.env.StdoutIsTTY:
		return usageErr("-o FILE", "a Parquet file cannot be written to a terminal")
	}
	body, err := o.client.Download(ctx, args[0], o.fileFormat, o.filter)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	if o.out == "-" {
		_, err := io.Copy(o.env.Stdout, body)
		return err
	}
	n, err := writeWhole(o.out, body)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.env.Stderr, "wrote %s: %d bytes\n", o.out, n)
	return err
}

// writeWhole puts all of r into a file, in place of what it held, or leaves it as it is.
// A link leads to the file; what is none, such as a pipe or /dev/null, is written to.
func writeWhole(path string, r io.Reader) (n int64, err error) {
	if there, err := os.Stat(path); err == nil && !there.Mode().IsRegular() {
		return writeThrough(path, r)
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".firstpick-*")
	if err != nil {
		return 0, badInput(err)
	}
	n, err = io.Copy(f, r)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(f.Name()))
	}
	return n, nil
}

func writeThrough(path string, r io.Reader) (n int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, badInput(err)
	}
	n, err = io.Copy(f, r)
	return n, errors.Join(err, f.Close())
}

// providerKeyCmd holds the commands about the workspace's keys of model providers.
func (o *evalsOptions) providerKeyCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "provider-key",
		Short: "Manage the provider keys of the workspace",
		Long: `Runs on a server use the workspace's own provider keys. The server stores them encrypted
and never shows them again.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	list := o.command(env, "list", "List the keys, by name and last characters", cobra.NoArgs, o.providerKeys)
	o.flags(list)
	set := o.command(env, "set NAME", "Set a key, from the variable of that name, or from stdin", cobra.ExactArgs(1), o.setProviderKey)
	set.Long = `Set a key under the name that evals use, such as OPENAI_API_KEY. Its value comes from
the environment variable of the same name or, if unset, from stdin:

  firstpick evals provider-key set OPENAI_API_KEY < key.txt

A key is sent only to the hosts that it is bound to: those of the provider of its name,
or fewer with --host. An owner of the workspace can bind other hosts in the settings.`
	set.Flags().StringSliceVar(&o.hosts, "host", nil, "send it only to this host, such as api.openai.com (repeatable)")
	remove := o.command(env, "remove NAME", "Remove a key; active runs keep it until they end", cobra.ExactArgs(1), o.removeProviderKey)
	cmd.AddCommand(list, set, remove)
	return cmd
}

func (o *evalsOptions) providerKeys(ctx context.Context, _ []string) error {
	keys := []*evalclient.ProviderKey{}
	t := table{header: []string{"name", "key", "hosts", "updated"}}
	for k, err := range o.client.ProviderKeys(ctx) {
		if err != nil {
			return err
		}
		keys = append(keys, k)
		t.add(k.Name, k.Shown, cmp.Or(strings.Join(k.Hosts, " "), "-"), stamp(k.UpdatedAt))
	}
	if o.json {
		return printJSON(o.env, map[string]any{"providerKeys": keys})
	}
	return t.print(o.env, o.format)
}

func (o *evalsOptions) setProviderKey(ctx context.Context, args []string) (err error) {
	name := args[0]
	value, from := o.env.Getenv(name), "the environment"
	if value == "" {
		from = "stdin"
		if value, err = o.askKey(ctx, name); err != nil {
			return err
		}
	}
	if value == "" {
		return usageErr("firstpick evals provider-key set "+clean(name)+" < FILE", "no key on stdin, and no variable %s", name)
	}
	k, err := o.client.SetProviderKey(ctx, name, value, o.hosts)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(o.env.Stderr, "%s is set, %s, from %s\n", clean(k.Name), clean(k.Shown), from); err != nil {
		return err
	}
	if len(k.Hosts) == 0 {
		_, err = fmt.Fprintf(o.env.Stderr, "%s is bound to no host, so evals cannot use it yet: an owner of the workspace binds it in the settings\n", clean(k.Name))
	}
	return err
}

// askKey reads a key from stdin. A person types or pastes a line, which is not shown.
func (o *evalsOptions) askKey(ctx context.Context, name string) (string, error) {
	if !o.env.StdinIsTTY {
		_, _ = fmt.Fprintf(o.env.Stderr, "no variable %s: reading the key from stdin\n", clean(name))
		value, err := readKey(o.env.Stdin)
		return value, badInput(err)
	}
	o.env.Terminal.Hide()
	defer o.env.Terminal.Show()
	_, _ = fmt.Fprintf(o.env.Stderr, "%s (not shown): ", clean(name))
	type answer struct {
		line string
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		line, err := bufio.NewReader(io.LimitReader(o.env.Stdin, maxSecret+1)).ReadString('\n')
		typed <- answer{line, err}
	}()
	select {
	case a := <-typed:
		_, _ = fmt.Fprintln(o.env.Stderr)
		if a.err != nil && a.line == "" {
			return "", usageErr("firstpick evals provider-key set "+clean(name)+" < FILE", "no key entered: %w", a.err)
		}
		value, err := readKey(strings.NewReader(a.line))
		return value, badInput(err)
	case <-ctx.Done():
		_, _ = fmt.Fprintln(o.env.Stderr)
		return "", ctx.Err()
	}
}

func (o *evalsOptions) removeProviderKey(ctx context.Context, args []string) error {
	if err := o.client.DropProviderKey(ctx, args[0]); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.env.Stderr, "%s is removed\n", clean(args[0]))
	return err
}
