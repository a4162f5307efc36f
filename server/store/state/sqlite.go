package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	sqliteReaders = 4
	// batchMax bounds how many transactions share one commit.
	batchMax = 256
)

// openSQLite opens sqlite:///FILE. All writes go through one connection, whose
// commits many transactions share (groupCommit); reads have connections of their
// own and see the last commit.
func openSQLite(ctx context.Context, address string) (*DB, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || u.Path == "" {
		return nil, errors.New("write sqlite:///absolute/file")
	}
	file := filepath.FromSlash(u.Path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o600) // for its mode; SQLite would take the umask's
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	// A "?" or "%" in the name must not end the path.
	dsn := "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)"
	writer, err := sql.Open("sqlite", dsn+"&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=secure_delete(fast)")
	if err != nil {
		return nil, err
	}
	writer.SetMaxOpenConns(1)
	conn, err := firstConn(ctx, writer)
	if err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	read, err := sql.Open("sqlite", dsn+"&mode=ro")
	if err != nil {
		return nil, errors.Join(err, conn.Close(), writer.Close())
	}
	read.SetMaxOpenConns(sqliteReaders)
	read.SetMaxIdleConns(sqliteReaders)
	g := &groupCommit{pool: writer, sql: &statements{conn, map[string]*sql.Stmt{}}, jobs: make(chan *writeJob, batchMax), done: make(chan struct{})}
	go g.run()
	return &DB{read: read, eng: g}, nil
}

// firstConn connects to a store that another process may be opening: the change to a
// write-ahead log fails at once while another one looks at the file, whatever the timeout.
func firstConn(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		conn, err := pool.Conn(ctx)
		var failed *sqlite.Error
		if err == nil || !errors.As(err, &failed) || failed.Code()&0xff != sqlite3.SQLITE_BUSY {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// A writeJob is a transaction that waits for its turn.
type writeJob struct {
	ctx  context.Context
	fn   func(context.Context, querier) error
	done chan error
	// alone is set for what SQLite refuses in a transaction.
	alone bool
}

// groupCommit is SQLite's single writer. While one commit waits for the disk,
// transactions gather; the next commit takes them all, each under a savepoint,
// so that one may fail without the others. There is no timer: a lone transaction
// starts at once.
type groupCommit struct {
	pool *sql.DB
	sql  *statements
	jobs chan *writeJob
	done chan struct{}

	mu     sync.RWMutex
	closed bool
}

func (g *groupCommit) name() string      { return "sqlite" }
func (g *groupCommit) forUpdate() string { return "" } // there is one writer

var errClosed = errors.New("the state store is closed")

func (g *groupCommit) bulk(ctx context.Context, fn func(context.Context, querier) error) error {
	return g.write(ctx, fn)
}

func (g *groupCommit) write(ctx context.Context, fn func(context.Context, querier) error) error {
	return g.do(&writeJob{ctx: ctx, fn: fn, done: make(chan error, 1)})
}

// do queues a job and waits for its outcome.
func (g *groupCommit) do(job *writeJob) error {
	ctx := job.ctx
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return errClosed
	}
	select {
	case g.jobs <- job:
		g.mu.RUnlock()
	case <-ctx.Done():
		g.mu.RUnlock()
		return ctx.Err()
	}
	// From here on the job may run, so wait for its outcome: a caller that gives up
	// would not know whether it was stored.
	return <-job.done
}

func (g *groupCommit) close() error {
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		close(g.jobs)
	}
	g.mu.Unlock()
	<-g.done
	return errors.Join(g.sql.close(), g.pool.Close())
}

func (g *groupCommit) run() {
	defer close(g.done)
	for job := range g.jobs {
		if job.alone {
			job.done <- runJob(job.ctx, job.fn, g.sql.conn)
			continue
		}
		batch := []*writeJob{job}
		var alone *writeJob
	gather:
		for len(batch) < batchMax {
			select {
			case next, open := <-g.jobs:
				if !open {
					break gather
				}
				if next.alone {
					alone = next
					break gather
				}
				batch = append(batch, next)
			default:
				break gather
			}
		}
		g.commit(batch)
		if alone != nil {
			alone.done <- runJob(alone.ctx, alone.fn, g.sql.conn)
		}
	}
}

// errReaders means that a reader kept the log of SQLite in use.
var errReaders = errors.New("a reader keeps the write-ahead log in use; it will be retried")

// scrub rewrites the file without the free parts that still hold deleted rows, and
// empties the write-ahead log. Writers wait for it.
func (g *groupCommit) scrub(ctx context.Context) error {
	return g.do(&writeJob{ctx: ctx, done: make(chan error, 1), alone: true, fn: func(ctx context.Context, q querier) error {
		if _, err := q.ExecContext(ctx, "vacuum"); err != nil {
			return err
		}
		var busy, size, moved int64
		err := q.QueryRowContext(ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, &size, &moved)
		if err == nil && busy != 0 {
			err = errReaders
		}
		return err
	}})
}

// commit runs a batch in one transaction and reports the result to every job. The
// statements ignore their callers' contexts: a statement that SQLite interrupts
// rolls back the whole transaction.
func (g *groupCommit) commit(batch []*writeJob) {
	ctx := context.Background()
	results := make([]error, len(batch))
	err := func() error {
		if _, err := g.sql.ExecContext(ctx, "begin immediate"); err != nil {
			return err
		}
		for i, job := range batch {
			if results[i] = job.ctx.Err(); results[i] != nil {
				continue
			}
			if _, err := g.sql.ExecContext(ctx, "savepoint job"); err != nil {
				return err
			}
			if results[i] = runJob(ctx, job.fn, g.sql); results[i] != nil {
				if _, err := g.sql.ExecContext(ctx, "rollback to job"); err != nil {
					return errors.Join(results[i], err) // SQLite has given the whole transaction up
				}
			}
			if _, err := g.sql.ExecContext(ctx, "release job"); err != nil {
				return err
			}
		}
		_, err := g.sql.ExecContext(ctx, "commit")
		return err
	}()
	if err != nil {
		_, _ = g.sql.ExecContext(ctx, "rollback") // the transaction may have ended already
	}
	for i, job := range batch {
		if err != nil && results[i] == nil {
			results[i] = err
		}
		job.done <- results[i]
	}
}

// runJob turns a panic into an error: one request's fault must not end the
// writer of all.
func runJob(ctx context.Context, fn func(context.Context, querier) error, q querier) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a transaction panicked: %v", p)
		}
	}()
	return fn(ctx, q)
}

func (g *groupCommit) isDown(err error) bool {
	if errors.Is(err, errClosed) || errors.Is(err, sql.ErrConnDone) {
		return true
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff { // the primary result code
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOTADB:
		return true
	}
	return strings.Contains(e.Error(), "disk")
}
