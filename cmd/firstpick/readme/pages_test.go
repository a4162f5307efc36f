//go:build unix

package readme

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/firstpick/firstpick/cmd/cli"
)

var update = flag.Bool("update", false, "rewrite the output that the pages show, except where it has …")

// TestMain lets the test binary act as firstpick for the blocks of pages.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"firstpick": func() { os.Exit(cli.Main(cli.OS())) }})
}

const pages = "../../../server/public/docs/pages"

// address is the server's in all pages.
const address = "127.0.0.1:8080"

// A block is a fenced one of a page. What follows its language says what the tests do:
//
//	sh run         executed; a text block after it shows the output
//	sh run exit=3  the same, with this exit status
//	sh serves      executed in the background, until the page ends
//	text file=NAME written to this file, in the order of the page; of any language
//
// All other blocks are parsed only.
type block struct {
	language, mark, text string
	line                 int
	begin, end           int // of the text, in the page
}

var fences = regexp.MustCompile("(?m)^( *)```([a-z]+)([^\n]*)\n((?s:.*?))^ *```$")

func blocks(page string) []block {
	var out []block
	for _, m := range fences.FindAllStringSubmatchIndex(page, -1) {
		text, indent := page[m[8]:m[9]], page[m[2]:m[3]]
		if indent != "" {
			text = strings.ReplaceAll("\n"+text, "\n"+indent, "\n")[1:]
		}
		out = append(out, block{page[m[4]:m[5]], strings.TrimSpace(page[m[6]:m[7]]), text, 1 + strings.Count(page[:m[0]], "\n"), m[8], m[9]})
	}
	return out
}

func (b block) runs() bool {
	return b.language == "sh" && (b.mark == "serves" || strings.HasPrefix(b.mark, "run"))
}

// file returns the name of the file that a block is written to.
func (b block) file() string {
	_, name, _ := strings.Cut(b.mark, "file=")
	name, _, _ = strings.Cut(name, " ")
	return name
}

// eachPage calls f with the pages of the documentation, with addresses of a server here.
func eachPage(t *testing.T, f func(t *testing.T, path, page string)) {
	t.Helper()
	paths, err := filepath.Glob(pages + "/*.md")
	if err != nil || len(paths) < 20 {
		t.Fatal(len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, path, string(data))
		})
	}
}
