package manifest

import (
	"slices"
	"strings"
	"testing"
)

func TestDeps(t *testing.T) {
	for _, c := range []struct {
		name, text, kind string
		want             []string // texts
	}{
		{"package.json", `{"name":"x","version":"1.0.0","scripts":{"a":"^1"},"dependencies":{"stripe":"^17.0.0","@sendgrid/mail":"*","own":"file:../own"},
			"devDependencies":{"vitest":"3.0.0","stripe":"^16"},"peerDependencies":{"react":">=18"},"optionalDependencies":{"fsevents":"~2"}}`, "npm",
			[]string{"@sendgrid/mail", "stripe@^17.0.0", "vitest@3.0.0", "react@>=18", "fsevents@~2"}},
		{"web/package.json", `{"dependencies":{"a":1}}`, "npm", []string{"a"}},
		{"package.json", `{"dependencies":`, "npm", nil},
		{"package.json", `{"dependencies":["a"]}`, "npm", nil},
		{"requirements.txt", "# comment\nFlask==3.0\n-r base.txt\n--hash=x\npasslib[bcrypt]>=1.7 ; python_version > '3.8'\nrequests # why\ngit+https://example.com/x\n" +
			"./local\nhttps://example.com/a.whl\ntool @ https://example.com/t.whl\n", "pypi",
			[]string{"Flask==3.0", "passlib[bcrypt]>=1.7", "requests", "tool @ https://example.com/t.whl"}},
		{"requirements-dev.txt", "pytest\n", "pypi", []string{"pytest"}},
		{"requirements.md", "pytest\n", "", nil},
		{"pyproject.toml", "[project]\ndependencies = ['fastapi>=0.1', 'Stripe']\n[project.optional-dependencies]\ndev = ['ruff']\n[dependency-groups]\ntest = ['pytest', {include-group = 'dev'}]\n" +
			"[tool.poetry.dependencies]\npython = '^3.11'\nhttpx = '^0.27'\nsentry-sdk = {version = '2', extras = ['fastapi']}\n[tool.poetry.group.dev.dependencies]\nblack = '*'\n" +
			"[tool.poetry.dev-dependencies]\nmypy = '1'\n[tool.uv]\ndev-dependencies = ['uvtool']\n[tool.pdm.dev-dependencies]\nx = ['pdmtool']\n[build-system]\nrequires = ['hatchling']\n", "pypi",
			[]string{"fastapi>=0.1", "Stripe", "ruff", "pytest", "httpx ^0.27", "sentry-sdk 2", "mypy 1", "black", "uvtool", "pdmtool"}},
		{"Pipfile", "[packages]\nflask = '*'\n[dev-packages]\npytest = '>=8'\n[requires]\npython_version = '3.11'\n", "pypi", []string{"flask", "pytest >=8"}},
		{"environment.yml", "dependencies:\n  - python=3.11\n  - conda-forge::numpy=1.26\n  - pip\n  - pip:\n    - stripe==1\n", "pypi", []string{"numpy=1.26", "stripe==1"}},
		{"go.mod", "module example.com/x\n\ngo 1.24\n\nrequire github.com/a/b v1.2.3\n\nrequire (\n\tgithub.com/stripe/stripe-go/v82 v82.0.0\n\tgolang.org/x/text v0.1.0 // indirect\n)\n\nreplace github.com/a/b => ../b\n", "go",
			[]string{"github.com/a/b v1.2.3", "github.com/stripe/stripe-go/v82 v82.0.0"}},
		{"Cargo.toml", "[dependencies]\nserde = { version = '1', features = ['derive'] }\nown = { path = '../own' }\nother = { package = 'real', version = '2' }\ntokio = '1'\n[dev-dependencies]\ninsta = '1'\n" +
			"[target.'cfg(unix)'.dependencies]\nnix = '0.29'\n[workspace.dependencies]\naxum = '0.8'\n", "cargo", []string{"real 2", "serde 1", "tokio 1", "insta 1", "axum 0.8", "nix 0.29"}},
		{"Gemfile", "source 'https://rubygems.org'\ngem \"rails\", \"~> 8.0\"\ngroup :test do\n  gem 'rspec-rails'\nend\n# gem 'no'\n", "rubygems", []string{"rails ~> 8.0", "rspec-rails"}},
		{"x.gemspec", "  spec.add_dependency \"stripe\", \">= 5\"\n  s.add_development_dependency('rake')\n", "rubygems", []string{"stripe >= 5", "rake"}},
		{"composer.json", `{"require":{"php":">=8","ext-json":"*","Stripe/stripe-php":"^16"},"require-dev":{"phpunit/phpunit":"11"}}`, "composer", []string{"Stripe/stripe-php ^16", "phpunit/phpunit 11"}},
		{"pom.xml", "<project><dependencies><dependency><groupId>com.stripe</groupId><artifactId> stripe-java </artifactId><version>1.0</version></dependency>" +
			"<dependency><groupId>junit</groupId><artifactId>junit</artifactId><scope>test</scope></dependency></dependencies></project>", "maven", []string{"com.stripe:stripe-java:1.0", "junit:junit"}},
		{"build.gradle.kts", "dependencies {\n  implementation(\"com.stripe:stripe-java:1.0\")\n  testImplementation 'junit:junit:4'\n  implementation(platform(\"org.a:bom:1\"))\n  implementation(project(\":own\"))\n}\n", "maven",
			[]string{"com.stripe:stripe-java:1.0", "junit:junit:4", "org.a:bom:1"}},
		{"libs.versions.toml", "[libraries]\na = { module = 'com.stripe:stripe-java', version = '1' }\nb = { group = 'g', name = 'n', version.ref = 'v' }\nc = 'x:y:1'\n", "maven", []string{"com.stripe:stripe-java", "g:n", "x:y:1"}},
		{"a.csproj", `<Project><ItemGroup><PackageReference Include="Stripe.net" Version="47.0" /><PackageReference Include="Serilog"/></ItemGroup></Project>`, "nuget", []string{"Stripe.net 47.0", "Serilog"}},
		{"Dockerfile", "FROM --platform=linux/amd64 golang:1.26 AS build\nRUN x\nfrom postgres\nFROM build\nFROM scratch\n", "docker", []string{"golang:1.26", "postgres"}},
		{"docker-compose.yml", "services:\n  db:\n    image: registry:5000/team/pg:17\n  web:\n    build: .\n", "docker", []string{"registry:5000/team/pg:17"}},
		{"main.go", "package main", "", nil},
		{"package-lock.json", `{"dependencies":{"a":"1"}}`, "", nil},
	} {
		kind, deps := Deps(c.name, []byte(c.text))
		var got []string
		for _, d := range deps {
			got = append(got, d.Text)
		}
		if kind != c.kind || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q %q, want %q %q", c.name, kind, got, c.kind, c.want)
		}
	}
}

