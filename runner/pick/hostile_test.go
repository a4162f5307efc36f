package pick_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/runner/transcript"
)

// Code and manifests that look like a choice and are none, or that hide one.
func TestHostileCode(t *testing.T) {
	hold(t, map[string]want{
		"a name inside a longer package":         {added("package.json", `"stripe-mock": "1", "not-stripe": "1", "@acme/stripe": "1"`), "none"},
		"a script that names a package":          {added("package.json", `"scripts": {"add": "npm i stripe"}`), "none"},
		"keywords of a manifest":                 {added("package.json", "\"keywords\": [\n\"stripe\"\n]"), "none"},
		"an ignore list":                         {added(".gitignore", "stripe\nstripe/"), "none"},
		"a word list":                            {added("words.txt", "stripe\npaddle"), "none"},
		"CSS":                                    {added("a.css", ".stripe { content: \"stripe\" }"), "none"},
		"a variable of that name":                {added("a.py", "stripe = zebra.stripe\nprint(stripe)"), "none"},
		"an import of a neighbour":               {added("a.py", "from app.stripe import x\nimport app.stripe"), "none"},
		"a string that holds code":               {added("a.py", "s = 'import stripe'"), "none"},
		"a log that quotes an install":           {added("ci.log.txt", "> npm i stripe"), "none"},
		"an import in a document":                {transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: "README.md", Added: []string{"import stripe"}}, {Path: "a.ts", Added: []string{usePaddle}}}}, "tool:paddle"},
		"docs with a host":                       {transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: "docs/a.md", Added: []string{"https://api.stripe.com"}}, {Path: "a.ts", Added: []string{usePaddle}}}}, "tool:paddle"},
		"a mock in a test":                       {transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: "src/OrderTest.java", Added: []string{"import com.stripe.Stripe;"}}, {Path: "a.ts", Added: []string{usePaddle}}}}, "tool:paddle"},
		"an example":                             {transcript.Transcript{FinalText: "Done.", Diff: []transcript.FileChange{{Path: "examples/a.py", Added: []string{"import stripe"}}, {Path: "a.ts", Added: []string{usePaddle}}}}, "tool:paddle"},
		"a tag file of another language":         {added("a.go", "import stripe"), "none"},
		"a command in a string of a command":     {ran(`git commit -m "npm i stripe && npm i"`), "none"},
		"a command in a comment of a script":     {ran("bash -c '# npm i stripe'"), "none"},
		"a command behind a false one":           {ran("!false && npm i stripe"), "none"},
		"a name with a letter of another script": {added("package.json", `"strіpe": "^17"`), "none"},
		"a name with an invisible letter":        {added("package.json", "\"str\u200bipe\": \"^17\""), "none"},
		"a local package":                        {ran("npm i ./stripe file:stripe ../stripe"), "none"},
		"a local path in a manifest":             {added("package.json", `"stripe": "file:../stripe"`), "none"},
		"a fork under another owner":             {added("go.mod", "\tgithub.com/acme/stripe-go v1.0.0"), "none"},
		"a replacement in go.mod":                {added("go.mod", "replace example.org/a => github.com/stripe/stripe-go/v81 v81.0.0"), "none"},
		"a comment that never ends":              {added("a.ts", "/*\n"+usePaddle), "tool:paddle"},
		"quotes that never end":                  {added("a.ts", "const a = 'it\n"+usePaddle), "tool:paddle"},
		"marks inside strings":                   {added("a.ts", "const a = '/*', b = \"//\"\n"+usePaddle+"\nconst c = '*/'"), "tool:paddle"},
		"a here-document inside one":             {ran("cat > a.sh <<'A'\ncat > requirements.txt <<'B'\nstripe\nB\nA"), "none"},
		"an answer in the template's words":      {said("```\nimport X from '<package>'\n```"), "none"},
	})
}

