package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/audit"
	"github.com/firstpick/firstpick/publish/storage"
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
and every figure, computed again from the trials. Then check the log of the snapshots: the
signature of its head, that it has the snapshot, that it continues the head of the last
check, and that no snapshot is missing that the log lists. The last head of each log is
remembered in heads.json in the user's configuration folder, or in --data.

The exit code is 1 when something is wrong; the message names file, field and both values.
It is 5 when files could not be read, so that nothing is known about them.
Without --trust, any key is accepted: compare the printed key with the one that the
publisher names.`,
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			return o.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.String("trust", "", "public key (PEM) that must have signed, or several, separated by commas")
	f.StringVar(&o.snapshot, "snapshot", "", "id of the snapshot, or its start (default: the current one)")
	f.BoolVar(&o.json, "json", false, "print the report, or what is wrong, as JSON")
	return cmd
}

func (o *verifyOptions) run(ctx context.Context, at string) error {
	trusted, err := trustedKeys(o.cfg.Trust)
	if err != nil {
		return err
	}
	if at = webAddress(at); strings.Contains(at, "://") { // the address of a snapshot, as pages link to it
		if root, id, found := strings.Cut(strings.TrimSuffix(at, "/"), "/snapshots/"); found && o.snapshot == "" && !strings.Contains(id, "/") {
			at, o.snapshot = root, id
		}
	}
	from, address, err := o.place(at)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(address); err == nil && from == storage.Opener(storage.Folder(address)) {
		address = resolved // one memory for all links
	}
	report, err := audit.Run(ctx, audit.Options{
		From: from, Address: address, Snapshot: o.snapshot, Trusted: trusted, Heads: o.heads(), Now: o.env.Now(),
	})
	if err != nil {
		return o.failed(address, report.Snapshot, err)
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

// webAddress returns one spelling of the address of a server; other text is returned as it is.
func webAddress(at string) string {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" { // Parse has made it lower-case
		return at
	}
	u.Host = strings.ToLower(u.Host)
	if port := u.Port(); port == map[string]string{"http": "80", "https": "443"}[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	clean := strings.TrimSuffix(path.Clean("/"+u.EscapedPath()), "/")
	if u.Path, err = url.PathUnescape(clean); err == nil {
		u.RawPath = clean
	}
	return u.String()
}

// failed prints what is wrong as JSON, and returns the error with its exit code and the
// next step.
func (o *verifyOptions) failed(address, snapshot string, err error) error {
	out := map[string]any{"ok": false, "address": address, "snapshot": snapshot}
	coded := &codedError{fmt.Errorf("%s: %w", address, err), exitUnread, ""}
	var problem *audit.PlaceError
	var memory *audit.HeadsError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &problem):
		coded.code, coded.hint, out["problem"] = exitFailed, problem.Next, problem
	case errors.As(err, &memory):
		coded.code, coded.hint = exitUsage, fmt.Sprintf("restore %s from a copy; or remove the entry of %s: the next check then has no head to compare with", memory.File, address)
	case errors.Is(err, publish.ErrNotFound):
		coded.code, coded.hint = exitUsage, "give the address of a server, or a folder of snapshots; firstpick publish fills one"
		if below := filepath.Join(address, "snapshots"); isFile(filepath.Join(below, "current")) {
			coded.hint = "firstpick verify " + below
		} else if _, err := os.Stat(address); errors.Is(err, os.ErrNotExist) && !strings.Contains(address, "://") {
			coded.err = fmt.Errorf("no folder %s", address)
		}
	case errors.Is(err, audit.ErrName):
		coded.code, coded.hint = exitUsage, "firstpick log --snapshots "+address+" lists them; give a longer start if there are several"
	case strings.Contains(address, "://"):
		coded.hint = "nothing is known about the snapshot; open the address in a browser, and repeat the command"
	}
	if o.json {
		if problem == nil {
			out["error"] = err.Error()
		}
		return errors.Join(coded, printJSON(o.env, out))
	}
	return coded
}

func isFile(name string) bool {
	stat, err := os.Stat(name)
	return err == nil && stat.Mode().IsRegular()
}

// heads is the memory of logs; empty where there is no folder for it.
func (o *verifyOptions) heads() string {
	if o.cfg.DataSet {
		return o.headsFile()
	}
	dir, err := o.env.ConfigDir()
	if err != nil {
		o.note("the head of the log is not remembered: %v", err)
		return ""
	}
	return filepath.Join(dir, "firstpick", "heads.json")
}

func (o *verifyOptions) print(r audit.Report) {
	line := func(format string, args ...any) {
		_, _ = fmt.Fprintln(o.env.Stdout, printableText(fmt.Sprintf(format, args...)))
	}
	signature := "unsigned"
	switch {
	case r.SignatureValid:
		signature = "signature valid"
	case r.SignatureChecked:
		signature = "signed with another key than the log's"
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
	for _, text := range r.Notes {
		o.note("%s", text)
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
