package trafficdb

import (
	"context"
	"database/sql"
	"strings"
)

// A PageRef names a page.
type PageRef struct{ Host, Path string }

// NeverRead returns those of the given pages that no agent of the headline
// classes got in the window, in their order, limit at most. It is made for a
// sitemap of up to 50,000. Two paths are one page when they differ by slashes at
// the end or by .md before them; a touch without a host is of every host.
func (db *DB) NeverRead(ctx context.Context, workspace string, w Window, pages []PageRef, limit int) ([]PageRef, error) {
	if len(pages) == 0 || limit <= 0 {
		return nil, nil
	}
	var keys []string
	seen := map[string]bool{}
	for _, p := range pages {
		add(seen, pageKey(p.Host, p.Path), &keys)
		add(seen, pageKey("", p.Path), &keys)
	}
	found, err := ask(ctx, db, "never_read", func(rows *sql.Rows) (key string, err error) {
		err = rows.Scan(&key)
		return key, err
	}, w.only(workspace, joined(keys))...)
	if err != nil {
		return nil, err
	}
	read := make(map[string]bool, len(found))
	for _, key := range found {
		read[key] = true
	}
	var out []PageRef
	for _, p := range pages {
		if !read[pageKey(p.Host, p.Path)] && !read[pageKey("", p.Path)] {
			if out = append(out, p); len(out) == limit {
				break
			}
		}
	}
	return out, nil
}

// pageKey names a page as never_read.sql does.
func pageKey(host, path string) string {
	return strings.ToLower(host) + strings.TrimSuffix(strings.TrimRight(path, "/"), ".md")
}
