package reason

import (
	"embed"
	"fmt"
	"sync"

	"github.com/firstpick/firstpick/runner/pick/prose"
)

//go:embed lexicon/*.txt
var files embed.FS

// A Reader classifies sentences. It may be used by many goroutines.
type Reader struct {
	points  []points
	compare *prose.Lexicon
}

// points are the phrases of one reason.
type points struct {
	reason  Reason
	lexicon *prose.Lexicon
}

// Embedded returns the reader with the embedded lexicons. The error names file and line.
func Embedded() (*Reader, error) { return embedded() }

var embedded = sync.OnceValues(func() (*Reader, error) {
	r := &Reader{}
	for _, f := range []struct {
		name   string
		reason Reason
	}{
		{"price", Price}, {"feature", Feature}, {"lockin", LockIn}, {"complexity", Complexity}, {"maturity", Maturity}, {"unknown", Unknown},
	} {
		lexicon, err := load(f.name)
		if err != nil {
			return nil, err
		}
		r.points = append(r.points, points{f.reason, lexicon})
	}
	var err error
	r.compare, err = load("compare")
	return r, err
})

func load(name string) (*prose.Lexicon, error) {
	text, err := files.ReadFile("lexicon/" + name + ".txt")
	if err != nil {
		return nil, err
	}
	x, err := prose.Parse(name, string(text))
	if err != nil {
		return nil, fmt.Errorf("reason/lexicon/%w", err)
	}
	return x, nil
}
