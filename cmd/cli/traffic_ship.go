package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/cmd/agentauth"
	"github.com/firstpick/firstpick/cmd/ship"
)

const (
	keyVariable = "FIRSTPICK_KEY"
	urlVariable = "FIRSTPICK_URL"
	// frameEvery is how often the line on a terminal is drawn, lineEvery how often a
	// plain one is printed.
	frameEvery = 200 * time.Millisecond
	lineEvery  = 10 * time.Second
)

type shipOptions struct {
	*app
	key, keyEnv, format, host, spool string
	backfill, once, all, json        bool
	files                            []string

	drawn time.Time // when progress was last shown
	line  bool      // a line is on the terminal that is not ended
}

func newShipCmd(env *Env) *cobra.Command {
	o := &shipOptions{}
	cmd := &cobra.Command{
		Use:   "ship FILE...",
		Short: "Ship agent visits from access logs, and follow the logs",
		Long: `Read access logs of nginx, Apache, Caddy and others, and send agent visits to the
collector of a service. Logs are followed through rotations and restarts; each line
counts once, even if a log is shipped twice.

Human page views and query strings are not sent, except link tags.

  firstpick traffic ship --server https://HOST /var/log/nginx/access.log
  firstpick traffic ship --backfill --once /var/log/nginx/access.log*

The buffer folder (--spool) keeps the read offset of each log and unsent events: do not
delete it.`,
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if o.app, err = newApp(env, cmd); err != nil {
				return err
			}
			o.files = args
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	addServerFlag(f, "$"+urlVariable+", or http://"+demoListen, "url")
	f.StringVar(&o.key, "key", "", "collector key (prefer the environment variable: other users can see flags)")
	f.StringVar(&o.keyEnv, "key-env", keyVariable, "environment variable with the key")
	f.StringVar(&o.format, "format", "auto", "auto, combined, apache, nginx, caddy, or json (collector events, one per line)")
	f.StringVar(&o.host, "host", "", "host name of the site, for logs that do not name it")
	f.BoolVar(&o.backfill, "backfill", false, "ship old logs, up to 400 days, including .gz files")
	f.StringVar(&o.spool, "spool", "", "buffer folder (default: ship in the data folder)")
	f.BoolVar(&o.once, "once", false, "read to the end, send, and stop")
	f.BoolVar(&o.all, "all", false, "also send human page views")
	f.BoolVar(&o.json, "json", false, "print progress and the summary as JSON lines")
	cmd.MarkFlagsMutuallyExclusive("key", "key-env")
	return cmd
}

func (o *shipOptions) run(ctx context.Context) error {
	cfg, err := o.config()
	if err != nil {
		return err
	}
	o.drawn = o.env.Now()
	stats, err := ship.Run(ctx, cfg)
	o.clear()
	var refused *ship.RefusedError
	var spool *ship.SpoolError
	var path *os.PathError
	switch {
	case errors.Is(err, context.Canceled) && !o.once:
		err = nil // following ends that way
	case errors.As(err, &refused) && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusForbidden):
		return &codedError{err, exitFailed, "create one with firstpick agent key --label NAME; the next run sends the buffered events"}
	case errors.As(err, &refused):
		return &codedError{err, exitFailed, "--server must be the root of the service, such as https://firstpick.example"}
	case errors.Is(err, ship.ErrAway):
		err = &codedError{err, exitIncomplete, "run it again later: it continues where it stopped"}
	case errors.Is(err, ship.ErrLocked):
		return usageErr("--spool FOLDER", "%w", err)
	case errors.As(err, &spool):
		return usageErr(spoolHint(spool), "%w", err)
	case errors.Is(err, ship.ErrNoHost):
		return usageErr("--host HOST: the host name of the site that wrote the log", "%w", err)
	case errors.As(err, &path):
		return badInput(err)
	}
	return errors.Join(err, o.summary(stats, cfg.Spool))
}

// spoolHint returns what to do about a buffer folder of another service or workspace. Its
// offsets are of use to that one only, so no advice is to delete it.
func spoolHint(e *ship.SpoolError) string {
	const other = "--spool FOLDER gives each service and workspace a folder of its own"
	if e.URL != e.ToURL {
		return "--server " + e.URL + " continues there; " + other
	}
	return "the key is of another workspace; " + other
}

