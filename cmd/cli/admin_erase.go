package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/publish/storage"
	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/trafficdb"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

const (
	eraseLook = time.Second     // between two looks at what waits
	eraseWait = 2 * time.Minute // for runs that have to stop
)

// addErase adds the command that deletes and proves.
func (o *adminOptions) addErase(cmd *cobra.Command, sub addCmd) {
	erase := sub(cmd, "erase account|workspace|eval|run ID", "Delete an account, workspace, eval or run with all its rows and files, or prove it", cobra.MinimumNArgs(1), o.erase)
	erase.Long = `Delete an account (by id or e-mail address) with its workspaces, a workspace (by id or slug),
an eval or a run, with every row, file, mail and result that belongs to it. Runs under way
are stopped first. Without --yes it only says what would be deleted. An interrupted erasure
is continued by the next call, or by the server.

With --check it deletes nothing: it searches every table of the store and every file of the
data folder for the ids, names and addresses that are its arguments, and fails if one is
found.`
	erase.Flags().BoolVar(&o.yes, "yes", false, "delete; this cannot be undone")
	erase.Flags().BoolVar(&o.check, "check", false, "search tables and files for the arguments: ids, slugs, names, addresses")
	o.flags(erase)
}

func (o *adminOptions) erase(ctx context.Context, args []string) error {
	if o.check {
		return o.eraseCheck(ctx, args)
	}
	kinds := []string{state.EraseAccount, state.EraseWorkspace, state.EraseEval, state.EraseRun}
	if len(args) != 2 || !slices.Contains(kinds, args[0]) {
		return usageErr("firstpick admin erase workspace quiet-otter-4821 --yes", "give one of account, workspace, eval, run and its id")
	}
	t, err := o.eraseTarget(ctx, args[0], args[1])
	if errors.Is(err, state.ErrNotFound) {
		return usageErr("firstpick admin workspaces lists workspaces; it may be erased already: see --check", "no %s %s", args[0], args[1])
	}
	if err != nil {
		return err
	}
	if !o.yes {
		o.notef("would delete %s; backups and delivered mails are out of reach", t.what)
		return usageErr("add --yes to delete it", "nothing was deleted")
	}
	svc, done, err := o.erasures(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := svc.Request(ctx, t.kind, t.id); err != nil {
		return err
	}
	o.notef("cut off: keys, sessions and agents stop working now, and runs are stopped; deleting takes about 10 seconds")
	if err := o.eraseWait(ctx, svc); err != nil {
		return err
	}
	o.notef("deleted %s", t.what)
	o.notef("prove it: firstpick admin erase --check %s", strings.Join(quoted(t.names), " "))
	return nil
}

// eraseWait carries erasures out until none waits.
func (o *adminOptions) eraseWait(ctx context.Context, svc *erasure.Service) error {
	for end := o.env.Now().Add(eraseWait); ; {
		waiting, err := svc.Work(ctx)
		if err != nil || waiting == 0 {
			return err
		}
		if o.env.Now().After(end) {
			return &codedError{errors.New("a run is still under way on a worker"), exitIncomplete, "the server completes the erasure, or the next firstpick admin erase"}
		}
		if err := o.env.Sleep(ctx, eraseLook); err != nil {
			return err
		}
	}
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name
		if strings.ContainsAny(name, " '\"$&;|<>()*?\\`") {
			out[i] = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
		}
	}
	return out
}

// An eraseTarget is what an operator wants to erase.
type eraseTarget struct {
	kind, id, what string
	names          []string // by which a search finds it
}

