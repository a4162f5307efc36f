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
merge
merge nosuch1 nosuch2
extract
extract judge last --with one
extract score nofile.jsonl
label last --size 0
label
runs ctl
runs ctl last paus
publish
publish --evidence some
publish --allow-synthetic --sign nofile.pem
publish --snapshots ftp://example.com/x
snapshot shw
snapshot show nosuch
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
	return map[string]string{
		"category.yaml": strings.Replace(eval(prompt, sim), "payments", "paymnts", 1),
		"kind.yaml":     eval(prompt, "kind: antropic, model: x"),
		"key.yaml":      strings.Replace(eval(prompt, sim), "prompts:", "repeat: 2\nprompts:", 1),
		"tool.yaml":     eval("Add Stripe to the shop.", sim),
		"tab.yaml":      strings.Replace(eval(prompt, sim), "  - {id", "\t- {id", 1),
		"twice.yaml":    strings.Replace(eval(prompt, sim), "agents:", "  - {id: p1, text: \"Bill customers each month by card.\"}\nagents:", 1),
		"empty.yaml":    "",
		"url.yaml":      eval(prompt, "kind: openai-chat, base_url: localhost, model: x"),
		"nokey.yaml":    eval(prompt, "kind: anthropic, model: claude-sonnet-4-5, max_tokens: 800"),
		"unpriced.yaml": eval(prompt, "kind: openai-chat, base_url: \"http://127.0.0.1:11434/v1\", model: llama3.2, max_tokens: 800"),
		"answers.jsonl": "{\"agent\":\"a\",\"category\":\"paymnts\",\"prompt_id\":\"p\",\"prompt\":\"x\",\"repeat\":0,\"input\":{\"final_text\":\"x\"}}\n",
		"config.yaml":   "listn: 127.0.0.1:9000\n",
		"type.yaml":     "access-log: maybe\n",
		"list.yaml":     "data: [a, b]\n",
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
	for name, text := range wrongFiles() {
		if err := os.MkdirAll("wrong", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("wrong", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(line string) (int, string, string) {
		words := shellWords(strings.ReplaceAll(line, "USED", ln.Addr().String()))
		vars := map[string]string{}
		for name, value, ok := strings.Cut(words[0], "="); ok && strings.HasPrefix(name, envPrefix); {
			vars[name], words = value, words[1:]
			break
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
		fmt.Fprintf(&got, "$ firstpick %s\n%s[%d]\n\n", line, unstable.ReplaceAllStringFunc(report, func(s string) string {
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
