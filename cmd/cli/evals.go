package cli

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/agentauth"
	"github.com/firstpick/firstpick/cmd/evalclient"
)

// maxSecret bounds a file that holds a key.
const maxSecret = 64 << 10

// evalsOptions are the shared options of `firstpick evals`.
type evalsOptions struct {
	*app
	format
	client *evalclient.Client

	maxCost           float64
	wait, all, source bool
	version, limit    int
	status, agent     string
	filter            evalclient.Filter
	fileFormat, out   string
	hosts             []string
}

func newEvalsCmd(env *Env) *cobra.Command {
	o := &evalsOptions{}
	cmd := &cobra.Command{
		Use:   "evals",
		Short: "Run evals on a server and read their results",
		Long: `Work with the evals of a workspace on a server, over its eval API: store them, run them
within a budget, watch runs, and read scores and trials. run, runs, rank, explain, trial
and why work as the local commands do.

The server is --server, or FIRSTPICK_SERVER. The owner of the workspace creates
the key in the settings; set it as FIRSTPICK_EVAL_KEY, or in a file given by
--eval-key-file. EVAL is the name or the id of an eval.`,
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := cmd.PersistentFlags()
	addServerFlag(f, "", "remote")
	f.String("eval-key-file", "", "file with the eval key, if FIRSTPICK_EVAL_KEY is not set")
	cmd.AddCommand(o.listCmds(env)...)
	cmd.AddCommand(o.runCmds(env)...)
	cmd.AddCommand(o.resultCmds(env)...)
	cmd.AddCommand(o.catalogCmd(env), o.providerKeyCmd(env))
	return cmd
}

// command makes one that has a client.
func (o *evalsOptions) command(env *Env, use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: usage(args), RunE: func(cmd *cobra.Command, args []string) error {
		if err := o.open(env, cmd); err != nil {
			return err
		}
		return o.explain(run(cmd.Context(), args))
	}}
}

// open reads the configuration and finds server and key.
func (o *evalsOptions) open(env *Env, cmd *cobra.Command) (err error) {
	if o.app, err = newApp(env, cmd); err != nil {
		return err
	}
	if o.cfg.Server == "" {
		return usageErr("--server https://HOST, FIRSTPICK_SERVER, or server in a file given by --config", "no server given")
	}
	base, err := agentauth.CheckBase(o.cfg.Server)
	if err != nil {
		return usageErr("the server must be an https URL, or http on this machine", "server: %w", err)
	}
	key, err := o.evalKey()
	if err != nil {
		return err
	}
	o.client = &evalclient.Client{
		Base: base, Key: key, Now: env.Now, Sleep: env.Sleep, UserAgent: env.Build.UserAgent(),
		HTTP: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}},
	}
	return nil
}

func (o *evalsOptions) evalKey() (string, error) {
	key := strings.TrimSpace(o.cfg.EvalKey)
	if key == "" && o.cfg.EvalKeyFile != "" {
		var err error
		if key, err = secretFile(o.cfg.EvalKeyFile); err != nil {
			return "", usageErr("", "eval-key-file: %w", err)
		}
	}
	if key == "" {
		return "", usageErr("the owner of the workspace creates one in the settings; set FIRSTPICK_EVAL_KEY or --eval-key-file", "no eval key given")
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) { // its text must not be in the error
		return "", usageErr("an eval key begins with fpe_ and has no spaces", "malformed eval key")
	}
	return key, nil
}

func secretFile(path string) (_ string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return readKey(f)
}

// readKey reads a secret to its end.
func readKey(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxSecret+1))
	if err == nil && len(raw) > maxSecret {
		err = errors.New("larger than 64 KiB")
	}
	return strings.TrimSpace(string(raw)), err
}

// explain adds the next step to a failure.
func (o *evalsOptions) explain(err error) error {
	var coded *codedError
	var refused *evalclient.Error
	var unreachable *url.Error
	switch {
	case err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &refused):
		return &codedError{err, refusedCode(refused), o.evalsHint(refused)}
	case errors.As(err, &unreachable):
		return &codedError{err, exitFailed, "check that the server is running, or set --server"}
	default:
		return err
	}
}

// refusedCode is 2 for usage errors.
func refusedCode(e *evalclient.Error) int {
	if e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests {
		return exitUsage
	}
	return exitFailed
}

// evalsHint is the next step after a refusal.
func (o *evalsOptions) evalsHint(e *evalclient.Error) string {
	if hint := hintByCode(e.Code); hint != "" {
		return hint
	}
	switch {
	case len(e.Suggestions) > 0:
		return "choose one of " + clean(strings.Join(e.Suggestions, ", "))
	case e.Status == http.StatusNotFound && e.Code == "":
		return "check that " + clean(o.cfg.Server) + " is the root of a firstpick server"
	case e.RetryAfter > 0:
		return "try again in " + e.RetryAfter.String()
	case e.Status >= 500 && e.RequestID != "":
		return "the operator finds the cause in the log under request id " + e.RequestID
	default:
		return ""
	}
}

func hintByCode(code string) string {
	switch code {
	case evalclient.CodeInvalidToken, evalclient.CodeUnauthorized:
		return "the key is invalid or revoked: the owner of the workspace creates another in the settings"
	case evalclient.CodePlanRequired:
		return "private evals need the paid plan; the owner of the workspace changes it"
	case evalclient.CodeScope:
		return "use a key with that scope"
	case evalclient.CodeEvalNotFound:
		return "firstpick evals list shows them"
	case evalclient.CodeRunNotFound:
		return "firstpick evals runs shows them"
	case evalclient.CodeTrialNotFound:
		return "firstpick evals trial RUN shows them"
	case evalclient.CodeNoResults:
		return "results are available after the end of the run: firstpick evals watch RUN"
	case evalclient.CodeProviderKey:
		return "firstpick evals provider-key set NAME"
	case evalclient.CodeKeyHosts:
		return "firstpick evals provider-key list shows the hosts; the owner of the workspace can bind more in the settings"
	case evalclient.CodeCatalog:
		return "firstpick evals catalog pull FILE, and make your change there"
	case evalclient.CodeUploadConflict, evalclient.CodeTooManyUploads:
		return "firstpick evals runs shows the runs; the page of a run can erase it"
	case evalclient.CodeUploadsDisabled:
		return "the operator starts the server with --data"
	case evalclient.CodeQueueFull:
		return "wait until runs start, or cancel one: firstpick evals cancel RUN"
	default:
		return ""
	}
}
