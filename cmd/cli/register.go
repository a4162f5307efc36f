package cli

import (
	"context"
	"fmt"

	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/translog"
	"github.com/firstpick/firstpick/runner/journal"
)

// enter appends the plan of a run to the log, before its first request.
func (o *runOptions) enter(ctx context.Context, run *journal.Run) error {
	to, err := o.snapshots(o.to)
	if err != nil {
		return err
	}
	l, err := o.publicLog(ctx, to.Store, o.sign)
	if err != nil {
		return fmt.Errorf("not registered, nothing was sent: %w", err)
	}
	digest, err := publish.DigestOf(run.Eval)
	if err != nil {
		return err
	}
	e := translog.Entry{
		Kind: translog.Registration, At: l.now(), Eval: run.Eval.Name, Category: run.Eval.Category, SHA256: digest,
		Planned: run.Planned, Agents: len(run.Eval.Agents), Prompts: len(run.Eval.Prompts),
	}
	if run.Until != nil {
		e.Until = run.Until.Rule
	}
	index, err := l.add(ctx, e)
	if err != nil {
		return fmt.Errorf("not registered, nothing was sent: %w", err)
	}
	run.Registered = &journal.Registered{Index: index, At: e.At, Log: translog.Origin(publicKey(l.Signer))}
	_, _ = fmt.Fprintf(o.env.Stderr, "registered: entry %d of the log in %s\n", index, to.Store)
	return nil
}

// registered returns the runs that are registered in this log. Two logs may have the same
// key, so the entry is compared and not only the name of the log.
func (l *publicLog) registered() (map[string]journal.Registered, error) {
	runs, _, err := journal.List(l.runsRoot())
	if err != nil {
		return nil, err
	}
	out := map[string]journal.Registered{}
	for _, r := range runs {
		if r.Registered == nil {
			continue
		}
		has, err := l.registers(r)
		if err != nil {
			return nil, err
		}
		if !has {
			l.note("run %s is registered in another log; the snapshot does not show it as registered", r.ID)
			continue
		}
		out[r.ID] = *r.Registered
	}
	return out, nil
}

// registers reports whether the log has the registration of a run.
func (l *publicLog) registers(r journal.Run) (bool, error) {
	at := r.Registered.Index
	if at < 0 || at >= int64(len(l.entries)) || r.Registered.Log != translog.Origin(publicKey(l.Signer)) {
		return false, nil
	}
	digest, err := publish.DigestOf(r.Eval)
	e := l.entries[at]
	return e.Kind == translog.Registration && e.Eval == r.Eval.Name && e.Category == r.Eval.Category &&
		e.SHA256 == digest && e.At.Equal(r.Registered.At), err
}
