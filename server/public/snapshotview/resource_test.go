package snapshotview

import (
	"strings"
	"testing"
)

func FuzzNegotiate(f *testing.F) {
	f.Add("gzip;q=0.5, *;q=0, identity")
	f.Fuzz(func(t *testing.T, accept string) {
		if e := negotiate(accept); e < 0 || e >= encodings {
			t.Errorf("encoding %d", e)
		}
		lower := strings.ToLower(accept)
		if !strings.Contains(lower, "gzip") && !strings.Contains(lower, "zstd") && !strings.Contains(lower, "*") && negotiate(accept) != asIdentity {
			t.Errorf("%q gets what it did not ask for", accept)
		}
	})
}

func FuzzMatches(f *testing.F) {
	f.Add(`W/"a", "b"`, `"b"`)
	f.Fuzz(func(t *testing.T, list, tag string) {
		tag = `"` + strings.Map(func(r rune) rune {
			if r == '"' || r == ',' || r <= ' ' {
				return -1
			}
			return r
		}, tag) + `"`
		if !matches(list+","+tag, tag) {
			t.Errorf("%q is not found in its own list", tag)
		}
	})
}
