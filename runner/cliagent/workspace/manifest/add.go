package manifest

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// Additions names the manifests that Add can extend.
const Additions = "package.json, pyproject.toml, requirements.txt, go.mod, Cargo.toml or Gemfile"

// Addable reports whether Add can extend a file.
func Addable(name string) bool {
	return slices.Contains([]string{"package.json", "pyproject.toml", "requirements.txt", "go.mod", "Cargo.toml", "Gemfile"}, path.Base(name))
}

var (
	npmDeps    = lazyregexp.MustCompile(`(?m)^([ \t]*)"dependencies"\s*:\s*\{`)
	pypiDeps   = lazyregexp.MustCompile(`(?m)^dependencies\s*=\s*\[`)
	cargoDeps  = lazyregexp.MustCompile(`(?m)^\[dependencies\][ \t]*\n?`)
	goVersion  = lazyregexp.MustCompile(`^v(\d+)\.\d+\.\d+`)
	projectTag = lazyregexp.MustCompile(`(?m)^\[project\][ \t]*\n`)
)

// Add returns a manifest with a package in it, at an exact version, or any version if it is
// empty. The rest of the text stays as it is. go.mod requires a version.
func Add(name string, data []byte, pkg, version string) ([]byte, error) {
	if have := packagesOf(name, data); have[catalog.PackageKey(catalog.Ecosystem(Kind(name)), pkg)] {
		return data, nil
	}
	text := string(data)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	switch path.Base(name) {
	case "package.json":
		text = addNPM(text, pkg, orAny(version))
	case "pyproject.toml":
		text = addPython(text, pkg, version)
	case "requirements.txt":
		text += exact(pkg, "==", version) + "\n"
	case "go.mod":
		m := goVersion.FindStringSubmatch(version)
		if m == nil {
			return nil, fmt.Errorf("%s: %s needs a version such as v1.2.3 (got %q)", name, pkg, version)
		}
		if major, _ := strconv.Atoi(m[1]); major > 1 && !strings.HasPrefix(pkg, "gopkg.in/") {
			pkg += "/v" + m[1]
		}
		text += fmt.Sprintf("\nrequire %s %s\n", pkg, version)
	case "Cargo.toml":
		line := fmt.Sprintf("%s = %q\n", pkg, orAny(exact("", "=", version)))
		if at := cargoDeps.FindStringIndex(text); at != nil {
			text = text[:at[1]] + line + text[at[1]:]
		} else {
			text += "\n[dependencies]\n" + line
		}
	case "Gemfile":
		text += fmt.Sprintf("gem %q", pkg)
		if version != "" {
			text += fmt.Sprintf(", %q", version)
		}
		text += "\n"
	}
	if len(packagesOf(name, []byte(text))) == len(packagesOf(name, data)) {
		return nil, fmt.Errorf("%s: %s cannot be added: the file has an unusual form; want one of %s", name, pkg, Additions)
	}
	return []byte(text), nil
}

// packagesOf returns the packages of a manifest by key.
func packagesOf(name string, data []byte) map[string]bool {
	kind, deps := Deps(name, data)
	out := map[string]bool{}
	for _, d := range deps {
		out[catalog.PackageKey(catalog.Ecosystem(kind), d.Name)] = true
	}
	return out
}

func orAny(version string) string {
	if version == "" {
		return "*"
	}
	return version
}

// exact returns a package at a version; the package alone if the version is empty.
func exact(pkg, sign, version string) string {
	if version == "" {
		return pkg
	}
	return pkg + sign + version
}

func addNPM(text, pkg, version string) string {
	line := fmt.Sprintf("%s: %s", quoted(pkg), quoted(version))
	if at := npmDeps.FindStringSubmatchIndex(text); at != nil {
		indent := text[at[2]:at[3]]
		rest := strings.TrimLeft(text[at[1]:], " \t\n")
		if strings.HasPrefix(rest, "}") {
			return text[:at[1]] + "\n" + indent + indent + line + "\n" + indent + rest
		}
		return text[:at[1]] + "\n" + indent + indent + line + ",\n" + indent + indent + rest
	}
	end := strings.LastIndexByte(text, '}')
	if end < 0 {
		return text
	}
	head := strings.TrimRight(text[:end], " \t\n")
	comma := ","
	if strings.HasSuffix(head, "{") {
		comma = ""
	}
	return head + comma + "\n  \"dependencies\": {\n    " + line + "\n  }\n" + text[end:]
}

func addPython(text, pkg, version string) string {
	item := quoted(exact(pkg, "==", version))
	if at := pypiDeps.FindStringIndex(text); at != nil {
		rest := strings.TrimLeft(text[at[1]:], " \t")
		switch {
		case strings.HasPrefix(rest, "]"):
			return text[:at[1]] + item + rest
		case strings.HasPrefix(rest, "\n"):
			return text[:at[1]] + "\n    " + item + "," + rest
		}
		return text[:at[1]] + item + ", " + rest
	}
	if at := projectTag.FindStringIndex(text); at != nil {
		return text[:at[1]] + "dependencies = [" + item + "]\n" + text[at[1]:]
	}
	return text
}

// quoted returns a text as a JSON string, which is a TOML string too.
func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(data)
}
