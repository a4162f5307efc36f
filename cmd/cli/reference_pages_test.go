package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/eval"
)

var keyRow = regexp.MustCompile("(?m)^\\| `([a-z_-]+)`[^|]*\\|")

// keysOfPage returns the keys that stand in the first cells of a page's tables.
func keysOfPage(t *testing.T, path string) (text string, keys []string) {
	t.Helper()
	p := documents(t).Page(path)
	if p == nil {
		t.Fatalf("there is no %s", path)
	}
	for _, m := range keyRow.FindAllStringSubmatch(string(p.Markdown), -1) {
		keys = append(keys, m[1])
	}
	slices.Sort(keys)
	return string(p.Markdown), slices.Compact(keys)
}

// TestEvalFilePageHasEveryKeyOfTheSchema: the page lists the keys of eval.schema.json, and
// no others.
func TestEvalFilePageHasEveryKeyOfTheSchema(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage
		Items      *struct{ Properties map[string]json.RawMessage }
	}
	var schema struct {
		Properties map[string]object
		Defs       map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(eval.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"name": true, "kind": true}
	for key, o := range schema.Properties {
		want[key] = true
		if o.Items != nil {
			for key := range o.Items.Properties {
				want[key] = true
			}
		}
	}
	for name, o := range schema.Defs {
		if key, ok := strings.CutPrefix(name, "key_"); ok {
			want[key] = true
		}
		if name == "tags" || name == "price" {
			for key := range o.Properties {
				want[key] = true
			}
		}
	}
	if len(want) < 50 {
		t.Fatalf("the schema has only %d keys", len(want))
	}
	_, keys := keysOfPage(t, "/docs/eval-file")
	if all := slices.Sorted(maps.Keys(want)); !slices.Equal(all, keys) {
		t.Errorf("the page lists\n%q\nthe schema has\n%q", keys, all)
	}
}

// TestConfigurationPageHasEveryKey: the page lists the keys of the configuration with
// their variables and defaults, and no others. A row may name an older name of its key.
func TestConfigurationPageHasEveryKey(t *testing.T) {
	text, _ := keysOfPage(t, "/docs/configuration")
	keys, types := configKeys(reflect.TypeFor[Config]())
	defaults := configDefaults()
	listed := map[string]bool{}
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(row, "|\n"), "|")
		if len(cells) != 4 || !strings.HasPrefix(row, "| `") {
			continue
		}
		names := regexp.MustCompile("`([a-z-]+)`").FindAllStringSubmatch(cells[0], -1)
		known := false
		for _, m := range names {
			if !slices.Contains(keys, m[1]) {
				continue
			}
			known, listed[m[1]] = true, true
			if kind := types[m[1]].String(); strings.HasPrefix(kind, "map") || strings.Contains(kind, "cli.") {
				if strings.TrimSpace(cells[1]) != "only in a file" {
					t.Errorf("%s cannot be set by a variable: %s", m[1], cells[1])
				}
			} else if m[1] == names[0][1] && strings.TrimSpace(cells[1]) != "`"+envName(m[1])+"`" {
				t.Errorf("%s is set by %s, not %s", m[1], envName(m[1]), cells[1])
			}
			if want := shownDefault(defaults[m[1]]); want != strings.Trim(cells[2], "` ") {
				t.Errorf("the default of %s is %q, not %s", m[1], want, cells[2])
			}
		}
		if !known {
			t.Errorf("there is no key of the configuration in %s", row)
		}
	}
	for _, key := range keys {
		if !listed[key] {
			t.Errorf("%s is not listed", key)
		}
	}
}

// shownDefault returns a default as the page shows it; empty for a zero value of a text,
// a list or a map.
func shownDefault(v any) string {
	switch v := v.(type) {
	case []string:
		return strings.Join(v, ", ")
	case []int, []any, map[string]string:
		return ""
	}
	return fmt.Sprint(v)
}
