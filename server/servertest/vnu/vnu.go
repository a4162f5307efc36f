// Package vnu has the Nu HTML checker read pages.
package vnu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing" //nolint:depguard // a package of tests
)

// Check fails the test for every message of the checker, warnings included. Pages are
// HTML by name. A machine without Java or the checker skips, or fails where
// FIRSTPICK_REQUIRE names java or npm. root is the folder server/servertest.
func Check(t *testing.T, root string, pages map[string]string) {
	t.Helper()
	folder := os.Getenv("FIRSTPICK_NPM") //nolint:forbidigo // the switch of all tests
	if folder == "" {
		folder = filepath.Join(root, "npm")
	}
	jar := filepath.Join(folder, "node_modules", "vnu-jar", "build", "dist", "vnu.jar")
	java, err := exec.LookPath("java")
	if err != nil {
		missing(t, "java", "no java on this machine")
	}
	if _, err := os.Stat(jar); err != nil {
		missing(t, "npm", "no "+jar+"; run npm ci in "+folder)
	}
	dir, files := t.TempDir(), map[string]string{}
	args := []string{"-jar", jar, "--format", "json", "--stdout", "--exit-zero-always"}
	for name, html := range pages {
		file := filepath.Join(dir, fmt.Sprint(len(files), ".html"))
		if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
			t.Fatal(err)
		}
		files["file:"+file] = name
		args = append(args, file)
	}
	out, err := exec.CommandContext(t.Context(), java, args...).Output()
	if err != nil {
		var exit *exec.ExitError
		_ = errors.As(err, &exit)
		t.Fatalf("vnu: %v %s", err, exit.Stderr)
	}
	var found struct {
		Messages []struct {
			URL, Message, Extract string
			LastLine              int
		}
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&found); err != nil {
		t.Fatalf("vnu: %v: %s", err, out)
	}
	for _, m := range found.Messages {
		if strings.HasPrefix(m.Message, "Attribute “tool") { // WebMCP's declarative form, which the checker does not know yet
			continue
		}
		t.Errorf("%s:%d: %s: %q", files[m.URL], m.LastLine, m.Message, m.Extract)
	}
}

func missing(t *testing.T, name, reason string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("FIRSTPICK_REQUIRE"), ","), name) { //nolint:forbidigo // the switch of all tests
		t.Fatal("FIRSTPICK_REQUIRE names " + name + ": " + reason)
	}
	t.Skip(reason)
}
