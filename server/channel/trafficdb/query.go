package trafficdb

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/attribution"
	"github.com/firstpick/firstpick/server/channel/traffic"
)

//go:embed query/*.sql
var sqlFiles embed.FS

// query returns the text of a query with its @words written out.
func query(name string) string {
	text, err := sqlFiles.ReadFile("query/" + name + ".sql")
	if err != nil {
		panic(err) // a name in this package that is not a file in it
	}
	headline, noise := classes()
	return strings.NewReplacer(
		"@window", "workspace = $1 and happened_at >= $2 and happened_at < $3",
		"@only", "path <> "+quoted(traffic.TestPath)+" and ($4 = '' or lower(agent) = lower($4)) and ($5 = '' or host || path = $5 or path = $5 or"+
			" $5[-1] = '*' and (starts_with(host || path, $5[:-2]) or starts_with(path, $5[:-2]))) and ($6 = '' or "+sender+" = $6) and ($7 = '' or class = $7)",
		"@sender", sender,
		"@test", "(kind = "+quoted(attribution.TestKind)+" and order_id = "+quoted(attribution.TestOrder)+")",
		"@headline", in("class", headline...),
		"@noise", in("class", noise...),
		"@genuine", "verdict <> "+quoted(agentid.IPMismatch),
		"@spoofed", "verdict = "+quoted(agentid.IPMismatch),
		"@verified", in("verdict", agentid.VerifiedSignature, agentid.VerifiedIP, agentid.VerifiedDNS),
		"@person", in("class", agentid.Browser, agentid.None, ""),
		"@evident", in("evidence", evidences()...),
		"@asked", in("class", agentid.UserFetch, agentid.AgenticBrowser, agentid.CodingAgent),
		"@counts", counts(headline),
		"@names", "coalesce(array_to_string(list_slice(list_sort(list(distinct agent) filter (agent <> '')), 1, 20), chr(10)), '')",
		"@event", columnNames,
		"@touch", touchColumns,
	).Replace(string(text))
}

// sender names the assistant that a touch is of, or that sent a person.
const sender = "coalesce(nullif(family, ''), nullif(agent, ''), '" + attribution.OtherAgent + "')"

// columnNames are the columns of table event in their order.
const columnNames = `seq, workspace, id, type, happened_at, received_at, backfill, visitor, identity,
	host, path, method, status, content_type, duration_ms, bytes, markdown, user_agent,
	network, referrer, via, utm_source, source, claimed, self_report,
	mcp_method, mcp_tool, mcp_client, mcp_version,
	agent, family, operator, class, verdict, evidence,
	kind, value, currency, order_id, refund_of`

// evidences returns the kinds that competing touches have, strongest first.
func evidences() []string {
	return []string{attribution.SignedLink, attribution.Signature, attribution.Tag, attribution.Referrer, attribution.Declared}
}

// classes returns the classes of the headline, and those that are noise: all
// others but people.
func classes() (headline, noise []agentid.Class) {
	for _, c := range agentid.Classes() {
		switch {
		case c.Headline():
			headline = append(headline, c)
		case c != agentid.Browser && c != agentid.None:
			noise = append(noise, c)
		}
	}
	return headline, noise
}

func quoted[T ~string](s T) string { return "'" + string(s) + "'" }

func in[T ~string](column string, words ...T) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = quoted(w)
	}
	return column + " in (" + strings.Join(list, ", ") + ")"
}

// counts adds up n by class, one column each.
func counts(classes []agentid.Class) string {
	list := make([]string, len(classes))
	for i, c := range classes {
		list[i] = "coalesce(sum(n) filter (class = " + quoted(c) + "), 0)::bigint"
	}
	return strings.Join(list, ", ")
}

// A byClass scans the columns that counts makes.
type byClass struct {
	classes []agentid.Class
	n       []int64
}

func newByClass() *byClass {
	headline, _ := classes()
	return &byClass{headline, make([]int64, len(headline))}
}

// targets returns where to scan to.
func (b *byClass) targets() []any {
	out := make([]any, len(b.n))
	for i := range b.n {
		out[i] = &b.n[i]
	}
	return out
}

// counted returns the classes that occur.
func (b *byClass) counted() map[string]int64 {
	out := map[string]int64{}
	for i, n := range b.n {
		if n != 0 {
			out[string(b.classes[i])] = n
		}
	}
	return out
}

// names splits a list that @names joined.
func names(joined string) []string {
	if joined == "" {
		return nil
	}
	return strings.Split(joined, "\n")
}

// A querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// collect runs a query and returns the results of scan for all rows.
func collect[T any](ctx context.Context, q querier, name string, scan func(*sql.Rows) (T, error), args ...any) (_ []T, err error) {
	rows, err := q.QueryContext(ctx, query(name), args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(all) == cap(all) { // append alone copies large lists five times as often
			all = slices.Grow(all, max(len(all), 16))
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// ask is collect as a report of its own.
func ask[T any](ctx context.Context, db *DB, name string, scan func(*sql.Rows) (T, error), args ...any) (all []T, err error) {
	err = db.report(ctx, func(pool *sql.DB) error {
		all, err = collect(ctx, pool, name, scan, args...)
		return err
	})
	return all, err
}
