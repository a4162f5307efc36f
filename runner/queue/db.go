package queue

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

const (
	connections  = 16
	connectWait  = 5 * time.Second
	queryWait    = 10 * time.Second
	migrateWait  = 2 * time.Minute
	migrateLock  = 7106192027 // any number that is ours
	queueName    = "firstpick_trials"
	channelReply = "firstpick_answer"
	channelSign  = "firstpick_signal"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// A DB is a PostgreSQL that holds a queue.
type DB struct {
	*codec
	pool *pgxpool.Pool
	log  *slog.Logger
}

// Open connects to postgres://... and migrates the tables; concurrent calls wait for
// each other. Lost and restored connections are logged.
func Open(ctx context.Context, address string, log *slog.Logger) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("queue: malformed address; write postgres://USER:PASSWORD@HOST/DATABASE") // pgx's error may contain the password
	}
	cfg.MaxConns = connections
	c := cfg.ConnConfig
	c.ConnectTimeout = connectWait
	c.DialFunc = dialer().DialContext
	for name, value := range map[string]string{
		"application_name": "firstpick queue",
		// A worker that loses the connection in a transaction must not keep its rows
		// locked: the others could not write them off.
		"idle_in_transaction_session_timeout": "10s",
		"tcp_keepalives_idle":                 "5", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
	} {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	codec, err := newCodec()
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("queue: %w", err)
	}
	db := &DB{codec, pool, log}
	migrating, cancel := context.WithTimeout(ctx, migrateWait)
	defer cancel()
	if err := db.migrate(migrating); err != nil {
		db.Close()
		return nil, fmt.Errorf("queue: %w", err)
	}
	return db, nil
}

// dialer detects a peer that disappeared without closing the connection.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         connectWait,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 3},
		Control:         giveUpSending,
	}
}

// Close closes the connections.
func (db *DB) Close() {
	db.pool.Close()
	db.open.Close()
}

// migrate applies River's migrations and ours, under one lock.
func (db *DB) migrate(ctx context.Context) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", migrateLock); err != nil {
		return err
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", migrateLock) }()
	m, err := rivermigrate.New(riverpgxv5.New(db.pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return migrateOurs(ctx, tx) })
}

func migrateOurs(ctx context.Context, tx pgx.Tx) error {
	names, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, "create table if not exists queue_version (version integer primary key)"); err != nil {
		return err
	}
	var have int
	if err := tx.QueryRow(ctx, "select coalesce(max(version), 0) from queue_version").Scan(&have); err != nil {
		return err
	}
	if have > len(names) {
		return fmt.Errorf("the schema version %d is newer than this program's %d; update firstpick", have, len(names))
	}
	for version := have + 1; version <= len(names); version++ {
		ddl, err := schemaFiles.ReadFile(names[version-1])
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(ddl)); err != nil {
			return fmt.Errorf("%s: %w", names[version-1], err)
		}
		if _, err := tx.Exec(ctx, "insert into queue_version (version) values ($1)", version); err != nil {
			return err
		}
	}
	return nil
}
