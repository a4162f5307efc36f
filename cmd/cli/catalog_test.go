package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const ownShop = "category: {slug: shop, name: Shop, domain: saas}\ntools:\n  - {slug: acme, name: Acme}\n"

// TestCatalogAddAsksOnATerminal answers the questions of catalog add.
func TestCatalogAddAsksOnATerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		answers, args []string
		code          int
		want          string // last line of the file
		stderr        string
	}{
		"all answers": {
			answers: []string{"shop", "new", "New Co", "new.example, www.new.example", "npm:@new/sdk pypi:new", "", "api.new.example", "NEW_*", "", "checkout"},
			want:    `  - {slug: new, name: New Co, domains: [new.example, www.new.example], packages: {npm: ['@new/sdk'], pypi: [new]}, hosts: [api.new.example], env: [NEW_*], aliases: [{text: New Co, require: checkout}]}`,
			stderr:  "added new to shop",
		},
		"flags are not asked for": {
			args: []string{"--category", "shop", "--slug", "new"}, answers: []string{"New Co", "", "", "", "", "", "", ""},
			want: "  - {slug: new, name: New Co}", stderr: "added new to shop",
		},
		"flags with one trace leave no question": {
			args: []string{"--category", "shop", "--slug", "new", "--name", "New Co", "--package", "npm:new"},
			want: "  - {slug: new, name: New Co, packages: {npm: [new]}}", stderr: "added new to shop",
		},
		"nor do those of a new category": {
			args: []string{"--category", "tax", "--category-name", "Tax", "--category-domain", "saas", "--slug", "taxi", "--name", "Taxi", "--domain", "taxi.example"},
			want: "  - {slug: acme, name: Acme}", stderr: "added taxi to tax",
		},
		"the category is asked for": {
			args: []string{"--slug", "new", "--name", "New Co", "--host", "api.new.example"}, answers: []string{"shop"},
			want: "  - {slug: new, name: New Co, hosts: [api.new.example]}", stderr: "category (slug): ",
		},
		"a new category": {
			answers: []string{"tax", "Tax", "saas", "Paying taxes.", "taxi", "Taxi", "", "", "", "", "", "", ""}, want: "  - {slug: acme, name: Acme}", stderr: "added taxi to tax",
		},
		"a wrong package": {
			answers: []string{"shop", "new", "New", "", "sdk", "", "", "", "", ""}, code: exitUsage, want: "  - {slug: acme, name: Acme}", stderr: `--package must be ECOSYSTEM:NAME (got "sdk")`,
		},
		"an end in the middle": {
			answers: []string{"shop", "new"}, code: exitUsage, want: "  - {slug: acme, name: Acme}", stderr: "the answers ended; nothing is written",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "shop.yaml")
			if err := os.WriteFile(file, []byte(ownShop), 0o600); err != nil {
				t.Fatal(err)
			}
			var stdout, stderr bytes.Buffer
			env := OS()
			env.Args = append([]string{"catalog", "add", "--catalog", dir}, tt.args...)
			env.Getenv, env.Environ = func(string) string { return "" }, nil
			env.Stdin, env.StdinIsTTY, env.Stdout, env.Stderr = strings.NewReader(strings.Join(append(tt.answers, ""), "\n")), true, &stdout, &stderr
			env.Now = time.Now
			if code := Main(env); code != tt.code || !strings.Contains(stderr.String(), tt.stderr) {
				t.Errorf("exit code %d, want %d: %s", code, tt.code, stderr.String())
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(data)), "\n")
			if got := lines[len(lines)-1]; strings.TrimSpace(got) != strings.TrimSpace(tt.want) {
				t.Errorf("last line\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}
