package eval

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/fixtures"
)

// TestMargin checks that the limit of similarity is far from all built-in prompts: no two
// of a category reach half of it.
func TestMargin(t *testing.T) {
	files, err := fs.Glob(fixtures.Files(), "prompts/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	most, pair := 0.0, ""
	for _, file := range files {
		e, err := Library(fixtures.Files(), strings.TrimSuffix(path.Base(file), ".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range e.Prompts {
			for _, earlier := range e.Prompts[:i] {
				if r := resemblance(shingles(p.Text), shingles(earlier.Text)); r > most {
					most, pair = r, p.ID+" and "+earlier.ID
				}
			}
		}
	}
	if t.Logf("most similar: %s, %.3f", pair, most); most >= maxResemblance/2 {
		t.Errorf("%s have similarity %.3f, want below %.3f", pair, most, maxResemblance/2)
	}
}

// TestResemblance compares with Broder's definition, worked out by hand.
func TestResemblance(t *testing.T) {
	for name, tt := range map[string]struct {
		a, b string
		want float64
	}{
		"two of four shingles":     {"one two three four five", "one two three four six", 0.5},
		"no shingle":               {"one two three", "three two one", 0},
		"a repeated shingle":       {"one two three one two three", "one two three", 1.0 / 3},
		"short texts are shingles": {"Take cards.", "take CARDS", 1},
		"nothing":                  {"", "?!", 0},
	} {
		if got := resemblance(shingles(tt.a), shingles(tt.b)); got != tt.want {
			t.Errorf("%s: %g, want %g", name, got, tt.want)
		}
	}
}
