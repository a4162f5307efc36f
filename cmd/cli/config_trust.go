package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"github.com/spf13/viper"
)

// guardedKeys are settings that count only in a configuration file that the user named:
// one that is found in the working folder may have come with somebody else's repository.
// These let programs out of the sandbox, send keys and mail elsewhere, decide whom a
// server trusts, or write outside of the folder.
var guardedKeys = []string{
	"admin-email", "base-url", "billing-secret", "binary", "bundles", "call-ports", "call-private", "data", "eval-key", "eval-key-file", "eval-private", "eval-programs",
	"issuers", "limit-rules", "limits", "mail", "metrics", "new-accounts", "oidc", "plans", "registration-types", "remote", "sandbox", "server", "snapshots", "state", "state-key", "trust", "trusted-proxies",
}

// configFile returns the configuration file that the user named, or "".
func configFile(env *Env, flags *pflag.FlagSet) string {
	if file, _ := flags.GetString("config"); file != "" {
		return file
	}
	return env.Getenv(envPrefix + "CONFIG")
}

// checkFound refuses guarded keys of a configuration file that was found and not named. Keys
// that the environment or a flag sets anyway do not count.
func checkFound(env *Env, v *viper.Viper, flags *pflag.FlagSet, defaults map[string]any) error {
	var found []string
	for _, key := range guardedKeys {
		flag := flags.Lookup(key)
		set := flag != nil && flag.Changed || env.Getenv(envName(key)) != ""
		if !set && fmt.Sprint(v.Get(key)) != fmt.Sprint(defaults[key]) && !allowedWhenFound(key, v.GetString(key)) {
			found = append(found, key)
		}
	}
	if len(found) == 0 {
		return nil
	}
	var lines []string
	text, _ := os.ReadFile(configName) // it was read before
	for _, key := range found {
		shown := key
		if key == "sandbox" || key == "data" { // others may hold secrets
			shown += ": " + v.GetString(key)
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s", configName, lineOf(text, key), shown))
	}
	hint := fmt.Sprintf("if you trust the file: --config %s, or FIRSTPICK_CONFIG=%[1]s", configName)
	if len(found) == 1 {
		hint += "; or set " + envName(found[0])
	}
	return usageErr(hint, "%s (allowed only in a file given by --config; this one was found in the working folder)", strings.Join(lines, ", "))
}

// allowedWhenFound reports a value that neither weakens anything nor leaves the folder.
func allowedWhenFound(key, value string) bool {
	switch key {
	case "sandbox":
		return value == sandboxRequired
	case "data":
		return inWorkingFolder(value)
	}
	return false
}

// inWorkingFolder reports a path that stays in the working folder, links included.
func inWorkingFolder(path string) bool {
	if !filepath.IsLocal(path) {
		return false
	}
	here, err := filepath.EvalSymlinks(".")
	if err != nil {
		return false
	}
	for dir := filepath.Clean(path); dir != "."; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			rel, err := filepath.Rel(here, real)
			return err == nil && filepath.IsLocal(rel)
		}
		if _, err := os.Lstat(dir); err == nil {
			return false // a link to what does not exist yet
		}
	}
	return true
}

// lineOf is the line of a key of a YAML file, 1 if it is not found.
func lineOf(text []byte, key string) int {
	at := regexp.MustCompile(`(?mi)^["']?` + regexp.QuoteMeta(key) + `["']?[ \t]*:`).FindIndex(text)
	if at == nil {
		return 1
	}
	return 1 + strings.Count(string(text[:at[0]]), "\n")
}

// flagValue is the value of a flag, in the type of the configuration.
func flagValue(f *pflag.Flag) any {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return f.Value.String()
}

// The modes of the sandbox other than a container.
const (
	sandboxAuto     = "auto"
	sandboxRequired = "required"
	sandboxOff      = "off"
)

func checkSandbox(mode string) error {
	runtime, image, _ := strings.Cut(mode, ":")
	container := image != "" && (runtime == "docker" || runtime == "podman")
	if !container && !slices.Contains([]string{sandboxAuto, sandboxRequired, sandboxOff}, mode) {
		return fmt.Errorf("sandbox: must be auto, required, off, docker:IMAGE or podman:IMAGE (got %q)%s", mode, meant(mode, sandboxAuto, sandboxRequired, sandboxOff))
	}
	return nil
}

func checkBinary(entries []string) error {
	for _, entry := range entries {
		name, path, ok := strings.Cut(entry, "=")
		if !ok || name == "" || strings.ContainsAny(name, `/\`) || !filepath.IsAbs(path) {
			return fmt.Errorf("binary: %q is not NAME=PATH with an absolute path, such as claude=/opt/claude/bin/claude", entry)
		}
	}
	return nil
}
