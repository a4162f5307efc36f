package cli

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// wrongUsages returns calls that people get wrong, by subject. A call that begins with NAME=VALUE
// has that in its environment.
func wrongUsages() []string {
	return strings.Split(strings.TrimSpace(`
rnk
ran evals/payments.yaml
nosuchthing
help rnk
admin eval-kye list
completion bsh
rank --categry payments
run evals/payments.yaml --max-costs 5
run evals/payments.yaml --max-cost five
run evals/payments.yaml --max-cost -5
run evals/payments.yaml --concurrency x
rank --json --csv
run
run evals/nofile.yaml
run evals
plan evals/paymnts.yaml
lint evals/nofile.yaml
run evals/payments.yaml --agent rehearsl
run evals/payments.yaml --shard 3
run evals/payments.yaml --shard 3/2
run evals/payments.yaml --resume nosuchrun
run evals/payments.yaml --until 'rank(strip) <= 2'
run evals/payments.yaml --until 'rnk(stripe) <= 2'
run evals/payments.yaml --snapshots elsewhere
run evals/payments.yaml --sandbox of
run evals/payments.yaml --binary claude
run wrong/category.yaml
run wrong/kind.yaml
run wrong/key.yaml
run wrong/tool.yaml
run wrong/tab.yaml
run wrong/twice.yaml
run wrong/empty.yaml
run wrong/url.yaml
run wrong/nokey.yaml
run wrong/unpriced.yaml --max-cost 1
run wrong/template.yaml
run wrong/template_dir.yaml
run wrong/template_nodir.yaml
run wrong/template_ref.yaml
run wrong/incumbent.yaml
run wrong/incumbent_version.yaml
run wrong/incumbent_nowhere.yaml
run wrong/builds.yaml
run wrong/builds_empty.yaml
run wrong/builds_key.yaml
run wrong/builds_time.yaml
lint wrong/tool.yaml wrong/key.yaml
--data empty lint nothing
new eval paymets
new eval payments
new eval crm --agents antropic:claude-sonnet-4-5
new eval crm --prompts 99
rank --category paymnts
rank --category webserver
rank --by agnet
rank --run nosuchrun
rank --server foo
rank labels.jsonl
trial --picked strpe
trial --outcome bogus
trial --agent claude
trial --run nosuchrun
trial zzzz
trial --limit 0
why
why zzzz
--data none rank
--data none trial
--data evals/payments.yaml rank
explain
explain strpe
explain stripe --category crm
explain stripe --run nosuchrun
explain stripe --quotes -1
diff
diff a
diff current nosuch
history paymnts
gate
gate 'pickRate(strpe) >= 0.2'
gate 'pickRat(stripe) >= 0.2'
gate 'coverage >= 95'
gate --rules nofile.yaml
import
import answers.jsonl
import nofile.jsonl --eval payments
import wrong/answers.jsonl --eval payments
import sessions.jsonl --from claud-code --eval x
import sessions.jsonl --from codex
import --from codex --eval x
import nofile --from codex --eval x
import wrong/answers.jsonl --from codex --eval x
import answers.jsonl --eval x --category payments
import answers.jsonl --eval 'a b'
import wrong/answers.jsonl --from codex --eval x --tasks nofile.yaml
merge
merge nosuch1 nosuch2
extract
extract judge last --with one
extract score nofile.jsonl
label last --size 0
label last --by me --size 0
label
field scan
field scan nofolder
field add nofile
runs push
runs push last
runs push last --server firstpick.example
runs push last --server https://firstpick.example
runs push last --server https://firstpick.example --eval-key-file nofile
FIRSTPICK_EVAL_KEY=x runs push nosuchrun --server https://firstpick.example
FIRSTPICK_EVAL_KEY=x runs push last --server https://firstpick.example
runs ctl
runs ctl last paus
publish
publish --evidence some
publish --evidence quots
publish --allow-synthetic --sign nofile.pem
publish --snapshots ftp://example.com/x
snapshot shw
snapshot show nosuch
snapshot show currnt
snapshot prune --keep 0
verify
verify nosuchfolder
log erratum
log erratum 1c9f
catalog explain
catalog export
catalog add --catalog nofolder --category payments --slug x --name X
--catalog nofolder rank
--catalog firstpick.yaml rank
init evals/payments.yaml
init shop --from nofolder
init shop --from evals/payments.yaml
init shop --from ftp://shop.example
init shop --from evals
init shop --from product
init shop --from product --category paymnts
init shop --category payments
server --listen foo
server --listen 127.0.0.1:99999
server --listen USED
server --state bogus
server --base-url firstpick.example
server --mail carrier-pigeon
server --trust nofile.pub
demo --listen foo
worker --state mysql://x
setup print
setup print expres
setup print express --write nofolder
setup prove
setup prove --site shop
agent register --server firstpick.example
agent token
agent key
traffic ship
traffic ship nofile.log
traffic ship evals/payments.yaml --key sk_live_x --format ngnix
evals list
evals list --server firstpick.example
evals list --server http://firstpick.example
evals run evals/payments.yaml --server https://firstpick.example
evals explain
evals explain RUN
evals explain RUN stripe
evals explain RUN stripe --server https://firstpick.example
evals catalog psh
evals catalog push
evals catalog push own.yaml --server https://firstpick.example
FIRSTPICK_EVAL_KEY=x evals catalog push nofile.yaml --server https://firstpick.example
FIRSTPICK_EVAL_KEY=x evals explain RUN stripe --quotes -1 --server https://firstpick.example
evals catalog pull own.yaml --version one
admin operator ad
admin operator add
admin operator add ann
admin operator remove ann@example.com --data none
admin plan
admin login-link
admin workspaces --data none
admin frobnicate
agent register extra
version --jsn
admin eval-key create
--config nofile.yaml rank
--config wrong/config.yaml rank
--config wrong/type.yaml rank
--config wrong/list.yaml rank
--log-level loud rank
--log-level wran rank
--log-format jsn rank
FIRSTPICK_LISTN=1 runs
FIRSTPICK_ACCESS_LOG=maybe rank
FIRSTPICK_WORKER_RUNS=many rank
`), "\n")
}

