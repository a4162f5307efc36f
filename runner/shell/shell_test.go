package shell_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/firstpick/firstpick/runner/shell"
)

// shown writes commands one a line, their words parted by "|".
func shown(text string) []string {
	var out []string
	for _, c := range shell.Commands(text) {
		out = append(out, strings.Join(c.Words, "|"))
	}
	return out
}

func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":             {"", nil},
		"one":                 {"npm i x", []string{"npm|i|x"}},
		"a list":              {"cd a && npm i x; ls || true & wait", []string{"cd|a", "npm|i|x", "ls", "true", "wait"}},
		"a pipe":              {"yes | npm init", []string{"yes", "npm|init"}},
		"redirections":        {"npm i x >out.txt 2>&1 </dev/null &>all", []string{"npm|i|x"}},
		"assignments":         {"A=1 B='2 3' npm i x", []string{"npm|i|x"}},
		"assignments alone":   {"A=1", nil},
		"quotes":              {`npm i 'a b' "c d" e\ f "g"'h' "\$i" $'j'`, []string{"npm|i|a b|c d|e f|gh|$i|j"}},
		"expansions":          {`npm i x@$V "$(cat y)" ${Z:-z}`, []string{"npm|i|x@$V|$(cat y)|${Z:-z}", "cat|y"}},
		"folders of Windows":  {`C:\py\Scripts\pip.exe install x`, []string{`C:\py\Scripts\pip.exe|install|x`}},
		"comments":            {"npm i x # npm i y\n# npm i z", []string{"npm|i|x"}},
		"compound commands":   {"if a; then b; else c; fi; for i in 1 2; do d $i; done; while e; do f; done; case g in h) i;; esac; { j; }; (k); l() { m; }; ! n", []string{"a", "b", "c", "d|$i", "e", "f", "i", "j", "k", "m", "n"}},
		"timed":               {"time -p npm i x", []string{"npm|i|x"}},
		"here-document":       {"cat > f <<'EOF'\nnpm i y\nEOF\nnpm i x", []string{"cat", "npm|i|x"}},
		"here-documents, two": {"cat <<A <<-B\nnpm i y\nA\n\tnpm i z\n\tB\nnpm i x", []string{"cat", "npm|i|x"}},
		"substitution in one": {"cat <<E\n$(npm i x)\nE", []string{"cat", "npm|i|x"}},
		"continued line":      {"npm i \\\n x", []string{"npm|i|x"}},
		"lines of Windows":    {"cd a\r\nnpm i x\r\n", []string{"cd|a", "npm|i|x"}},
		"never closed":        {"if true; then\n npm i x", []string{"true", "npm|i|x"}},
		"open quote":          {"npm i x; echo \"abc\nnpm i y", []string{"npm|i|x", "echo|abc", "npm|i|y"}},
		"PowerShell":          {"$env:A = \"1; npm i z\"\nnpm i x; if ($LASTEXITCODE -eq 0) { npm i y }", []string{"$env:A|=|1; npm i z", "npm|i|x", "$LASTEXITCODE|-eq|0", "npm|i|y"}},
		"does not parse":      {"cat <<'E'\nnpm i z\nE\nfor ( ) npm i 'x y' >f 2>&1 # npm i w\nnpm i y", []string{"cat", "npm|i|x y", "npm|i|y"}},
		"too many brackets":   {strings.Repeat("( ", 5000) + "npm i x\ncat <<E\nnpm i y\nE\nls", []string{"npm|i|x", "cat", "E", "ls"}},
		"a large file":        {"cat > f <<'EOF'\n" + strings.Repeat("npm i y\n", 9000) + "EOF\nnpm i x", []string{"cat", "npm|i|x"}},
		"a large argument":    {"bash -lc '" + strings.Repeat("npm i y\n", 9000) + "'", []string{"bash|-lc|" + strings.Repeat("npm i y\n", 9000)}},
		"a long line":         {"ls\necho " + strings.Repeat("x ", 40_000) + "; npm i y\nnpm i x", []string{"ls", "echo" + strings.Repeat("|x", 16381), "npm|i|x"}},
	} {
		if d := cmp.Diff(c.want, shown(c.text)); d != "" {
			t.Errorf("%s: -want +got\n%.2000s", name, d)
		}
	}
	if c := shell.Commands("bash <<'EOF'\nnpm i x\nEOF\n"); len(c) != 1 || c[0].Input != "npm i x\n" {
		t.Errorf("input %+v", c)
	}
}

