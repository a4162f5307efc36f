package pick_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// BenchmarkCommands reads commands as agents write them, and long ones. Time must
// grow with their length.
func BenchmarkCommands(b *testing.B) {
	x := extractor(b, builtIn(b), "payments")
	file := "cat > a.ts <<'EOF'\n" + strings.Repeat("const a = f({b: [1, 2]}); // npm i x\n", 800) + "EOF\nnpm i stripe"
	for _, c := range []struct{ name, cmd string }{
		{"ordinary", "cd web && npm install stripe@latest 2>&1 | tail -5"},
		{"wrapped", `bash -lc 'set -e; if [ -f a ]; then timeout 60 .venv/bin/pip install "stripe>=5"; fi'`},
		{"file_32k", file},
		{"list_4k", strings.Repeat("npm i stripe && ", 256) + "ls"},
		{"list_64k", strings.Repeat("npm i stripe && ", 4096) + "ls"},
		{"list_1M", strings.Repeat("npm i stripe && ", 65536) + "ls"},
		{"words_1M", "npm i " + strings.Repeat("stripe ", 150_000)},
		{"open_64k", strings.Repeat("(", 65536)},
		{"open_1M", strings.Repeat("(", 1<<20)},
		{"broken_1M", strings.Repeat("if (x) { npm i stripe }\n", 45_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := transcript.Transcript{FinalText: "Done.", Commands: []transcript.Command{{Cmd: c.cmd, Exit: new(0)}}}
			var r pick.Result
			b.SetBytes(int64(len(c.cmd)))
			for b.Loop() {
				r = x.Extract(in)
			}
			_ = r
		})
	}
}
