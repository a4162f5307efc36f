package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/storage"
	"github.com/firstpick/firstpick/publish/translog"
)

type logOptions struct {
	*app
	format
	from, sign, text, reason string
}

func newLogCmd(env *Env) *cobra.Command {
	o := &logOptions{}
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List the public log: snapshots, registrations, errata, retractions, removals",
		Long: `List the entries of the log that firstpick publish keeps with the snapshots. The log
only grows: each entry is a leaf of a Merkle tree, and the tree head is signed.
firstpick verify checks it.`,
		Args: usage(cobra.NoArgs),
	}
	sub := func(c *cobra.Command, run func(context.Context, []string) error) {
		c.RunE = func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return run(cmd.Context(), args)
		}
	}
	sub(cmd, o.list)
	o.flags(cmd)
	cmd.PersistentFlags().StringVar(&o.from, "snapshots", "", "place of the snapshots: a folder, s3://BUCKET/PREFIX, or a server, https://HOST (default: the data folder)")
	renameFlag(cmd.PersistentFlags(), "from", "snapshots")
	erratum := &cobra.Command{Use: "erratum ID", Short: "Append a correction of a snapshot that stays published", Args: usage(cobra.ExactArgs(1))}
	erratum.Flags().StringVar(&o.text, "text", "", "the correction")
	retract := &cobra.Command{Use: "retract ID", Short: "Append that a snapshot is withdrawn", Args: usage(cobra.ExactArgs(1))}
	retract.Flags().StringVar(&o.reason, "reason", "", "why it is withdrawn")
	for c, flag := range map[*cobra.Command]string{erratum: "text", retract: "reason"} {
		c.Flags().StringVar(&o.sign, "sign", "", "private key (PEM) of the log (default: the data folder's)")
		_ = c.MarkFlagRequired(flag)
		cmd.AddCommand(c)
	}
	sub(erratum, func(ctx context.Context, args []string) error {
		return o.correct(ctx, args[0], translog.Entry{Kind: translog.Erratum, Text: o.text})
	})
	sub(retract, func(ctx context.Context, args []string) error {
		return o.correct(ctx, args[0], translog.Entry{Kind: translog.Retraction, Reason: o.reason})
	})
	return cmd
}

// place opens where snapshots are published: a server or a folder. The address names it
// wherever the command runs.
func (a *app) place(at string) (from storage.Opener, address string, err error) {
	if strings.HasPrefix(at, "https://") || strings.HasPrefix(at, "http://") {
		w, err := storage.NewWeb(at, nil, a.env.Now)
		if err != nil {
			return nil, "", usageErr("firstpick verify https://HOST", "%w", err)
		}
		return w, w.String(), nil
	}
	p, err := a.snapshots(at)
	if err != nil {
		return nil, "", err
	}
	store, err := absolute(p.Store)
	return store, store.String(), err
}

// absolute returns the place with an address that does not depend on where the command runs.
func absolute(place storage.Store) (storage.Store, error) {
	folder, ok := place.(storage.Folder)
	if !ok {
		return place, nil
	}
	root, err := filepath.Abs(string(folder))
	return storage.Folder(root), err
}

// An indexedEntry is an entry with its index in the log.
type indexedEntry struct {
	Index int `json:"index"`
	translog.Entry
}

func (o *logOptions) list(ctx context.Context, _ []string) error {
	from, address, err := o.place(o.from)
	if err != nil {
		return err
	}
	view, err := translog.Open(ctx, from)
	if errors.Is(err, translog.ErrNoLog) {
		return usageErr("firstpick publish begins one", "no log in %s", address)
	}
	if err != nil {
		return err
	}
	entries, err := view.Entries(ctx, 0, view.Size)
	if err != nil {
		return err
	}
	list := make([]indexedEntry, len(entries))
	t := table{header: []string{"entry", "at", "kind", "of", "detail"}}
	for i, e := range entries {
		list[i] = indexedEntry{i, e}
		of, detail := describeEntry(e)
		t.add(fmt.Sprint(i), e.At.Format(time.RFC3339), printableText(string(e.Kind)), printableText(of), printableText(detail))
	}
	if o.json {
		return printJSON(o.env, map[string]any{"key": hex.EncodeToString(view.Key), "size": view.Size, "root": view.Hash.String(), "entries": list})
	}
	return t.print(o.env, o.format)
}

func describeEntry(e translog.Entry) (of, detail string) {
	switch e.Kind {
	case translog.Snapshot:
		if e.Synthetic {
			detail = "synthetic"
		}
		return e.ID, detail
	case translog.Registration:
		detail = fmt.Sprintf("%d trials planned: %d agents, %d prompts", e.Planned, e.Agents, e.Prompts)
		if e.Until != "" {
			detail += ", until " + e.Until
		}
		return e.Category + "/" + e.Eval, detail
	case translog.Erratum, translog.Retraction, translog.Removal:
		return e.Snapshot, e.Text + e.Reason
	}
	return "", ""
}

func (o *logOptions) correct(ctx context.Context, name string, e translog.Entry) error {
	from, address, err := o.place(o.from)
	if err != nil {
		return err
	}
	place, ok := from.(storage.Store)
	if !ok {
		return usageErr("run the command where the snapshots are published", "the log of %s cannot be written from here", address)
	}
	if _, err := translog.Open(ctx, place); errors.Is(err, translog.ErrNoLog) {
		return usageErr("firstpick publish begins one", "no log in %s", address)
	}
	l, err := o.publicLog(ctx, place, o.sign)
	if err != nil {
		return err
	}
	if e.Snapshot, err = l.resolve(name); err != nil {
		return err
	}
	e.At = l.now()
	index, err := l.add(ctx, e)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "entry %d of the log: %s of snapshot %s\n", index, e.Kind, e.Snapshot)
	if e.Kind == translog.Retraction {
		return o.replace(ctx, e.Snapshot)
	}
	return nil
}

// replace says how a retracted snapshot is replaced, if it is the current one.
func (o *logOptions) replace(ctx context.Context, id string) error {
	from, err := o.snapshots(o.from)
	if err != nil {
		return err
	}
	if current, err := from.Current(ctx); current != id {
		if errors.Is(err, publish.ErrNotFound) {
			err = nil
		}
		return err
	}
	entries, err := logged(ctx, from.Store)
	if err != nil {
		return err
	}
	infos, err := from.List(ctx)
	next := "firstpick publish --run RUN publishes other runs"
	for _, s := range infos { // the newest first
		if retracted(entries, s.ID) == nil {
			next = "firstpick snapshot promote " + s.ID
			if o.from != "" {
				next += " --snapshots " + o.from
			}
			next += " makes an older snapshot the current one"
			break
		}
	}
	o.note("%s stays the current snapshot until another one is promoted or published: %s", id, next)
	return err
}
