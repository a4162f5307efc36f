package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/state"
)

func (o *adminOptions) audit(ctx context.Context, _ []string) error {
	if o.limit < 1 {
		return usageErr("", "--limit must be at least 1 (got %d)", o.limit)
	}
	if o.since < 0 {
		return usageErr("24h means the last 24 hours", "--since must not be negative (got %s)", o.since)
	}
	f := state.AuditFilter{Event: o.event, RegistrationID: o.id, Limit: o.limit}
	if o.since > 0 {
		f.Since = o.env.Now().Add(-o.since)
	}
	list, err := o.svc.DB.Read().AuditLog(ctx, f)
	if err != nil {
		return err
	}
	if o.json {
		enc := json.NewEncoder(o.env.Stdout)
		for _, e := range list {
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		return nil
	}
	t := table{header: []string{"at", "event", "registration", "workspace", "account", "ip", "issuer", "detail"}}
	for _, e := range list {
		detail := []byte{}
		if e.Detail != nil {
			if detail, err = json.Marshal(e.Detail); err != nil {
				return err
			}
		}
		t.add(e.At.Format("2006-01-02T15:04:05.000Z"), e.Event, e.RegistrationID, e.WorkspaceID, e.AccountID, e.IP, e.ISS, string(detail))
	}
	return t.print(o.env, o.format)
}

func (o *adminOptions) backup(ctx context.Context, args []string) error {
	f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usageErr("choose another name", "%s exists", args[0])
	}
	if err != nil {
		return badInput(err)
	}
	rows, err := o.svc.DB.Backup(ctx, f)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(args[0]))
	}
	o.notef("%d rows in %s; the backup needs the master key, which is not in it: store both separately", rows, args[0])
	return nil
}

func (o *adminOptions) restore(ctx context.Context, args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return badInput(err)
	}
	defer func() { _ = f.Close() }()
	if o.list != "" { // before the store is filled
		if _, err := erasure.List(o.list).Read(); err != nil {
			return badInput(err)
		}
		if _, err := os.Stat(o.list); err != nil {
			return badInput(err)
		}
	}
	rows, err := o.svc.DB.Restore(ctx, f)
	if errors.Is(err, state.ErrMaster) {
		return usageErr("set FIRSTPICK_STATE_KEY to the key of the backup, and use another --data or --state: this store has its own key", "%s: the backup has another master key", args[0])
	}
	if err != nil {
		return badInput(fmt.Errorf("%s: %w", args[0], err))
	}
	o.notef("%d rows restored", rows)
	return o.applyErasures(ctx)
}

// applyErasures erases again what was erased after the backup.
func (o *adminOptions) applyErasures(ctx context.Context) error {
	path := cmp.Or(o.list, filepath.Join(o.cfg.Data, erasure.ListFile))
	if _, err := os.Stat(path); err != nil {
		if o.list != "" {
			return badInput(err)
		}
		o.notef("no erasure list at %s: if data was erased after the backup, it is back; use --erasures FILE with an empty store", path)
		return nil
	}
	folders, err := o.eraseFolders()
	if err != nil {
		return err
	}
	svc := &erasure.Service{
		DB: o.svc.DB, List: erasure.List(filepath.Join(o.cfg.Data, erasure.ListFile)), Folders: folders,
		Secrets: o.svc.Secrets, Log: o.log, Now: o.env.Now,
	}
	n, ownerless, err := svc.Apply(ctx, erasure.List(path))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	o.notef("erasure list %s applied: %d accounts, workspaces, evals and runs of the backup erased again", path, n)
	for _, slug := range ownerless {
		o.notef("workspace %s has no owner: the account that owned it in the backup is erased, and the workspace is not: it was given to somebody since; its other members keep their roles, and firstpick admin erase workspace %s deletes it", slug, slug)
	}
	return nil
}
