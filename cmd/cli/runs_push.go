package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/evalclient"
	"github.com/firstpick/firstpick/publish/bundle"
	"github.com/firstpick/firstpick/runner"
	"github.com/firstpick/firstpick/runner/eval"
	"github.com/firstpick/firstpick/runner/journal"
)

// A pushOptions holds the flags of `firstpick runs push`.
type pushOptions struct {
	evalsOptions
	allowSynthetic bool
}

func newRunsPushCmd(env *Env) *cobra.Command {
	o := &pushOptions{}
	cmd := o.command(env, "push RUN", "Send a run with its journal to the team's server", cobra.ExactArgs(1), o.push)
	cmd.Long = `Send a whole run of this machine to a workspace on a server, which shows its scores and
trials next to the workspace's own runs, marked as pushed. The eval of the run is stored there if
it is missing. The server verifies size, SHA-256 and journal, sends no request to an agent, and
spends nothing.

An interrupted or killed push continues where it ended when the command is repeated. A run is
pushed once: repeated, the command prints the same run.

Sent are run.json and the journal, which has the prompts and the answers. Raw responses and
labels stay here. RUN may be the prefix of an id, or "last" for the newest run.`
	f := cmd.Flags()
	addServerFlag(f, "", "remote")
	f.String("eval-key-file", "", "file with the eval key, if FIRSTPICK_EVAL_KEY is not set")
	f.BoolVar(&o.allowSynthetic, "allow-synthetic", false, "push a run of simulated agents")
	f.BoolVar(&o.wait, "wait", false, "watch until the server has verified the run")
	f.BoolVar(&o.json, "json", false, "print the run as JSON, or with --wait its events as NDJSON")
	return cmd
}

