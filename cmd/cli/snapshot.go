package cli

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/translog"
)

type snapshotOptions struct {
	*app
	format
	from, key string
	sign      string
	keep      int
	place     publish.Place
}

func newSnapshotCmd(env *Env) *cobra.Command {
	o := &snapshotOptions{}
	cmd := &cobra.Command{
		Use:   "snapshot",
		Short: "Show, verify, compare, promote and prune snapshots",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.PersistentFlags().StringVar(&o.from, "snapshots", "", "place of the snapshots: file:///DIR or s3://BUCKET/PREFIX (default: the data folder)")
	renameFlag(cmd.PersistentFlags(), "from", "snapshots")
	sub := func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
		c := &cobra.Command{Use: use, Short: short, Args: usage(args), RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			if o.place, err = o.snapshots(o.from); err != nil {
				return err
			}
			return run(cmd.Context(), args)
		}}
		cmd.AddCommand(c)
		return c
	}
	o.flags(sub("list", "List snapshots", cobra.NoArgs, o.list))
	show := sub("show [ID]", "Print the manifest of a snapshot (default: the current one)", cobra.MaximumNArgs(1), o.show)
	show.Flags().BoolVar(&o.json, "json", false, "print JSON, as where stdout is no terminal")
	verify := sub("verify [ID]", "Check every digest and recompute every number from the trials", cobra.MaximumNArgs(1), o.verify)
	verify.Flags().StringVar(&o.key, "key", "", "public key (PEM) of the signature")
	o.flags(sub("diff OLD NEW", "Compare two snapshots: what moved, and what the trials show", cobra.ExactArgs(2), o.diff))
	sub("promote ID", "Make a snapshot the current one, unless it is retracted", cobra.ExactArgs(1), o.promote)
	prune := sub("prune", "Delete old snapshots, never the current one", cobra.NoArgs, o.prune)
	prune.Flags().IntVar(&o.keep, "keep", 10, "how many to keep")
	prune.Flags().StringVar(&o.sign, "sign", "", "private key (PEM) of the log, where removals are entered (default: the data folder's)")
	return cmd
}

func (o *snapshotOptions) list(ctx context.Context, _ []string) error {
	infos, err := o.place.List(ctx)
	if err != nil {
		return err
	}
	current, _ := o.place.Current(ctx)
	entries, err := logged(ctx, o.place.Store)
	if err != nil {
		return err
	}
	corrections := translog.Corrections(entries)
	list := make([]listedSnapshot, len(infos))
	t := table{header: []string{"snapshot", "as of", "categories", "trials", "current", "synthetic", "corrections"}}
	for i, s := range infos {
		c := corrections[s.ID]
		list[i] = listedSnapshot{s, c.Retracted, c.Errata}
		asOf := "-"
		if s.AsOf != nil {
			asOf = s.AsOf.Format(time.RFC3339)
		}
		t.add(s.ID, asOf, fmt.Sprint(s.Counts.Categories), fmt.Sprint(s.Counts.Trials), yes(s.ID == current), yes(s.Synthetic), describeCorrection(c))
	}
	if o.json {
		return printJSON(o.env, map[string]any{"current": current, "snapshots": list})
	}
	if len(list) == 0 {
		o.note("no snapshots in %s; firstpick publish creates one", o.place.Store)
	}
	return t.print(o.env, o.format)
}

// A listedSnapshot is a snapshot with what the log says of it.
type listedSnapshot struct {
	publish.Info
	Retracted string   `json:",omitempty"`
	Errata    []string `json:",omitempty"`
}

func describeCorrection(c translog.Correction) string {
	var out []string
	if c.Retracted != "" {
		out = append(out, "retracted: "+c.Retracted)
	}
	for _, text := range c.Errata {
		out = append(out, "erratum: "+text)
	}
	return printableText(strings.Join(out, "; "))
}

func (o *snapshotOptions) load(ctx context.Context, name string) (*publish.Snapshot, error) {
	id, err := snapshotID(ctx, o.place, name)
	if err != nil {
		return nil, err
	}
	return o.place.Load(ctx, id)
}

func firstOr(args []string, fallback string) string {
	if len(args) > 0 {
		return args[0]
	}
	return fallback
}

func (o *snapshotOptions) show(ctx context.Context, args []string) error {
	s, err := o.load(ctx, firstOr(args, "current"))
	if err != nil {
		return err
	}
	return printRecord(o.env, map[string]any{"id": s.ID, "manifest": s.Manifest}, o.json)
}

func (o *snapshotOptions) verify(ctx context.Context, args []string) error {
	id, err := snapshotID(ctx, o.place, firstOr(args, "current"))
	if err != nil {
		return err
	}
	var key ed25519.PublicKey
	if o.key != "" {
		if key, err = publish.ReadPublicKey(o.key); err != nil {
			return badInput(err)
		}
	}
	rep, err := o.place.Verify(ctx, id, key)
	if err != nil {
		return err
	}
	signature := "unsigned"
	switch {
	case rep.SignatureValid:
		signature = "signature valid"
	case rep.Signed:
		signature = "signature not checked (give --key)"
	}
	_, _ = fmt.Fprintf(o.env.Stdout, "%s: %d files verified, %d documents recomputed from %d trials, %s\n",
		id, rep.Files, rep.Documents, rep.Trials, signature)
	if rep.Counts {
		_, _ = fmt.Fprintln(o.env.Stdout, "counts only: "+countsOnly)
	}
	return nil
}

func (o *snapshotOptions) promote(ctx context.Context, args []string) error {
	s, err := o.load(ctx, args[0]) // a damaged snapshot is not promoted
	if err != nil {
		return err
	}
	entries, err := logged(ctx, o.place.Store)
	if err != nil {
		return err
	}
	if err := retracted(entries, s.ID); err != nil {
		return err
	}
	if err := o.place.Promote(ctx, s.ID); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "current is %s\n", s.ID)
	return nil
}

func (o *snapshotOptions) prune(ctx context.Context, _ []string) error {
	if o.keep < 1 {
		return usageErr("10 is the default", "--keep must be at least 1 (got %d)", o.keep)
	}
	ids, unreadable := o.place.Prunable(ctx, o.keep)
	book, logged, err := o.removed(ctx, o.place.Store, o.sign, ids)
	if err != nil {
		return fmt.Errorf("no snapshot deleted: %w", err)
	}
	gone, err := o.place.Prune(ctx, ids, o.env.Now())
	errs := []error{unreadable, err}
	for _, id := range logged { // one that others made current or repaired meanwhile is there
		if err := book.published(ctx, id); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, id := range gone {
		_, _ = fmt.Fprintln(o.env.Stdout, id)
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "deleted %d snapshots\n", len(gone))
	return errors.Join(errs...)
}