// What becomes of output and of failures is known of each command.
func TestRolesOfCommands(t *testing.T) {
	for text, want := range map[string]shell.Command{
		"a > f":                        {Output: "f"},
		"a >>'f g' 2>&1":               {Output: "f g", Append: true},
		"a 2> f":                       {},
		"a 1> f":                       {Output: "f"},
		"a || b":                       {Excused: true},
		"c && a || b":                  {Excused: true},
		"b || a":                       {Fallback: true},
		"b || { c; a; }":               {Fallback: true},
		"b && a":                       {},
		"b || c; a":                    {},
		"if a || b; then c; fi":        {Excused: true},
		"cat > f <<E\nx\nE\na || true": {Excused: true},
	} {
		for _, c := range shell.Commands(text) {
			if c.Words[0] != "a" {
				continue
			}
			c.Words = nil
			if d := cmp.Diff(want, c); d != "" {
				t.Errorf("%q: -want +got\n%s", text, d)
			}
		}
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"npm test": "npm|test", `bash -lc 'a && b'`: "bash|-lc|a && b", `bash -c "echo $HOME \"x\" \x"`: `bash|-c|echo $HOME "x" \x`,
		"a; b": "", "a;": "", "a &": "", "a > b": "", "A=1 b": "", "! a": "", "(a)": "", "a # b": "a", "": "", "a 'b": "",
	} {
		words, ok := shell.Words(text)
		if got := strings.Join(words, "|"); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t; want %q", text, got, ok, want)
		}
	}
}

// A text of any size is taken out of its quotes; what would nest is not parsed.
func TestLargeWords(t *testing.T) {
	file := strings.Repeat("const a = f({b: [\"1\", `2`]}); // it's $(so)\n", 3000)
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"in single quotes":   {"bash -lc '" + strings.ReplaceAll(file, "'", `'"'"'`) + "'", true},
		"in double quotes":   {`bash -lc "` + strings.NewReplacer(`"`, `\"`, "`", "\\`", "$", `\$`).Replace(file) + `"`, true},
		"brackets":           {"bash -lc " + strings.Repeat("(", 1<<20), false},
		"substitutions":      {`bash -lc "` + strings.Repeat("$(", 1<<20), false},
		"words that nest":    {strings.Repeat("! ", 1<<20), false},
		"backquotes":         {strings.Repeat("\"`", 1<<20), false},
		"a quote that stays": {"bash -lc '" + file, false},
	} {
		words, ok := shell.Words(c.text)
		if ok != c.ok || ok && (len(words) != 3 || words[2] != file) {
			t.Errorf("%s: %t, %.80q", name, ok, words)
		}
	}
}

// What stands in single quotes is one word, and nothing of it a command.
func FuzzCommands(f *testing.F) {
	for _, text := range []string{"npm i 'x'", "a <<E\nb\nE\n", "$(a `b` ${c})", "if (a) { b }", "\x00\r\n\xff\\", "((a[1]))", "cat <<'E' | bash\nls\nE", "<< 00&\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range shell.Commands(text) {
			if len(c.Words) == 0 {
				t.Errorf("%q: a command without words", text)
			}
		}
		if strings.ContainsAny(text, "'\x00\r") || !utf8.ValidString(text) || len(text) > 10_000 {
			return
		}
		if words, ok := shell.Words("echo '" + text + "'"); !ok || len(words) != 2 || words[1] != text {
			t.Errorf("%q became %q", text, words)
		}
	})
}
