package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/publish"
	"github.com/firstpick/firstpick/publish/bundle"
	bundleformat "github.com/firstpick/firstpick/publish/bundle/format"
	"github.com/firstpick/firstpick/publish/storage"
)

// An app holds the dependencies of most commands: the process, the configuration and
// the file locations.
type app struct {
	env *Env
	cfg Config
	log *slog.Logger
	// loaded loads the catalogue at its first call, and returns the same for copies of the app; nil
	// without newApp, as in tests.
	loaded func() (*catalog.Catalog, error)
}

// newApp reads the configuration for a command.
func newApp(env *Env, cmd *cobra.Command) (*app, error) {
	cfg, err := loadConfig(env, cmd.Flags())
	if err != nil {
		return nil, err
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(cfg.LogLevel)); err != nil {
		return nil, usageErr("", "log-level must be debug, info, warn or error (got %q)%s", cfg.LogLevel, meant(cfg.LogLevel, "debug", "info", "warn", "error"))
	}
	opts := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(env.Stderr, opts)
	if cfg.LogFormat == "json" {
		h = slog.NewJSONHandler(env.Stderr, opts)
	}
	a := &app{env: env, cfg: cfg, log: slog.New(h), loaded: sync.OnceValues(func() (*catalog.Catalog, error) { return loadCatalog(cfg.Catalog) })}
	for _, d := range cfg.Deprecated {
		warnDeprecated(env, "configuration key "+d[0], d[1])
	}
	if env.Environ != nil {
		for _, warning := range unknownVariables(env.Environ()) {
			a.log.Warn(warning)
		}
	}
	return a, nil
}

// localURL is where a server of this machine and configuration is found.
func (a *app) localURL() string {
	host, port, err := net.SplitHostPort(a.cfg.Listen)
	if err != nil {
		return "http://" + demoListen
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func (a *app) runsRoot() string   { return filepath.Join(a.cfg.Data, "runs") }
func (a *app) trialsPath() string { return filepath.Join(a.cfg.Data, "trials.duckdb") }

// snapshots returns the place of snapshots; at overrides the configuration.
func (a *app) snapshots(at string) (publish.Place, error) {
	store, err := a.storage("snapshots", cmp.Or(at, a.cfg.Snapshots))
	return publish.Place{Store: store, Cache: filepath.Join(a.cfg.Data, "cache", "snapshots"), Now: a.env.Now}, err
}

// storage returns the place in a key of the configuration; if it is empty, that is in the
// data folder.
func (a *app) storage(key, at string) (storage.Store, error) {
	store, err := storage.FromURL(cmp.Or(at, filepath.Join(a.cfg.Data, key)), a.env.Getenv)
	if err != nil {
		return nil, usageErr("", "%s: %w", key, err)
	}
	return store, nil
}

// bundles returns the folder of the results of workspaces' runs. Where they are in a bucket,
// which is then not nil, it is the folder of the copies.
func (a *app) bundles() (root string, bucket storage.Store, err error) {
	store, err := a.storage("bundles", a.cfg.Bundles)
	if folder, ok := store.(storage.Folder); ok || err != nil {
		return string(folder), nil, err
	}
	return filepath.Join(a.cfg.Data, "cache", "bundles"), store, nil
}

// bundleTimeout bounds the copying of a bundle for a request.
const bundleTimeout = time.Minute

// fetchBundle returns a function that copies a bundle of a bucket to a folder; nil without a
// bucket.
func fetchBundle(root string, bucket storage.Store) func(workspace, id string) error {
	if bucket == nil {
		return nil
	}
	return func(workspace, id string) error {
		if _, err := os.Stat(filepath.Join(root, workspace, id, bundleformat.ManifestName)); err == nil {
			return nil // it is whole
		}
		ctx, cancel := context.WithTimeout(context.Background(), bundleTimeout)
		defer cancel()
		if err := bundle.Copy(ctx, storage.Folder(root), bucket, workspace, id); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil // opening it reports that
	}
}

// catalog returns the catalogue: the configured folder, or the built-in one.
func (a *app) catalog() (*catalog.Catalog, error) {
	if a.loaded == nil {
		return loadCatalog(a.cfg.Catalog)
	}
	return a.loaded()
}

// loadCatalog loads the catalogue of a folder; the built-in one where dir is empty.
func loadCatalog(dir string) (*catalog.Catalog, error) {
	if dir == "" {
		return catalog.Load(fixtures.Files(), "catalog")
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return nil, usageErr("--catalog must be a folder of .yaml files", "catalog: %s is not a folder", dir)
	}
	cat, err := catalog.Load(os.DirFS(dir), ".")
	return cat, badInput(err)
}

// snapshotID resolves a name of a snapshot: an id, a unique start of one, or
// "current".
func snapshotID(ctx context.Context, from publish.Place, name string) (string, error) {
	if name == "" || name == "current" {
		id, err := from.Current(ctx)
		if errors.Is(err, publish.ErrNotFound) {
			return "", usageErr("firstpick publish creates one", "no current snapshot in %s", from.Store)
		}
		return id, err
	}
	infos, err := from.List(ctx)
	if err != nil {
		return "", err
	}
	var found []string
	for _, info := range infos {
		if strings.HasPrefix(info.ID, name) {
			found = append(found, info.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", usageErr("firstpick snapshot list", "no snapshot %s in %s%s", name, from.Store, meant(name, "current"))
	default:
		return "", usageErr("give a longer prefix", "%s is the prefix of %d snapshots", name, len(found))
	}
}
