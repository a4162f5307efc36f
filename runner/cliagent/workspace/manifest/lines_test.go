package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

// Lines finds in a whole manifest the packages that Deps finds there.
func TestLinesOfAWholeManifest(t *testing.T) {
	for name, text := range map[string]string{
		"package.json":     "{\n  \"name\": \"x\",\n  \"version\": \"1.0.0\",\n  \"scripts\": {\"dev\": \"1\"},\n  \"dependencies\": {\n    \"a\": \"^1\",\n    \"@b/c\": \"latest\"\n  },\n  \"devDependencies\": {\n    \"d\": \"~2\"\n  },\n  \"engines\": {\"node\": \">=20\"}\n}\n",
		"pyproject.toml":   "[build-system]\nrequires = [\"hatchling\"]\n\n[project]\nname = \"x\"\nversion = \"0.1\"\nrequires-python = \">=3.12\"\ndependencies = [\n  \"a>=1\",\n  \"b[x,y]~=2\",\n]\n\n[project.optional-dependencies]\nz = [\"c\"]\n\n[dependency-groups]\ndev = [\"d\", {include-group = \"z\"}]\n\n[tool.poetry.group.test.dependencies]\ne = \"^1\"\nf = { version = \"^2\", optional = true }\n\n[tool.ruff]\nline-length = \"100\"\n",
		"Pipfile":          "[packages]\na = \"*\"\n\n[dev-packages]\nb = {version = \"==1\"}\n\n[requires]\npython_version = \"3.12\"\n",
		"Cargo.toml":       "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\na = \"1\"\nb = { version = \"2\", features = [\"c\"] }\nc = { path = \"../c\" }\n\n[dev-dependencies]\nd = \"1\"\n\n[target.'cfg(unix)'.dependencies]\ne = \"1\"\n\n[features]\nf = []\n",
		"go.mod":           "module example.org/x\n\ngo 1.26\n\nrequire (\n\texample.org/a v1.0.0\n\texample.org/b v1.0.0 // indirect\n)\n",
		"Gemfile":          "source 'https://rubygems.org'\ngem 'a', '~> 1'\ngroup :test do\n  gem \"b\"\nend\n",
		"composer.json":    "{\"require\": {\"php\": \">=8\", \"a/b\": \"^1\"}, \"require-dev\": {\"c/d\": \"*\"}}",
		"pom.xml":          "<project>\n<parent><groupId>p</groupId><artifactId>q</artifactId></parent>\n<dependencies><dependency>\n<groupId>a</groupId>\n<artifactId>b</artifactId>\n<version>1</version>\n</dependency><dependency><groupId>c</groupId><artifactId>d</artifactId><scope>test</scope></dependency></dependencies>\n</project>",
		"build.gradle.kts": "dependencies {\n  implementation(\"a:b:1\")\n  testImplementation(\"c:d:2\")\n}\n",
		"libs.versions.toml": "[versions]\nx = \"1.0\"\n[libraries]\na = { module = \"a:b\", version.ref = \"x\" }\nc = \"c:d:1\"\ne = { group = \"e\", name = \"f\", version = \"1\" }\n" +
			"[plugins]\np = { id = \"p\", version = \"1\" }\n",
		"a.csproj":         "<Project><ItemGroup>\n<PackageReference Include=\"A.B\" Version=\"1\" />\n<PackageReference Include=\"C\" />\n</ItemGroup></Project>",
		"requirements.txt": "a==1\n-r b.txt\nhttps://example.org/c.whl\nd[x]>=2 ; python_version > '3'\n",
		"Dockerfile":       "FROM a:1 AS b\nRUN true\nFROM b\nFROM --platform=x c\n",
		"compose.yaml":     "services:\n  x:\n    image: a/b:1\n",
		"environment.yml":  "name: x\nchannels:\n  - y\ndependencies:\n  - python=3.12\n  - a=1\n  - pip:\n    - b\n",
	} {
		want := map[string]bool{}
		_, deps := manifest.Deps(name, []byte(text))
		for _, d := range deps {
			want[d.Name] = true
		}
		got := map[string]bool{}
		for _, l := range manifest.Lines(name, strings.Split(text, "\n")) {
			got[l.Name] = true
		}
		if len(want) == 0 || fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s: lines have %v, the whole has %v", name, got, want)
		}
	}
}

// Packages of developers are marked.
func TestLinesOfDevelopers(t *testing.T) {
	for name, text := range map[string]string{
		"package.json":          "{\"dependencies\": {\"a\": \"1\"}, \"devDependencies\": {\"dev\": \"1\"}}",
		"requirements-dev.txt":  "dev",
		"requirements/test.txt": "dev",
		"pyproject.toml":        "[project]\ndependencies = [\"a\"]\n[dependency-groups]\ntest = [\"dev\"]",
		"Pipfile":               "[packages]\na = \"*\"\n[dev-packages]\ndev = \"*\"",
		"Cargo.toml":            "[dependencies]\na = \"1\"\n[dev-dependencies]\ndev = \"1\"",
		"composer.json":         "{\"require\": {\"x/a\": \"1\"}, \"require-dev\": {\"x/dev\": \"1\"}}",
		"build.gradle":          "implementation 'x:a:1'\ntestImplementation 'x:dev:1'",
		"pom.xml":               "<dependency><groupId>x</groupId><artifactId>dev</artifactId><scope>test</scope></dependency>",
		"Gemfile":               "gem 'a'\ngem 'dev', group: :test",
	} {
		lines := manifest.Lines(name, strings.Split(text, "\n"))
		for _, l := range lines {
			if dev := strings.HasSuffix(l.Name, "dev"); dev != l.Dev {
				t.Errorf("%s: %s is marked %t", name, l.Name, l.Dev)
			}
		}
		if len(lines) == 0 {
			t.Errorf("%s: nothing was read", name)
		}
	}
}

// Whatever the lines are, each package is on one of them, and reading comes to an end.
func FuzzLines(f *testing.F) {
	for _, name := range []string{"package.json", "pyproject.toml", "Cargo.toml", "setup.py", "pom.xml", "build.gradle", "libs.versions.toml", "Dockerfile", "environment.yml", "deno.json", "packages.config", "Brewfile"} {
		f.Add(name, "\"a\": \"1\",\n[x]\na = [\"b>=1\",\n]\na = {version = \"1\"}\n<groupId>a</groupId><artifactId>b</artifactId>\nFROM a AS b\n- a")
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		lines := strings.Split(text, "\n")
		for _, l := range manifest.Lines(name, lines) {
			if l.At < 0 || l.At >= len(lines) || l.Name == "" {
				t.Errorf("%q is on line %d of %d", l.Name, l.At, len(lines))
			}
			if utf8.ValidString(text) && !utf8.ValidString(l.Text) {
				t.Errorf("%q is cut inside a character", l.Text)
			}
		}
	})
}
