package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestInit: the short configuration is accepted where it is only found, --server writes every
// key and replaces no edited file.
func TestInit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shop")
	do := func(want int, args ...string) string {
		t.Helper()
		var out bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stderr = append([]string{"init", dir}, args...), &out
		env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
		if code := Main(env); code != want {
			t.Fatalf("%v: code %d\n%s", args, code, &out)
		}
		return out.String()
	}
	if out := do(exitOK); !strings.Contains(out, "next: cd "+dir+" && firstpick run evals/payments.yaml") {
		t.Error(out)
	}
	text, err := os.ReadFile(filepath.Join(dir, configName))
	if err != nil || bytes.Count(text, []byte("\n")) > 10 {
		t.Errorf("%v: %s", err, text)
	}
	do(exitOK, "--server")
	if text, _ = os.ReadFile(filepath.Join(dir, configName)); !bytes.Equal(text, serverConfig) {
		t.Error("not every key is written")
	}
	set := map[string]any{}
	if err := yaml.Unmarshal(serverConfig, &set); err != nil {
		t.Fatal(err)
	}
	keys, _ := configKeys(reflect.TypeFor[Config]())
	for _, key := range keys {
		if _, ok := set[key]; !ok && key != "remote" && key != "eval-key" && key != "call-private" { // old, secret, for tests
			t.Errorf("%s is missing", key)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, configName), []byte("data: d\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := do(exitUsage, "--server"); !strings.Contains(out, "was edited") {
		t.Error(out)
	}
}

// TestInitFrom proposes an eval of a product: without an answer, and with no, it writes
// nothing; with yes everything, so that lint accepts it. A site is read like a folder.
func TestInitFrom(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const readme = "# Coinpurse\n\nAccept payments online with a hosted checkout. An alternative to Stripe.\n"
	write := func(name, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("product/README.md", readme)
	write("product/package.json", `{"name": "coinpurse-sdk", "homepage": "https://coinpurse.example"}`)
	write("nothing/README.md", "# Kettle\n\nRecipes for families.\n")
	write("local.yaml", "call-private: true\n")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			_, _ = io.WriteString(w, "<title>Coinpurse</title><p>Accept payments online with a hosted checkout.</p>")
		case "/docs":
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer site.Close()
	do := func(want int, answer string, args ...string) (string, string) {
		t.Helper()
		var out, errs bytes.Buffer
		env := referenceEnv()
		env.Args, env.Stdout, env.Stderr = args, &out, &errs
		env.Stdin, env.StdinIsTTY = strings.NewReader(answer), answer != ""
		env.Signals = func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
		if code := Main(env); code != want {
			t.Fatalf("%v: code %d\n%s%s", args, code, &out, &errs)
		}
		return out.String(), errs.String()
	}
	for _, answer := range []string{"", "n\n", "\n"} {
		out, errs := do(exitOK, answer, "init", "shop", "--from", "product")
		for _, want := range []string{"category    payments", "rivals      stripe, ", "+  - {slug: coinpurse, name: Coinpurse, domains: [coinpurse.example], packages: {npm: [coinpurse-sdk]}}", "+++ shop/evals/payments.yaml", "power: "} {
			if !strings.Contains(out, filepath.FromSlash(want)) && !strings.Contains(out, want) {
				t.Errorf("%q: %q is missing in\n%s", answer, want, out)
			}
		}
		if _, err := os.Stat("shop"); err == nil || !strings.Contains(errs, "nothing is written") {
			t.Fatalf("%q: %v %s", answer, err, errs)
		}
	}
	if out, _ := do(exitOK, "", "init", "web", "--from", site.URL, "--config", "local.yaml"); !strings.Contains(out, "name        Coinpurse\n") || !strings.Contains(out, "category    payments") {
		t.Error(out)
	}
	if _, errs := do(exitUsage, "", "init", "web", "--from", site.URL); !strings.Contains(errs, "not public") {
		t.Error(errs)
	}
	if _, errs := do(exitUsage, "", "init", "--from", "nothing"); !strings.Contains(errs, "no category found for Kettle") {
		t.Error(errs)
	}
	do(exitOK, "y\n", "init", "shop", "--from", "product")
	if _, errs := do(exitUsage, "", "init", "shop", "--from", "product", "--yes"); !strings.Contains(errs, "exists") {
		t.Error(errs)
	}
	do(exitOK, "", "lint", "--catalog", "shop/catalog", "shop/evals/payments.yaml")
	do(exitOK, "", "init", "forms", "--from", "product", "--category", "forms", "--yes")
	if _, err := os.Stat("forms/evals/forms.yaml"); err != nil {
		t.Error(err)
	}

	asked := 0
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, _ = io.WriteString(w, `{"model":"m","message":{"role":"assistant","content":"[\"Use Stripe to bill my guests each month.\", \"Bill the parents of my swimming school each term, and remind those who are late.\"]"},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":9}`)
	}))
	defer model.Close()
	out, errs := do(exitOK, "", "init", "drafts", "--from", "product", "--draft", "ollama:m@"+model.URL)
	if asked != 1 || !strings.Contains(errs, "at most 0.0000 USD") || !strings.Contains(errs, "; 1 left out by lint") || !strings.Contains(out, "swimming school") || strings.Contains(out, "my guests") {
		t.Errorf("%d requests: %s\n%s", asked, errs, out)
	}
	for draft, want := range map[string]string{
		"openai-chat:m@" + model.URL: "price of the model is unknown", "claude-code:m": "model behind an API", "ollama": "want KIND:MODEL",
	} {
		if _, errs := do(exitUsage, "", "init", "drafts", "--from", "product", "--draft", draft); !strings.Contains(errs, want) || asked != 1 {
			t.Errorf("%s: %s", draft, errs)
		}
	}
}