func (o *adminOptions) eraseTarget(ctx context.Context, kind, name string) (*eraseTarget, error) {
	t := &eraseTarget{kind: kind, id: name, what: kind + " " + name + " with its rows, files and results", names: []string{name}}
	tx := o.svc.DB.Read()
	switch kind {
	case state.EraseAccount:
		a, err := tx.Account(ctx, name)
		if email, ok := identity.ParseEmail(name); ok {
			a, err = tx.VerifiedAccount(ctx, email)
		}
		if err != nil {
			return nil, err
		}
		workspaces, err := tx.OwnedAlone(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		t.id, t.names = a.ID, []string{a.ID, a.Email}
		for _, w := range workspaces {
			t.addWorkspace(w)
		}
		t.what = fmt.Sprintf("account %s with its sessions, agents and %d workspaces", a.Email, len(workspaces))
	case state.EraseWorkspace:
		w, err := tx.WorkspaceBySlug(ctx, name)
		if errors.Is(err, state.ErrNotFound) {
			w, err = tx.Workspace(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		t.id, t.names = w.ID, nil
		t.addWorkspace(w)
		c, err := tx.Collected(ctx, w.ID, o.env.Now())
		if err != nil {
			return nil, err
		}
		t.what = fmt.Sprintf("workspace %s (%s) with %d events, its evals, runs, results, keys, alerts and agents", w.Slug, w.Title(), c.Total)
	default:
		return t, tx.CanErase(ctx, kind, name)
	}
	return t, nil
}

func (t *eraseTarget) addWorkspace(w *state.Workspace) {
	t.names = append(t.names, w.ID, w.Slug)
	if w.Name != "" {
		t.names = append(t.names, w.Name)
	}
	if u, err := url.Parse(w.Site); err == nil && u.Hostname() != "" {
		t.names = append(t.names, u.Hostname())
	}
}

// erasures makes the service that erases, with the read model if no server has it open.
func (o *adminOptions) erasures(ctx context.Context) (svc *erasure.Service, done func(), err error) {
	folders, err := o.eraseFolders()
	if err != nil {
		return nil, nil, err
	}
	svc = &erasure.Service{
		DB: o.svc.DB, List: erasure.List(filepath.Join(o.cfg.Data, erasure.ListFile)), Folders: folders,
		Secrets: o.svc.Secrets, Log: o.log, Now: o.env.Now,
	}
	done = func() {}
	file := filepath.Join(o.cfg.Data, assembly.TrafficFile)
	if _, missing := os.Stat(file); missing != nil {
		return svc, done, nil //nolint:nilerr // a server without traffic
	}
	model, err := trafficdb.Open(ctx, file)
	var locked *trafficdb.LockedError
	if errors.As(err, &locked) {
		o.notef("%s is open in another process: that server removes the events from it within seconds", file)
		return svc, done, nil
	}
	if err != nil {
		return nil, nil, badInput(err)
	}
	done = func() { _ = model.Close() }
	var foreign *trafficdb.ForeignError
	if _, err := reporter.Adopt(ctx, o.svc.DB, model); errors.As(err, &foreign) {
		done()
		return nil, nil, badInput(err)
	} else if err != nil {
		done()
		return nil, nil, err
	}
	svc.Models = []erasure.Model{model}
	return svc, done, nil
}

// eraseFolders are the places of files that belong to workspaces.
func (a *app) eraseFolders() (erasure.Folders, error) {
	bundles, bucket, err := a.bundles()
	f := erasure.Folders{
		Journals: filepath.Join(a.cfg.Data, "evals"), Bundles: bundles, Work: filepath.Join(a.cfg.Data, "work"),
		Adopted: a.runsRoot(), Trials: a.trialsPath(), Mails: a.mailFolder(),
	}
	if bucket != nil {
		f.Bucket = bundleBucket{bucket}
	}
	return f, err
}

// mailFolder is the folder of mail as files; empty for other mail.
func (a *app) mailFolder() string {
	u, err := url.Parse(a.cfg.Mail)
	if err != nil || u.Scheme != "file" {
		return ""
	}
	return filepath.FromSlash(u.Path)
}

// A bundleBucket is the bucket of the results of workspaces.
type bundleBucket struct{ storage.Store }

// Names implements erasure.Bucket.
func (b bundleBucket) Names(ctx context.Context) ([]string, error) {
	list, err := b.List(ctx, "")
	out := make([]string, len(list))
	for i, f := range list {
		out[i] = f.Name
	}
	return out, err
}