// TestRead tells a manifest without packages from one that cannot be read.
func TestRead(t *testing.T) {
	large := strings.Repeat(" ", MaxSize)
	for _, c := range []struct {
		name, text string
		bad        bool
	}{
		{"package.json", "{}", false},
		{"package.json", "\n", false},
		{"package.json", large, false},
		{"package.json", large + "{}", true},
		{"package.json", `{"dependencies":{"a":"1",}}`, true},
		{"composer.json", `{"require":[]}`, true},
		{"pyproject.toml", "[project", true},
		{"Pipfile", "=", true},
		{"Cargo.toml", "[dependencies]\na = \n", true},
		{"libs.versions.toml", "[libraries]\na = {", true},
		{"pom.xml", "<project><dependencies/></project>", false},
		{"pom.xml", "<project><dependencies>", true},
		{"pom.xml", "<project><dependency><groupId>g</groupId>", true},
		{"requirements.txt", large + "a\n", true},
		{"go.mod", "not a go.mod", false},
		{"main.go", large + "package main", false},
	} {
		if _, _, err := Read(c.name, []byte(c.text)); (err != nil) != c.bad {
			t.Errorf("%s %.40q: %v", c.name, c.text, err)
		}
	}
}

func TestNames(t *testing.T) {
	for file, c := range map[string]struct{ text, want string }{
		"requirements.txt": {"Flask_SQLAlchemy[x]>=1", "flask-sqlalchemy"},
		"composer.json":    {`{"require":{"A/B":"1"}}`, "a/b"},
		"Dockerfile":       {"FROM registry:5000/a/b:1@sha256:00", "registry:5000/a/b"},
		"pom.xml":          {"<dependency><groupId>g</groupId><artifactId>a</artifactId></dependency>", "g:a"},
	} {
		if _, deps := Deps(file, []byte(c.text)); len(deps) != 1 || deps[0].Name != c.want {
			t.Errorf("%s: %+v, want %q", file, deps, c.want)
		}
	}
}

// TestDepsOfTooMuch sees that what is made to overflow a parser's stack does not.
func TestDepsOfTooMuch(t *testing.T) {
	for _, name := range []string{"package.json", "pyproject.toml", "Cargo.toml", "pom.xml", "environment.yml", "compose.yaml"} {
		for _, size := range []int{MaxSize, 1 << 20} {
			for _, part := range []string{"[", "{a=", "{\"a\":", "<a>", "<dependency>", "- ", "a.", "\n"} {
				data := strings.Repeat(part, size/len(part))
				for _, start := range []string{"", "a = ", "[project]\ndependencies = "} {
					if _, deps := Deps(name, []byte(start+data)); len(deps) > 1 {
						t.Errorf("%s of %q: %d packages", name, part, len(deps))
					}
				}
			}
		}
	}
}

func FuzzDeps(f *testing.F) {
	names := []string{
		"package.json", "requirements.txt", "pyproject.toml", "Pipfile", "environment.yml", "go.mod", "Cargo.toml", "Gemfile", "composer.json", "pom.xml", "build.gradle",
		"libs.versions.toml", "a.csproj", "Dockerfile", "compose.yaml",
	}
	f.Add(0, []byte(`{"dependencies":{"a":"1"}}`))
	f.Add(2, []byte("[tool.poetry.dependencies]\na = {version = 1}\n"))
	f.Add(9, []byte("<a><dependency><groupId>g</groupId></a>"))
	f.Add(14, []byte("services: {a: {image: b}}"))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		name := names[uint(which)%uint(len(names))]
		_, deps := Deps(name, data)
		seen := map[string]bool{}
		for _, d := range deps {
			if d.Name == "" || seen[d.Name] {
				t.Errorf("%s: %+v is empty or double", name, d)
			}
			seen[d.Name] = true
			if name == "requirements.txt" && !strings.Contains(string(data), d.Text) {
				t.Errorf("%q is not in the file", d.Text)
			}
		}
	})
}
