package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// printRecord prints a document: as fields and tables on a terminal, as JSON elsewhere and where
// asJSON asks for it.
func printRecord(env *Env, doc any, asJSON bool) error {
	if asJSON || !env.StdoutIsTTY {
		return printJSON(env, doc)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	root, err := decodeFields(json.NewDecoder(bytes.NewReader(text)))
	if err != nil {
		return err
	}
	r := &record{}
	r.add("", root)
	return r.print(env)
}

// A record is a document as rows of name and value, and a table for each list of objects.
type record struct {
	fields table
	lists  []recordList
}

type recordList struct {
	name  string
	table table
}

// fields are the members of a JSON object in their order.
type fields []fieldValue

type fieldValue struct {
	name  string
	value any // fields, []any, string, json.Number, bool or nil
}

// decodeFields reads a JSON value; objects keep the order of their members.
func decodeFields(d *json.Decoder) (any, error) {
	d.UseNumber()
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		out := fields{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			value, err := decodeFields(d)
			if err != nil {
				return nil, err
			}
			out = append(out, fieldValue{fmt.Sprint(name), value})
		}
		_, err = d.Token()
		return out, err
	case json.Delim('['):
		out := []any{}
		for d.More() {
			value, err := decodeFields(d)
			if err != nil {
				return nil, err
			}
			out = append(out, value)
		}
		_, err = d.Token()
		return out, err
	}
	return token, nil
}

func (r *record) add(name string, value any) {
	switch v := value.(type) {
	case fields:
		for _, f := range v {
			r.add(strings.TrimPrefix(name+"."+f.name, "."), f.value)
		}
	case []any:
		if len(v) > 0 && !slices.ContainsFunc(v, func(one any) bool { _, ok := one.(fields); return !ok }) {
			r.lists = append(r.lists, recordList{name, listTable(v)})
			return
		}
		var parts []string
		for _, one := range v {
			parts = append(parts, scalar(one))
		}
		r.fields.add(name, dash(strings.Join(parts, ", ")))
	default:
		r.fields.add(name, scalar(v))
	}
}

// listTable is the table of a list of objects, with a column for each member that one has.
func listTable(list []any) (t table) {
	rows := make([]map[string]string, len(list))
	for i, one := range list {
		rows[i] = map[string]string{}
		inner := &record{}
		inner.add("", one)
		for _, row := range inner.fields.rows {
			if !slices.Contains(t.header, row[0]) {
				t.header = append(t.header, row[0])
			}
			rows[i][row[0]] = row[1]
		}
	}
	for _, row := range rows {
		var cells []string
		for _, name := range t.header {
			cells = append(cells, dash(row[name]))
		}
		t.add(cells...)
	}
	return t
}

func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case bool:
		return yes(v)
	default:
		return dash(fmt.Sprint(v))
	}
}

func (r *record) print(env *Env) error {
	r.fields.header = []string{"field", "value"}
	if len(r.fields.rows) > 0 {
		if err := r.fields.print(env, format{}); err != nil {
			return err
		}
	}
	for _, l := range r.lists {
		if _, err := io.WriteString(env.Stdout, "\n"+clean(l.name)+"\n"); err != nil {
			return err
		}
		if err := l.table.print(env, format{}); err != nil {
			return err
		}
	}
	return nil
}
