package state

import (
	"context"
	"database/sql"
	"errors"
)

// statements are the prepared statements of SQLite's writing connection, by
// their text, of which there are as many as queries in this package. Only the
// writer uses them.
type statements struct {
	conn  *sql.Conn
	known map[string]*sql.Stmt
}

func (s *statements) prepare(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt := s.known[query]; stmt != nil {
		return stmt, nil
	}
	stmt, err := s.conn.PrepareContext(ctx, query)
	if err == nil {
		s.known[query] = stmt
	}
	return stmt, err
}

func (s *statements) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(ctx, args...)
}

func (s *statements) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

func (s *statements) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	stmt, err := s.prepare(ctx, query)
	if err != nil {
		return s.conn.QueryRowContext(ctx, query, args...) // for the same error, in a Row
	}
	return stmt.QueryRowContext(ctx, args...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range s.known {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, s.conn.Close())...)
}
