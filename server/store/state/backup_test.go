package state

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"
)

// TestBackupHasEveryTable: a backup holds every table of every schema file but
// counters, which are of the hour, and settings, which a new store makes itself.
func TestBackupHasEveryTable(t *testing.T) {
	files, err := fs.Glob(schemaFiles, "schema/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var made []string
	for _, file := range files {
		ddl, err := schemaFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^create table (\w+)`).FindAllStringSubmatch(string(ddl), -1) {
			made = append(made, m[1])
		}
	}
	held := append([]string{"counter", "setting"}, tables...)
	slices.Sort(made)
	slices.Sort(held)
	if !slices.Equal(made, held) {
		t.Errorf("the schema has %v\nthe backup and what it leaves out %v", made, held)
	}
}
