package state

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	pgConns       = 16
	pgConnectWait = 2 * time.Second
	pgRetries     = 8
	pgTransaction = 10 * time.Second
)

// openPostgres opens postgres://... with a bounded pool. PostgreSQL groups
// commits by itself.
func openPostgres(ctx context.Context, address string) (*DB, error) {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, errors.New("the address cannot be read; write postgres://USER:PASSWORD@HOST/DATABASE") // pgx's own text may hold the password
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = pgConnectWait
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "firstpick"
	}
	pool := stdlib.OpenDB(*cfg)
	pool.SetMaxOpenConns(pgConns)
	pool.SetMaxIdleConns(pgConns)
	pool.SetConnMaxIdleTime(time.Minute)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &DB{read: pool, eng: &postgres{pool}}, nil
}

type postgres struct{ pool *sql.DB }

func (p *postgres) name() string { return "postgres" }

// scrub does nothing: PostgreSQL reuses the room of deleted rows by itself (autovacuum).
func (p *postgres) scrub(context.Context) error { return nil }

func (p *postgres) forUpdate() string { return " for update" }
func (p *postgres) close() error      { return nil } // the pool is also the readers'

// write runs fn at the default isolation; rows that a decision rests on are
// locked with forUpdate. Deadlocks and serialization failures are run again.
func (p *postgres) write(ctx context.Context, fn func(context.Context, querier) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// A commit that is cut off halfway has an unknown outcome, so once begun a
	// transaction ends in its own time, whatever the caller's connection does.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pgTransaction)
	defer cancel()
	for try := 0; ; try++ {
		err := p.once(ctx, fn)
		if try == pgRetries || !isRetryable(err) {
			return err
		}
	}
}

func (p *postgres) bulk(ctx context.Context, fn func(context.Context, querier) error) error {
	return p.once(ctx, fn)
}

func (p *postgres) once(ctx context.Context, fn func(context.Context, querier) error) error {
	tx, err := p.pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := runJob(ctx, fn, tx); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) || errors.Is(err, driver.ErrBadConn) {
		return nil
	}
	return err
}

// isRetryable reports whether a transaction failed only because of another: a
// serialization failure, a deadlock, or a row that was not there when it looked
// (unique_violation; inserts here follow a lookup).
func isRetryable(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && (e.Code == "40001" || e.Code == "40P01" || e.Code == "23505")
}

func (p *postgres) isDown(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		switch e.Code[:min(2, len(e.Code))] {
		case "08", "53", "57", "58", "25": // connection, resources, shutdown, system, read-only
			return true
		}
		return isRetryable(err)
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, driver.ErrBadConn) ||
		errors.Is(err, sql.ErrConnDone) || errors.Is(err, sql.ErrTxDone) || pgconn.SafeToRetry(err) || pgconn.Timeout(err)
}
