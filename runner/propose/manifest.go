package propose

import (
	"encoding/json"
	"encoding/xml"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"golang.org/x/mod/modfile"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
)

// A manifest is what a package says of itself.
type manifest struct {
	file          string
	eco           catalog.Ecosystem
	name, display string
	about         string
	keywords      []string
	homepages     []string
	private       bool
}

// isManifest reports whether a file name in lower case is one of the manifests that are read.
func isManifest(base string) bool {
	switch base {
	case "package.json", "pyproject.toml", "setup.cfg", "setup.py", "cargo.toml", "go.mod", "composer.json", "pom.xml", "jsr.json", "deno.json":
		return true
	}
	return strings.HasSuffix(base, ".gemspec") || strings.HasSuffix(base, ".csproj") || strings.HasSuffix(base, ".nuspec")
}

// readManifest reads a manifest; nil for one that cannot be read.
func readManifest(name string, text []byte) *manifest {
	m := &manifest{file: name}
	base := strings.ToLower(path.Base(name))
	ok := false
	switch base {
	case "package.json":
		m.eco, ok = catalog.NPM, m.npm(text)
	case "pyproject.toml":
		m.eco, ok = catalog.PyPI, m.pyproject(text)
	case "setup.cfg", "setup.py":
		m.eco, ok = catalog.PyPI, m.assignments(text)
	case "cargo.toml":
		m.eco, ok = catalog.Cargo, m.cargo(text)
	case "go.mod":
		m.eco, m.name = catalog.Go, modfile.ModulePath(text)
		ok = m.name != ""
	case "composer.json":
		m.eco, ok = catalog.Composer, m.npm(text)
	case "pom.xml":
		m.eco, ok = catalog.Maven, m.maven(text)
	default:
		switch path.Ext(base) {
		case ".gemspec":
			m.eco, ok = catalog.RubyGems, m.assignments(text)
		case ".csproj", ".nuspec":
			m.eco, ok = catalog.NuGet, m.nuget(text)
		}
	}
	if !ok {
		return nil
	}
	return m
}

// npm reads package.json and composer.json.
func (m *manifest) npm(text []byte) bool {
	var f struct {
		Name, DisplayName, ProductName, Description, Type string
		Private                                           bool
		Keywords                                          any
		Homepage                                          any
	}
	if json.Unmarshal(text, &f) != nil {
		return false
	}
	m.name, m.display, m.about, m.private = f.Name, f.DisplayName+f.ProductName, f.Description, f.Private || f.Type == "project"
	if all, ok := f.Keywords.([]any); ok {
		for _, k := range all {
			if s, ok := k.(string); ok {
				m.keywords = append(m.keywords, s)
			}
		}
	}
	if s, ok := f.Homepage.(string); ok {
		m.homepages = append(m.homepages, s)
	}
	return true
}

func (m *manifest) pyproject(text []byte) bool {
	type project struct {
		Name, Description, Homepage, Documentation string
		Keywords                                   []string
		Classifiers                                []string
		URLs                                       map[string]string
	}
	var f struct {
		Project project
		Tool    struct{ Poetry project }
	}
	if toml.Unmarshal(text, &f) != nil {
		return false
	}
	p := f.Project
	if p.Name == "" {
		p = f.Tool.Poetry
	}
	m.name, m.about, m.keywords = p.Name, p.Description, p.Keywords
	m.private = slices.Contains(p.Classifiers, "Private :: Do Not Upload")
	m.homepages = append(m.homepages, p.Homepage, p.Documentation)
	for label, u := range p.URLs {
		if l := key(label); l == "homepage" || l == "documentation" || l == "docs" || l == "website" || l == "home" {
			m.homepages = append(m.homepages, u)
		}
	}
	slices.Sort(m.homepages) // the order of maps is random
	return p.Name != ""
}

func (m *manifest) cargo(text []byte) bool {
	var f struct {
		Package struct {
			Name, Homepage string
			Description    any
			Documentation  any
			Keywords       any
			Publish        any
		}
	}
	if toml.Unmarshal(text, &f) != nil || f.Package.Name == "" {
		return false
	}
	m.name, m.homepages = f.Package.Name, []string{f.Package.Homepage}
	m.about, _ = f.Package.Description.(string)
	if all, ok := f.Package.Keywords.([]any); ok {
		for _, k := range all {
			if s, ok := k.(string); ok {
				m.keywords = append(m.keywords, s)
			}
		}
	}
	m.private = f.Package.Publish == false
	return true
}

func (m *manifest) maven(text []byte) bool {
	var f struct {
		GroupID     string `xml:"groupId"`
		Parent      string `xml:"parent>groupId"`
		ArtifactID  string `xml:"artifactId"`
		Name        string `xml:"name"`
		Description string `xml:"description"`
		URL         string `xml:"url"`
		Packaging   string `xml:"packaging"`
	}
	if xml.Unmarshal(text, &f) != nil || f.ArtifactID == "" {
		return false
	}
	if f.GroupID == "" {
		f.GroupID = f.Parent
	}
	m.name, m.display, m.about, m.homepages = f.GroupID+":"+f.ArtifactID, f.Name, f.Description, []string{f.URL}
	m.private = f.Packaging == "pom" || f.GroupID == ""
	if strings.Contains(m.display, "${") {
		m.display = ""
	}
	return true
}

func (m *manifest) nuget(text []byte) bool {
	field := func(names ...string) string {
		for _, n := range names {
			if f := regexp.MustCompile(`(?is)<` + n + `>\s*([^<]*?)\s*</` + n + `>`).FindSubmatch(text); f != nil && !strings.Contains(string(f[1]), "$(") {
				return string(f[1])
			}
		}
		return ""
	}
	m.name, m.about, m.homepages = field("PackageId", "id"), field("Description"), []string{field("PackageProjectUrl", "projectUrl")}
	m.display, m.keywords = field("Title", "Product"), strings.FieldsFunc(field("PackageTags", "tags"), func(c rune) bool { return c == ';' || c == ' ' || c == ',' })
	return m.name != ""
}

// assignment matches name = "x", spec.name = 'x' and name = x of an ini file.
var assignment = lazyregexp.MustCompile(`(?m)^[\s(]*(?:\w+\.)?(name|description|summary|long_description|url|homepage|keywords|documentation_uri|homepage_uri)\s*=\s*[ru]?(?:"([^"\n]*)"|'([^'\n]*)'|%q?[{(\[]([^})\]\n]*)[})\]]|([^"'\s(\[{][^\n]*))`)

// assignments reads setup.cfg, setup.py and gemspecs, which are programs: literals only.
func (m *manifest) assignments(text []byte) bool {
	for _, f := range assignment.FindAllStringSubmatch(string(text), -1) {
		value := strings.TrimSpace(f[2] + f[3] + f[4])
		if value == "" && strings.HasSuffix(strings.ToLower(m.file), ".cfg") {
			value = strings.TrimSpace(f[5])
		}
		switch f[1] {
		case "name":
			if m.name == "" {
				m.name = value
			}
		case "description", "summary":
			m.about = strings.TrimSpace(m.about + " " + value)
		case "url", "homepage", "homepage_uri", "documentation_uri":
			m.homepages = append(m.homepages, value)
		case "keywords":
			m.keywords = append(m.keywords, strings.FieldsFunc(value, func(c rune) bool { return c == ',' })...)
		}
	}
	return m.name != ""
}
