package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/analytics/duck"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/store/erasure"
	"github.com/firstpick/firstpick/server/store/identity"
)

// An erasePlace is where a search found a text.
type erasePlace struct {
	Where string `json:"where"`
	Text  string `json:"text"`
	What  string `json:"what"`
}

// outOfReach are places that no search of this machine covers.
const outOfReach = "out of reach: backups, delivered mails, logs of the server's process, published snapshots, and free pages of PostgreSQL's files (VACUUM FULL rewrites them)"

// eraseCheck searches the store and all files for texts.
func (o *adminOptions) eraseCheck(ctx context.Context, texts []string) error {
	for _, text := range texts {
		if len(text) < 3 {
			return usageErr("", "%q is too short to search for: give ids, slugs, names or addresses of at least 3 characters", text)
		}
	}
	for _, text := range texts {
		if email, ok := identity.ParseEmail(text); ok { // how events name a person
			if hashed, err := event.Identity(email, ""); err == nil {
				texts = append(texts, hashed)
			}
		}
	}
	found, rows, err := o.svc.DB.Search(ctx, texts)
	if err != nil {
		return err
	}
	var places []erasePlace
	for _, f := range found {
		places = append(places, erasePlace{"table " + f.Table, f.Text, f.Column + ", " + strconv.FormatInt(f.Rows, 10) + " rows"})
	}
	files, err := erasure.SearchFiles(ctx, o.searched(), texts)
	if err != nil {
		return err
	}
	for _, f := range files.Finds {
		what := "byte " + strconv.FormatInt(f.At, 10)
		if f.At < 0 {
			what = "its name"
		}
		places = append(places, erasePlace{f.Path, f.Text, strings.TrimSpace(what + " " + f.How)})
	}
	more, unread, err := o.searchDuckDB(ctx, texts)
	if err != nil {
		return err
	}
	places = append(places, more...)
	for _, err := range append(files.Failed, unread...) {
		o.notef("not searched whole: %v", err)
	}
	if o.json {
		if err := printJSON(o.env, map[string]any{"found": append([]erasePlace{}, places...), "rows": rows, "files": files.Files, "bytes": files.Bytes}); err != nil {
			return err
		}
	} else if len(places) > 0 {
		t := table{header: []string{"where", "text", "what"}}
		for _, p := range places {
			t.add(p.Where, p.Text, p.What)
		}
		if err := t.print(o.env, o.format); err != nil {
			return err
		}
	}
	o.notef("%s", outOfReach)
	read := fmt.Sprintf("%d rows and %d files (%.1f MB)", rows, files.Files, float64(files.Bytes)/1e6)
	if len(places) > 0 {
		err := fmt.Errorf("found in %s, of %s", counted(len(places), "place"), read)
		if session := filepath.Join(o.cfg.Data, agentFile); slices.ContainsFunc(places, func(p erasePlace) bool { return p.Where == session }) {
			err = &codedError{err, exitFailed, session + " is the session of firstpick agent on this machine: firstpick agent forget deletes it"}
		}
		return err
	}
	o.notef("nothing found in %s", read)
	return nil
}

// searched are the folders and files of this server.
func (o *adminOptions) searched() []string {
	paths := []string{o.cfg.Data}
	if u, err := url.Parse(o.cfg.State); err == nil && u.Scheme == "sqlite" {
		file := filepath.FromSlash(u.Path)
		paths = append(paths, file, file+"-wal", file+"-shm")
	}
	if dir := o.mailFolder(); dir != "" {
		paths = append(paths, dir)
	}
	if root, _, err := o.bundles(); err == nil {
		paths = append(paths, root)
	}
	return paths
}

// searchDuckDB searches the columns of DuckDB files, whose bytes are compressed.
func (o *adminOptions) searchDuckDB(ctx context.Context, texts []string) (places []erasePlace, unread []error, err error) {
	err = filepath.WalkDir(o.cfg.Data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if !d.Type().IsRegular() || filepath.Ext(path) != ".duckdb" {
			return nil
		}
		found, err := duck.Search(ctx, path, texts)
		if _, locked := duck.IsLocked(err); locked {
			unread = append(unread, fmt.Errorf("%s is open in another process: only its bytes were searched, and they are compressed", path))
			return nil
		}
		if err != nil {
			unread = append(unread, fmt.Errorf("%s: %w", path, err))
			return nil
		}
		for _, f := range found {
			places = append(places, erasePlace{path, f.Text, f.Table + "." + f.Column + ", " + strconv.FormatInt(f.Rows, 10) + " rows"})
		}
		return nil
	})
	return places, unread, err
}