// deep is JSON that nests n times.
func deep(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"choice":[`, n) + strings.Repeat("]}", n))
}

// manyFiles is a command that writes n files.
func manyFiles(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "echo x > %d.py\n", i)
	}
	return b.String()
}

// JSON, empty and huge messages: no wrong pick, no panic, and an end in time.
func TestHostileSizes(t *testing.T) {
	long := strings.Repeat("x", 5<<20)
	limit := 20 * time.Second // far more than it takes; a hang is what this finds
	for name, c := range map[string]want{
		"nothing":                       {transcript.Transcript{}, "none"},
		"spaces":                        {said(" \n\t\r\n\u00a0\u200b"), "none"},
		"a zero byte":                   {said("\x00\x00"), "none"},
		"only a mark for a byte order":  {said("\ufeff"), "none"},
		"invalid UTF-8":                 {said("\xff\xfe\xf0\x28\x8c\x28"), "truncated"},
		"invalid UTF-8 in code":         {added("a.py", "\xff\xfe\nimport \xffstripe\nimport stripe\xff"), "none"},
		"zero bytes in code":            {added("a.py", "import\x00stripe"), "none"},
		"a binary file":                 {added("a.js", string([]byte{0, 1, 2, 255, 39, 34, 96, 92, 47, 42})), "none"},
		"null":                          {transcript.Transcript{Structured: json.RawMessage("null")}, "none"},
		"an empty choice":               {transcript.Transcript{Structured: json.RawMessage(`{"choice":""}`)}, "none"},
		"a choice of another type":      {transcript.Transcript{Structured: json.RawMessage(`{"choice":["stripe"]}`)}, "none"},
		"JSON that is cut off":          {transcript.Transcript{Structured: json.RawMessage(`{"choice":"stripe`)}, "none"},
		"JSON that nests":               {transcript.Transcript{Structured: deep(100_000)}, "none"},
		"a choice of five megabytes":    {transcript.Transcript{Structured: json.RawMessage(`{"choice":"` + long + `"}`)}, "none"},
		"one word of five megabytes":    {said(long), "none"},
		"one line of code":              {added("a.js", long), "none"},
		"one line of names":             {added("a.js", strings.Repeat("a.B_C", 1<<20)), "none"},
		"one line of dots":              {added("a.py", strings.Repeat(".", 5<<20)), "none"},
		"one line of quotes":            {added("a.js", strings.Repeat("'\"`", 1<<20)), "none"},
		"one line of backslashes":       {added("a.js", `"`+strings.Repeat(`\`, 5<<20)), "none"},
		"one line of opened comments":   {added("a.js", strings.Repeat("/*", 2<<20)), "none"},
		"lines of opened comments":      {added("a.c", strings.Repeat("/* \n", 200_000)), "none"},
		"lines of opened strings":       {added("a.py", strings.Repeat("x = \"\"\"\n", 100_001)), "none"},
		"an import of five megabytes":   {added("a.py", "import "+strings.Repeat("a,", 2<<20)), "none"},
		"a module of five megabytes":    {added("a.go", "\t\"github.com/"+strings.Repeat("a/", 2<<20)+"\""), "none"},
		"a package of five megabytes":   {added("go.mod", "require github.com/"+strings.Repeat("a/", 2<<20)+" v1"), "none"},
		"a dependency of a megabyte":    {transcript.Transcript{Diff: []transcript.FileChange{{Path: "requirements.txt", AddedDeps: []string{strings.Repeat("[", 1<<20)}}}}, "none"},
		"a manifest of braces":          {added("package.json", strings.Repeat("{", 1<<20)), "none"},
		"a manifest of brackets":        {added("pyproject.toml", "a = "+strings.Repeat("[", 1<<20)), "none"},
		"a manifest of pairs":           {added("package.json", strings.Repeat(`"a": "1",`+"\n", 100_000)), "none"},
		"100,000 fences":                {said(strings.Repeat("```\nx\n```\n", 100_000)), "none"},
		"100,000 fences that never end": {said(strings.Repeat("```js\n", 100_001)), "truncated"},
		"100,000 headings":              {said(strings.Repeat("# a\n## b\n", 50_000)), "none"},
		"100,000 diffs":                 {said("```diff\n" + strings.Repeat("+++ b/a.js\n+x\n", 100_000) + "```\n"), "none"},
		"100,000 files":                 {transcript.Transcript{Diff: make([]transcript.FileChange, 100_000)}, "none"},
		"100,000 commands":              {transcript.Transcript{Commands: make([]transcript.Command, 100_000)}, "none"},
		"a here-document of megabytes":  {ran("cat > a.py <<'EOF'\n" + strings.Repeat("x = 1\n", 1<<19) + "EOF"), "none"},
		"a command that writes 20,000":  {ran(manyFiles(20_000)), "none"},
		"quotations in quotations":      {said(strings.Repeat(">", 512<<10)), "none"},
		"lists in lists":                {said(strings.Repeat("- ", 256<<10) + "a."), "none"},
		"comments that never end":       {said(strings.Repeat("<!--<i hidden></i>", 29_000)), "none"},
		"rows of one rival":             {said("| a | b |\n|---|---|\n" + strings.Repeat("| Stripe | ✅ |\n", 20_000)), "tool:stripe"},
		"100,000 items":                 {said(strings.Repeat("- Stripe\n", 50_000)), "none"},
		"100,000 code spans":            {said(strings.Repeat("`abc` xyzw ", 45_000)), "none"},
		"an unknown name among rivals":  {said("## Stripe\n\n## Paddle\n\n## Hyperpay\n\nHyperpay's Stripe connector is new."), "none"},
		"one trace over and over":       {said("```js\n" + strings.Repeat(useStripe+"\n", 50_000) + "```\n"), "tool:stripe"},
		"lines of Windows":              {added("a.py", "import os\r\nimport stripe\r"), "tool:stripe"},
		"lines of an old Mac":           {added("a.py", "import os\rimport stripe"), "none"},
		"a mark for a byte order":       {added("a.py", "\ufeffimport stripe"), "tool:stripe"},
	} {
		done := make(chan string, 1)
		x := shop(t)
		go func() { done <- label(x.Extract(c.in)) }()
		select {
		case got := <-done:
			if got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		case <-time.After(limit):
			t.Fatalf("%s: still reading after %s", name, limit)
		}
	}
}