// config checks the flags.
func (o *shipOptions) config() (ship.Config, error) {
	format, err := ship.ParseFormat(o.format)
	if err != nil {
		return ship.Config{}, unknownValue("--format: unknown format", o.format, []string{"auto", "combined", "apache", "nginx", "caddy", "json"})
	}
	base := cmp.Or(o.cfg.Server, o.env.Getenv(urlVariable), o.localURL())
	base, err = agentauth.CheckBase(base) // the key is not sent in clear to the outside
	if err != nil {
		return ship.Config{}, usageErr("--server https://HOST", "--server: %w", err)
	}
	key := o.key
	if key == "" {
		key = o.env.Getenv(o.keyEnv)
	}
	if key = strings.TrimSpace(key); key == "" {
		return ship.Config{}, usageErr("create one with firstpick agent key --kind log --label NAME; export "+o.keyEnv+"=log_live_...", "no collector key: $%s is empty", o.keyEnv)
	}
	if strings.ContainsFunc(key, unicode.IsSpace) { // no request could have it, and shipping would wait for a better answer
		return ship.Config{}, usageErr("give the key alone, without other lines or words", "malformed collector key: it has blanks or several lines")
	}
	if strings.HasPrefix(key, "pk_") {
		return ship.Config{}, usageErr("use a key of kind log or secret", "a publishable key is for browsers, and cannot send logs")
	}
	if o.backfill && strings.HasPrefix(key, "log_") {
		return ship.Config{}, usageErr("create one with firstpick agent key --label NAME", "--backfill needs a secret key")
	}
	for i, file := range o.files {
		if file != "-" && slices.Contains(o.files[:i], file) {
			return ship.Config{}, usageErr("", "%s is given twice", file)
		}
	}
	spool := o.spool
	if spool == "" {
		spool = filepath.Join(o.cfg.Data, "ship")
	}
	return ship.Config{
		Files: o.files, Stdin: o.env.Stdin, Format: format, Host: o.host, Once: o.once, Backfill: o.backfill, All: o.all,
		URL: base, Key: key, Spool: spool, Now: o.env.Now, Sleep: o.env.Sleep, Progress: o.progress, Say: o.notify,
	}, nil
}

// notify prints a line for people.
func (o *shipOptions) notify(text string) {
	o.clear()
	_, _ = fmt.Fprintln(o.env.Stderr, agentauth.Printable(text, 1000))
}

// clear takes the line of progress away.
func (o *shipOptions) clear() {
	if o.line {
		_, _ = fmt.Fprint(o.env.Stderr, "\r\033[K")
		o.line = false
	}
}

// progress shows how it goes, now and then.
func (o *shipOptions) progress(s ship.Stats) {
	every, now := lineEvery, o.env.Now()
	live := o.env.StderrIsTTY && !o.json
	if live {
		every = frameEvery
	}
	if now.Sub(o.drawn) < every {
		return
	}
	o.drawn = now
	switch {
	case o.json:
		o.printLine("progress", s)
	case live:
		o.clear()
		_, _ = fmt.Fprint(o.env.Stderr, agentauth.Printable(status(s), terminalWidth))
		o.line = true
	default:
		_, _ = fmt.Fprintln(o.env.Stderr, agentauth.Printable(status(s), 1000))
	}
}

// terminalWidth is the maximum width of a redrawn line: longer ones would
// wrap, and stay.
const terminalWidth = 79

func status(s ship.Stats) string {
	text := fmt.Sprintf("%d lines   %d of agents   %d sent", s.Lines, s.Agents, s.Sent)
	for _, n := range []struct {
		count int64
		what  string
	}{{s.Duplicates, "known"}, {s.Rejected, "rejected"}, {s.Unreadable, "unreadable"}, {s.Spooled, "buffered"}} {
		if n.count > 0 {
			text += fmt.Sprintf("   %d %s", n.count, n.what)
		}
	}
	if s.Waiting != "" {
		text += "   waiting for the service"
	}
	return text
}

func (o *shipOptions) printLine(event string, s ship.Stats) {
	_ = json.NewEncoder(o.env.Stdout).Encode(struct { // a reader that went away is not missed
		Event string    `json:"event"`
		At    time.Time `json:"at"`
		ship.Stats
	}{event, o.env.Now().UTC(), s})
}

func (o *shipOptions) summary(s ship.Stats, spool string) error {
	if o.json {
		o.printLine("summary", s)
		return nil
	}
	t := table{header: []string{"lines", "agents", "sent", "duplicates", "rejected", "skipped", "unreadable", "old", "too long", "buffered"}}
	var cells []string
	for _, n := range []int64{s.Lines, s.Agents, s.Sent, s.Duplicates, s.Rejected, s.Skipped, s.Unreadable, s.Old, s.TooLong, s.Spooled} {
		cells = append(cells, fmt.Sprint(n))
	}
	t.add(cells...)
	if s.Lines == 0 && o.once && !slices.Contains(o.files, "-") {
		o.notify("note: no new lines; lines that were read before are not read again (" + spool + " has the offsets)")
	}
	return t.print(o.env, format{})
}