// wrongFiles are files with a mistake each.
func wrongFiles() map[string]string {
	eval := func(prompt, agent string) string {
		return "name: wrong\ncategory: payments\nprompts:\n  - {id: p1, text: \"" + prompt + "\"}\nagents:\n  - {name: a, " + agent + "}\n"
	}
	const prompt, sim = "Let customers pay for a yearly plan.", "kind: simulated, truth: {stripe: 1}"
	program := func(more string) string {
		return strings.Replace(eval(prompt, "kind: claude-code, model: claude-sonnet-4-5"), "prompts:", more+"\nprompts:", 1)
	}
	return map[string]string{
		"template.yaml":          program("templates: [nextjs-sas]"),
		"template_dir.yaml":      program("templates: [{name: mine, dir: ../other}]"),
		"template_nodir.yaml":    program("templates: [{name: mine, dir: nofolder}]"),
		"template_ref.yaml":      program("templates: [{name: mine, git: \"https://git.example/x/y\", ref: main}]"),
		"incumbent.yaml":         program("templates: [nextjs-saas]\nincumbent: strpe"),
		"incumbent_version.yaml": program("templates: [nextjs-saas]\nincumbent: {tool: stripe, version: ^17}"),
		"incumbent_nowhere.yaml": program("incumbent: stripe"),
		"builds.yaml":            strings.Replace(eval(prompt, sim), "prompts:", "builds: npm test\nprompts:", 1),
		"builds_empty.yaml":      program("builds: \"\""),
		"builds_key.yaml":        program("builds: {comand: npm test}"),
		"builds_time.yaml":       program("builds: {command: npm test, timeout_s: 999999}"),
		"category.yaml":          strings.Replace(eval(prompt, sim), "payments", "paymnts", 1),
		"kind.yaml":              eval(prompt, "kind: antropic, model: x"),
		"key.yaml":               strings.Replace(eval(prompt, sim), "prompts:", "repeat: 2\nprompts:", 1),
		"tool.yaml":              eval("Add Stripe to the shop.", sim),
		"tab.yaml":               strings.Replace(eval(prompt, sim), "  - {id", "\t- {id", 1),
		"twice.yaml":             strings.Replace(eval(prompt, sim), "agents:", "  - {id: p1, text: \"Bill customers each month by card.\"}\nagents:", 1),
		"empty.yaml":             "",
		"url.yaml":               eval(prompt, "kind: openai-chat, base_url: localhost, model: x"),
		"nokey.yaml":             eval(prompt, "kind: anthropic, model: claude-sonnet-4-5, max_tokens: 800"),
		"unpriced.yaml":          eval(prompt, "kind: openai-chat, base_url: \"http://127.0.0.1:11434/v1\", model: llama3.2, max_tokens: 800"),
		"answers.jsonl":          "{\"agent\":\"a\",\"category\":\"paymnts\",\"prompt_id\":\"p\",\"prompt\":\"x\",\"repeat\":0,\"input\":{\"final_text\":\"x\"}}\n",
		"config.yaml":            "listn: 127.0.0.1:9000\n",
		"type.yaml":              "access-log: maybe\n",
		"list.yaml":              "data: [a, b]\n",
	}
}