func (o *pushOptions) push(ctx context.Context, args []string) (err error) {
	id, err := o.findRun(args[0])
	if err != nil {
		return err
	}
	held, err := journal.Hold(o.runsRoot(), id)
	if errors.Is(err, journal.ErrBusy) {
		return usageErr("push it when it has ended", "%w", err)
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	proof, digest, err := o.prove(ctx, id)
	if err != nil {
		return err
	}
	files, err := journal.Files(o.runsRoot(), id, proof.End)
	if err != nil {
		return err
	}
	req := evalclient.UploadRequest{Run: id, EvalDigest: digest}
	for _, f := range files {
		sum, err := hashStart(f.Path, f.Bytes)
		if err != nil {
			return err
		}
		req.Files = append(req.Files, evalclient.AnnouncedFile{Name: f.Name, Bytes: f.Bytes, SHA256: sum})
	}
	source := &pushFiles{files: files}
	defer func() { err = errors.Join(err, source.Close()) }()
	r, err := o.send(ctx, proof.Run.Eval, req, source)
	if err != nil {
		return err
	}
	return o.pushed(ctx, r)
}

// prove proves that a run is whole, and returns the digest of its eval.
func (o *pushOptions) prove(ctx context.Context, id string) (*runner.Proof, string, error) {
	proof, err := runner.Prove(ctx, o.runsRoot(), id)
	var unproven *runner.UnprovenError
	switch {
	case errors.As(err, &unproven) && unproven.Missing > 0:
		return nil, "", &codedError{fmt.Errorf("run %s: %w", id, err), exitIncomplete, "firstpick run --resume " + id}
	case errors.As(err, &unproven):
		return nil, "", usageErr("only whole runs of an eval can be pushed", "run %s: %w", id, err)
	case err != nil:
		return nil, "", err
	case proof.Run.Synthetic && !o.allowSynthetic:
		return nil, "", usageErr("--allow-synthetic pushes it; its results stay marked", "run %s has answers of simulated agents", id)
	}
	ev := proof.Run.Eval
	digest, err := bundle.EvalDigest(ev)
	if err != nil {
		return nil, "", err
	}
	digests := map[string]string{}
	for _, t := range ev.Sources {
		digests[t.Name] = t.Digest
	}
	pinned, err := eval.Pin([]byte(ev.Source), digests)
	if err != nil {
		return nil, "", badInput(fmt.Errorf("eval of run %s, %w", id, err))
	}
	proof.Run.Eval.Source = string(pinned)
	read, err := eval.Parse("eval of run "+id, pinned)
	if err != nil {
		return nil, "", badInput(err)
	}
	if len(read.Agents) != len(ev.Agents) {
		return nil, "", usageErr("make an eval file of these agents and run it", "run %s has %d of the %d agents of eval %s (--agent)", id, len(ev.Agents), len(read.Agents), ev.Name)
	}
	if text, err := bundle.EvalDigest(*read); err != nil {
		return nil, "", err
	} else if text != digest {
		return nil, "", usageErr("push it with the version of firstpick that made it, or run the eval again", "this version of firstpick reads the eval of run %s differently", id)
	}
	return proof, digest, nil
}

// send stores the eval if the server lacks it, and sends the run.
func (o *pushOptions) send(ctx context.Context, ev eval.Eval, req evalclient.UploadRequest, source *pushFiles) (*evalclient.Run, error) {
	sent := func(have, all int64) {
		_, _ = fmt.Fprintf(o.env.Stderr, "sent %d of %d KiB\n", have>>10, all>>10)
	}
	stored, err := o.client.FindEval(ctx, ev.Name)
	if err == nil {
		var r *evalclient.Run
		r, err = o.client.Push(ctx, stored.ID, req, source.open, sent)
		if err == nil || !evalclient.IsCode(err, evalclient.CodeEvalVersion) {
			return r, err
		}
	} else if !evalclient.IsCode(err, evalclient.CodeEvalNotFound) {
		return nil, err
	}
	if stored, err = o.client.PutPushed(ctx, []byte(ev.Source)); err != nil {
		return nil, placed("eval of run "+req.Run, err)
	}
	if stored.Digest != req.EvalDigest {
		return nil, &codedError{fmt.Errorf("the server reads eval %s differently", ev.Name), exitFailed, "use the same version of firstpick here and there"}
	}
	_, _ = fmt.Fprintf(o.env.Stderr, "stored eval %s, version %d\n", clean(stored.Name), stored.Version)
	return o.client.Push(ctx, stored.ID, req, source.open, sent)
}

// pushed reports the run on the server.
func (o *pushOptions) pushed(ctx context.Context, r *evalclient.Run) error {
	_, _ = fmt.Fprintf(o.env.Stderr, "run %s: %s version %d, %d trials, pushed\n", clean(r.ID), clean(r.EvalName), r.EvalVersion, r.Planned)
	if who, err := o.client.Whoami(ctx); err == nil {
		_, _ = fmt.Fprintf(o.env.Stderr, "page: %s/workspaces/%s/runs/%s\n", strings.TrimRight(o.client.Base, "/"), url.PathEscape(who.Workspace.Slug), url.PathEscape(r.ID))
	}
	switch {
	case o.wait:
		return o.watch(ctx, r)
	case o.json:
		return printJSON(o.env, r)
	}
	if _, err := fmt.Fprintln(o.env.Stdout, clean(r.ID)); err != nil {
		return err
	}
	_, err := fmt.Fprintf(o.env.Stderr, "next: firstpick evals watch %s\n", clean(r.ID))
	return err
}

// pushFiles opens the files of a run, one at a time.
type pushFiles struct {
	files []journal.File
	name  string
	at    *os.File
}

func (p *pushFiles) open(name string) (io.ReaderAt, error) {
	if p.name == name && p.at != nil {
		return p.at, nil
	}
	if err := p.Close(); err != nil {
		return nil, err
	}
	for _, f := range p.files {
		if f.Name == name {
			at, err := os.Open(f.Path)
			p.name, p.at = name, at
			return at, err
		}
	}
	return nil, fmt.Errorf("the server asks for %q, which the run does not have", clean(name))
}

// Close closes the open file.
func (p *pushFiles) Close() error {
	if p.at == nil {
		return nil
	}
	err := p.at.Close()
	p.at = nil
	return err
}

// hashStart returns the SHA-256 of the first bytes of a file.
func hashStart(path string, bytes int64) (_ string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.CopyN(h, f, bytes); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
