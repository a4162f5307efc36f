package state

import (
	"regexp"
	"strings"
	"testing"
)

// TestHoldings: every table of the schema is named in holdings, each once and children
// before parents; every column that refers to a person, workspace, eval or run is in a
// condition, and every sealed column has its purpose. A table that is added without a
// thought of its erasure fails here.
func TestHoldings(t *testing.T) {
	refers := regexp.MustCompile(`^((workspace|account|owner|eval|run|registration|named|bought|member|invited)_id|created_by|invited_by|email_mac)$`)
	// What these tables hold is deleted or emptied by code, as their notes say.
	byCode := map[string]bool{"audit": true}
	known := map[string]holding{}
	for _, h := range holdings() {
		if _, twice := known[h.table]; twice {
			t.Errorf("table %s is named twice", h.table)
		}
		known[h.table] = h
		if len(h.rows) == 0 && h.note == "" {
			t.Errorf("table %s: say why nothing is erased", h.table)
		}
	}
	for table, columns := range schemaColumns(t) {
		h, named := known[table]
		if !named {
			t.Errorf("table %s is not in holdings: say which of its rows go with an account, a workspace, an eval or a run", table)
			continue
		}
		var conditions strings.Builder
		for _, text := range h.rows {
			conditions.WriteString(text + "\n")
		}
		for _, text := range h.clear {
			conditions.WriteString(text + "\n")
		}
		for _, column := range columns {
			if refers.MatchString(column) && !byCode[table] && !mentions(h, conditions.String(), column) {
				t.Errorf("%s.%s refers to something that can be erased, and no condition mentions it", table, column)
			}
			if strings.HasSuffix(column, "_sealed") && h.sealed[column] == "" {
				t.Errorf("%s.%s is sealed: name its purpose, so that a search can open it", table, column)
			}
		}
	}
}

// mentions reports whether the rows of a column are reached: by the column itself, or
// because all rows of the workspace, eval or registration go.
func mentions(h holding, conditions, column string) bool {
	if regexp.MustCompile(`\b` + column + `\b`).MatchString(conditions) {
		return true
	}
	switch column {
	case "email_mac": // of the row that goes
		return h.rows[EraseAccount] != ""
	default:
		return false
	}
}

// schemaColumns reads the tables and their columns from the schema files.
func schemaColumns(t *testing.T) map[string][]string {
	t.Helper()
	files, err := schemaFiles.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, f := range files {
		ddl, err := schemaFiles.ReadFile("schema/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?ms)^create table (\w+) \((.*?)^\);`).FindAllStringSubmatch(string(ddl), -1) {
			for _, c := range regexp.MustCompile(`(?m)^\s+(\w+)\s+(text|bytea|bigint)`).FindAllStringSubmatch(m[2], -1) {
				out[m[1]] = append(out[m[1]], c[1])
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^alter table (\w+) add column (\w+)`).FindAllStringSubmatch(string(ddl), -1) {
			out[m[1]] = append(out[m[1]], m[2])
		}
	}
	if len(out) < 30 {
		t.Fatalf("only %d tables were read from the schema", len(out))
	}
	return out
}