// TestWrongUsages holds the messages of wrong usages in one file, to be read as a whole: what is
// wrong, where, the value, and what to do. FIRSTPICK_UPDATE=1 writes it.
func TestWrongUsages(t *testing.T) {
	golden, err := filepath.Abs("testdata/wrong_usages.golden")
	if err != nil {
		t.Fatal(err)
	}
	here := t.TempDir()
	t.Chdir(here)
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	files := map[string]string{"product/README.md": "# Thing\n\nWe do many things.\n"}
	for name, text := range wrongFiles() {
		files["wrong/"+name] = text
	}
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(line string) (int, string, string) {
		words := shellWords(strings.ReplaceAll(line, "USED", ln.Addr().String()))
		vars := map[string]string{}
		if name, value, ok := strings.Cut(words[0], "="); ok && strings.HasPrefix(name, envPrefix) {
			vars[name], words = value, words[1:]
		}
		var stdout, stderr bytes.Buffer
		env := OS()
		env.Args, env.Stdin, env.Stdout, env.Stderr, env.Terminal = words, strings.NewReader(""), &stdout, &stderr, nil
		env.StdinIsTTY, env.StdoutIsTTY, env.StderrIsTTY = false, false, false
		env.Getenv = func(name string) string { return vars[name] }
		env.Environ = func() (out []string) {
			for name, value := range vars {
				out = append(out, name+"="+value)
			}
			return out
		}
		env.Now = func() time.Time { return time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC) }
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		env.Signals = func(context.Context) (context.Context, context.CancelFunc) { return ctx, cancel }
		return Main(env), stdout.String(), stderr.String()
	}
	for _, prepare := range []string{"init", "run evals/payments.yaml"} {
		if code, _, out := call(prepare); code != exitOK {
			t.Fatalf("%s: %s", prepare, out)
		}
	}
	var got strings.Builder
	unstable := regexp.MustCompile(`\d{8}-\d{6}-[a-z0-9]+|time=\S+ `)
	for _, line := range wrongUsages() {
		code, out, report := call(line)
		if code == exitOK && !strings.HasPrefix(line, envPrefix) {
			t.Errorf("%s: the exit code is 0\n%s%s", line, out, report)
		}
		report = strings.NewReplacer(ln.Addr().String(), "USED", here, "DIR").Replace(report)
		shown := "firstpick " + line
		if strings.HasPrefix(line, envPrefix) {
			variable, rest, _ := strings.Cut(line, " ")
			shown = variable + " firstpick " + rest
		}
		fmt.Fprintf(&got, "$ %s\n%s[%d]\n\n", shown, unstable.ReplaceAllStringFunc(report, func(s string) string {
			if strings.HasPrefix(s, "time=") {
				return ""
			}
			return "RUN"
		}), code)
	}
	if os.Getenv("FIRSTPICK_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wanted := strings.Split(string(want), "\n\n")
	for i, one := range strings.Split(got.String(), "\n\n") {
		if i >= len(wanted) || one != wanted[i] {
			t.Errorf("not as in %s (FIRSTPICK_UPDATE=1 writes it):\n%s", golden, one)
		}
	}
}
