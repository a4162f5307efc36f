package cli

import (
	"bytes"
	"context"
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
