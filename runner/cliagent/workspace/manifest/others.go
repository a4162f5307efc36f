package manifest

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

func packageJSON(data []byte) ([]Dep, error) {
	var f struct {
		Dependencies map[string]any `json:"dependencies"`
		Dev          map[string]any `json:"devDependencies"`
		Peer         map[string]any `json:"peerDependencies"`
		Optional     map[string]any `json:"optionalDependencies"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	return versions("@", f.Dependencies, f.Dev, f.Peer, f.Optional), nil
}

func composer(data []byte) ([]Dep, error) {
	var f struct {
		Require map[string]any `json:"require"`
		Dev     map[string]any `json:"require-dev"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	var out []Dep
	for _, d := range versions(" ", f.Require, f.Dev) {
		if strings.Contains(d.Name, "/") { // php and ext-json are the platform
			d.Name = strings.ToLower(d.Name)
			out = append(out, d)
		}
	}
	return out, nil
}

// versions reads tables of names and versions. A local path is not a package of a
// registry, and an invalid version is ignored.
func versions(sep string, tables ...map[string]any) []Dep {
	var out []Dep
	for _, table := range tables {
		for _, e := range sorted(table) {
			version, _ := e.value.(string)
			if strings.HasPrefix(version, "file:") || strings.HasPrefix(version, "link:") || strings.HasPrefix(version, "workspace:") {
				continue
			}
			out = append(out, versioned(e.key, sep, version))
		}
	}
	return out
}

var goRequire = lazyregexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.-]+\.[a-z]+/\S+)\s+(v\d\S*)[ \t]*(//\s*indirect)?`)

// goMod omits indirect requirements.
func goMod(data []byte) []Dep {
	var out []Dep
	for _, m := range goRequire.FindAllStringSubmatch(string(data), -1) {
		if m[3] == "" {
			out = append(out, versioned(m[1], " ", m[2]))
		}
	}
	return out
}

func cargo(data []byte) ([]Dep, error) {
	type tables struct {
		Dependencies map[string]any `toml:"dependencies"`
		Dev          map[string]any `toml:"dev-dependencies"`
		Build        map[string]any `toml:"build-dependencies"`
	}
	var f struct {
		tables
		Target    map[string]tables `toml:"target"`
		Workspace tables            `toml:"workspace"`
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	all := []tables{f.tables, f.Workspace}
	for _, t := range sorted(f.Target) {
		all = append(all, t.value)
	}
	var out []Dep
	for _, t := range all {
		for _, table := range []map[string]any{t.Dependencies, t.Dev, t.Build} {
			for _, e := range sorted(table) {
				out = append(out, crate(e.key, e.value)...)
			}
		}
	}
	return out, nil
}

// crate reads one dependency, which may go by another name here.
func crate(name string, value any) []Dep {
	version, _ := value.(string)
	if t, ok := value.(map[string]any); ok {
		if _, local := t["path"]; local {
			return nil
		}
		if real, ok := t["package"].(string); ok {
			name = real
		}
		version, _ = t["version"].(string)
	}
	return []Dep{versioned(name, " ", version)}
}

var gemLine = lazyregexp.MustCompile(`(?m)^\s*(?:gem|\w+\.add_(?:development_|runtime_)?dependency)[\s(]+['"]([\w.-]+)['"](?:\s*,\s*['"]([^'"]*)['"])?`)

func gemfile(data []byte) []Dep {
	var out []Dep
	for _, m := range gemLine.FindAllStringSubmatch(string(data), -1) {
		out = append(out, versioned(m[1], " ", m[2]))
	}
	return out
}

// pom reads every dependency of a Maven project, managed ones included.
func pom(data []byte) ([]Dep, error) {
	var out []Dep
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "dependency" {
			continue
		}
		var d struct {
			Group    string `xml:"groupId"`
			Artifact string `xml:"artifactId"`
			Version  string `xml:"version"`
		}
		if err := dec.DecodeElement(&d, &start); err != nil {
			return out, err
		}
		if group, artifact := strings.TrimSpace(d.Group), strings.TrimSpace(d.Artifact); group != "" && artifact != "" {
			out = append(out, versioned(group+":"+artifact, ":", strings.TrimSpace(d.Version)))
		}
	}
}

var gradleLine = lazyregexp.MustCompile(`(?m)^\s*(?:api|implementation|compileOnly|runtimeOnly|annotationProcessor|kapt|ksp|\w*(?:Implementation|Api|CompileOnly|RuntimeOnly))\b[^'"\n]*['"]([\w.-]+:[\w.-]+)(?::([^'"]+))?['"]`)

func gradle(data []byte) []Dep {
	var out []Dep
	for _, m := range gradleLine.FindAllStringSubmatch(string(data), -1) {
		out = append(out, versioned(m[1], ":", m[2]))
	}
	return out
}

// versionCatalog reads Gradle's table of libraries.
func versionCatalog(data []byte) ([]Dep, error) {
	var f struct {
		Libraries map[string]any `toml:"libraries"`
	}
	if err := toml.Unmarshal(data, &f); err != nil {
		return nil, err
	}
	var out []Dep
	for _, e := range sorted(f.Libraries) {
		name, _ := e.value.(string)
		if t, ok := e.value.(map[string]any); ok {
			if name, _ = t["module"].(string); name == "" {
				group, _ := t["group"].(string)
				artifact, _ := t["name"].(string)
				name = group + ":" + artifact
			}
		}
		if parts := strings.SplitN(name, ":", 3); len(parts) >= 2 && parts[0] != "" && parts[1] != "" {
			out = append(out, Dep{parts[0] + ":" + parts[1], name})
		}
	}
	return out, nil
}

var nugetLine = lazyregexp.MustCompile(`<Package(?:Reference|Version)\s[^>]*\bInclude\s*=\s*"([^"]+)"(?:[^>]*\bVersion\s*=\s*"([^"]+)")?`)

func msbuild(data []byte) []Dep {
	var out []Dep
	for _, m := range nugetLine.FindAllStringSubmatch(string(data), -1) {
		d := versioned(m[1], " ", m[2])
		d.Name = strings.ToLower(d.Name)
		out = append(out, d)
	}
	return out
}

var fromLine = lazyregexp.MustCompile(`(?mi)^\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?`)

// dockerfile leaves out stages that are built in the file itself.
func dockerfile(data []byte) []Dep {
	var out []Dep
	stages := map[string]bool{"scratch": true}
	for _, m := range fromLine.FindAllStringSubmatch(string(data), -1) {
		if !stages[strings.ToLower(m[1])] {
			out = append(out, image(m[1]))
		}
		stages[strings.ToLower(m[2])] = true
	}
	return out
}

var imageLine = lazyregexp.MustCompile(`(?m)^\s+image:\s*["']?([\w./:@-]+)`)

func compose(data []byte) []Dep {
	var out []Dep
	for _, m := range imageLine.FindAllSubmatch(data, -1) {
		out = append(out, image(string(m[1])))
	}
	return out
}

// image reads "registry:5000/team/name:tag@sha256:...".
func image(ref string) Dep {
	name, _, _ := strings.Cut(ref, "@")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
		name = name[:i]
	}
	return Dep{name, ref}
}
