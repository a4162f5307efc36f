package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/firstpick/firstpick/server/store/identity"
)

// A Find is a place in the store that holds a searched text.
type Find struct {
	Table, Column string
	Text          string // that was found
	Rows          int64
}

// Search looks for texts in every column of every table, in any case. It opens sealed
// columns, and compares addresses with keyed hashes. It returns the number of rows that it
// read.
func (db *DB) Search(ctx context.Context, texts []string) ([]Find, int64, error) {
	conn, err := db.read.Conn(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = conn.Close() }()
	tx := &Tx{q: conn, db: db, ctx: ctx}
	names, err := tx.allTables(ctx)
	if err != nil {
		return nil, 0, err
	}
	sealed := map[string]map[string]string{}
	for _, h := range holdings() {
		sealed[h.table] = h.sealed
	}
	var out []Find
	var rows int64
	for _, table := range names {
		s := &tableSearch{tx: tx, table: table, sealed: sealed[table], texts: texts, found: map[[2]string]int64{}}
		if err := s.run(ctx); err != nil {
			return nil, rows, fmt.Errorf("table %s: %w", table, err)
		}
		rows += s.rows
		for _, column := range s.columns {
			for _, text := range texts {
				if n := s.found[[2]string{column, text}]; n > 0 {
					out = append(out, Find{table, column, text, n})
				}
			}
		}
	}
	return out, rows, nil
}

// allTables returns the tables of the store, also those that this program does not know.
func (tx *Tx) allTables(ctx context.Context) ([]string, error) {
	query := "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name"
	if tx.db.Engine() == "postgres" {
		query = "select table_name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name"
	}
	return tx.texts(ctx, query)
}

// A tableSearch is the search of one table.
type tableSearch struct {
	tx      *Tx
	table   string
	sealed  map[string]string
	texts   []string
	columns []string
	found   map[[2]string]int64 // by column and text
	rows    int64
}

func (s *tableSearch) run(ctx context.Context) (err error) {
	if s.columns, err = s.tx.columns(ctx, s.table); err != nil {
		return err
	}
	quoted := make([]string, len(s.columns))
	for i, c := range s.columns {
		quoted[i] = `"` + c + `"`
	}
	macs := map[string][]byte{}
	for _, text := range s.texts {
		if email, ok := identity.ParseEmail(text); ok {
			macs[text] = s.tx.mac("email", email)
		}
	}
	return s.tx.list(ctx, func(row scanner) error {
		values, dest := make([]any, len(s.columns)), make([]any, len(s.columns))
		for i := range values {
			dest[i] = &values[i]
		}
		if err := row.Scan(dest...); err != nil {
			return err
		}
		s.rows++
		for i, column := range s.columns {
			text := s.text(column, values)
			if b, ok := values[i].([]byte); ok {
				text += "\n" + string(b)
			} else if values[i] != nil {
				text += "\n" + fmt.Sprint(values[i])
			}
			for _, wanted := range s.texts {
				mac := macs[wanted]
				if holdsAny(text, []string{wanted}) || len(mac) > 0 && strings.Contains(text, string(mac)) {
					s.found[[2]string{column, wanted}]++
				}
			}
		}
		return nil
	}, "select "+strings.Join(quoted, ", ")+` from "`+s.table+`"`)
}

// text opens a sealed column; empty for any other, and for what does not open.
func (s *tableSearch) text(column string, row []any) string {
	purpose := s.sealed[column]
	if purpose == "" {
		return ""
	}
	at := func(name string) any {
		for i, c := range s.columns {
			if c == name {
				return row[i]
			}
		}
		return nil
	}
	if purpose == "provider key" {
		purpose = sealOf(fmt.Sprint(at("workspace_id")), fmt.Sprint(at("name")))
	}
	value, _ := at(column).([]byte)
	text, _ := s.tx.open(purpose, value) // what does not open is searched as it is
	return text
}
