package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish/audit"
)

// countsOnly is what a check of older boards leaves out.
const countsOnly = "the boards were computed by older formulas; counts, shares and order were recomputed, intervals, rank ranges and tests were not"

type verifyOptions struct {
	*app
	snapshot string
	json     bool
}

func newVerifyCmd(env *Env) *cobra.Command {
	o := &verifyOptions{}
	cmd := &cobra.Command{
		Use:   "verify URL|DIR",
		Short: "Check published results from outside: files, figures, signatures and the log",
		Long: `Download a snapshot of a server or a folder and check it: every digest, the signature,
and every figure, computed again from the trials. Then check the log beside it: the
signature of its head, that it has the snapshot, that it continues the head of the last
check, and that no snapshot is missing that the log lists. The last head of each log is
remembered in heads.json in the user's configuration folder, or in --data.

The exit code is 1 when something is wrong; the message names file, field and both values.
Without --trust, any key is accepted: compare the printed key with the one that the
publisher names.`,
		Example: `  firstpick verify https://firstpick.example.com
  firstpick verify https://firstpick.example.com --trust publish.pub --snapshot 1c9f0c8b7a6d5e4f3021
  firstpick verify ./snapshots --json`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.String("trust", "", "public key (PEM) that must have signed, or several with commas between")
	f.StringVar(&o.snapshot, "snapshot", "", "id of the snapshot (default: the current one)")
	f.BoolVar(&o.json, "json", false, "print the report, or what is wrong, as JSON")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, at string) error {
	trusted, err := trustedKeys(o.cfg.Trust)
	if err != nil {
		return err
	}
	if strings.Contains(at, "://") { // the address of a snapshot, as pages link to it
		if root, id, found := strings.Cut(strings.TrimSuffix(at, "/"), "/snapshots/"); found && o.snapshot == "" && !strings.Contains(id, "/") {
			at, o.snapshot = root, id
		}
	}
	from, address, err := o.place(at)
	if err != nil {
		return err
	}
	report, err := audit.Run(ctx, audit.Options{
		From: from, Address: address, Snapshot: o.snapshot, Trusted: trusted, Heads: o.headsFile(), Now: o.env.Now(),
	})
	if err != nil {
		if problem := new(audit.PlaceError); o.json && errors.As(err, &problem) {
			err = errors.Join(err, printJSON(o.env, map[string]any{"ok": false, "address": address, "snapshot": report.Snapshot, "problem": problem}))
		}
		return fmt.Errorf("%s: %w", address, err)
	}
	if o.json {
		return printJSON(o.env, struct {
			OK bool `json:"ok"`
			audit.Report
		}{true, report})
	}
	o.print(report)
	return nil
}

// headsFile is the memory of logs; empty where there is no folder for it.
func (o *verifyOptions) headsFile() string {
	dir := o.cfg.Data
	if !o.cfg.DataSet {
		var err error
		if dir, err = o.env.ConfigDir(); err != nil {
			o.note("the head of the log is not remembered: %v", err)
			return ""
		}
		dir = filepath.Join(dir, "firstpick")
	}
	return filepath.Join(dir, "heads.json")
}

func (o *verifyOptions) print(r audit.Report) {
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(o.env.Stdout, printableText(fmt.Sprintf(format, args...)))
	}
	signature := "unsigned"
	switch {
	case r.SignatureValid:
		signature = "signature valid"
	case r.Signed:
		signature = "signature not checked (give --trust)"
	}
	line("snapshot %s: %d files verified, %d documents recomputed from %d trials, %s", r.Snapshot, r.Files, r.Documents, r.Trials, signature)
	if r.Synthetic {
		line("synthetic: answers of simulated agents are among the trials")
	}
	if r.CountsOnly {
		line("counts only: " + countsOnly)
	}
	l := r.Log
	if l == nil {
		line("no log")
		return
	}
	trust := "given with --trust"
	if !l.Trusted {
		trust = "not given with --trust; compare it with the publisher's"
	}
	line("log: %d entries, root hash %s", l.Size, l.Root)
	line("log: key %s (%s)", l.Key, trust)
	if l.Before > 0 {
		line("log: continues the head of the last check, of %d entries", l.Before)
	} else {
		line("log: first seen; the next check compares with this head")
	}
	line("log: the snapshot is entry %d; %d other snapshots are there as logged", l.Entry, l.Served)
	if l.Unchecked > 0 {
		line("log: %d older snapshots were not looked for", l.Unchecked)
	}
	for _, at := range l.Unlisted {
		line("log: registration %d is of an eval of this snapshot, which has no run of it", at)
	}
	for _, text := range l.Errata {
		line("erratum: %s", text)
	}
	if l.Retraction != "" {
		line("retracted: %s", l.Retraction)
	}
}
