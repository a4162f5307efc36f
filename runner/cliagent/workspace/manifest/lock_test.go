package manifest

import (
	"slices"
	"strings"
	"testing"
)

func TestLocked(t *testing.T) {
	for _, c := range []struct {
		name, text, kind string
		want             []string
	}{
		{"web/package-lock.json", `{"lockfileVersion":3,"packages":{"":{"name":"x"},"node_modules/@a/b":{},"node_modules/c/node_modules/d":{},"own":{}}}`, "npm", []string{"@a/b", "d"}},
		{"package-lock.json", `{"lockfileVersion":1,"dependencies":{"a":{"version":"1","dependencies":{"b":{"version":"2"}}},"c":{"version":"3"}}}`, "npm", []string{"a", "b", "c"}},
		{"yarn.lock", "# yarn lockfile v1\n\n\"@a/b@^1.0\", \"@a/b@^1.1\":\n  version \"1\"\n  dependencies:\n    c \"^2\"\n\nc@^2, c@npm:^2:\n  version \"2\"\n", "npm", []string{"@a/b", "c"}},
		{"pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n\n  '@a/b@1.0.0':\n    resolution: {integrity: x}\n\n  c@2.0.0(d@1):\n    x: y\n\n  /e@3.0.0:\n    x: y\n", "npm", []string{"@a/b", "c", "e"}},
		{"bun.lock", "{\n  \"packages\": {\n    \"@a/b\": [\"@a/b@1.0.0\", \"\", {}],\n    \"c\": [\"c@2\", {}],\n  }\n}\n", "npm", []string{"@a/b", "c"}},
		{"poetry.lock", "[[package]]\nname = \"flask\"\nversion = \"3\"\n\n[[package]]\nname = \"stripe\"\n\n[package.extras]\nname = [\"x\"]\n", "pypi", []string{"flask", "stripe"}},
		{"uv.lock", "version = 1\r\n\r\n[[package]]\r\nname = \"flask\"\r\n", "pypi", []string{"flask"}},
		{"Pipfile.lock", `{"_meta":{},"default":{"flask":{}},"develop":{"pytest":{}}}`, "pypi", []string{"flask", "pytest"}},
		{"go.sum", "github.com/a/b v1.2.3 h1:x=\ngithub.com/a/b v1.2.3/go.mod h1:y=\ngithub.com/c/d/v2 v2.0.0/go.mod h1:z=\n", "go", []string{"github.com/a/b"}},
		{"Cargo.lock", "[[package]]\nname = \"tokio\"\nversion = \"1\"\ndependencies = [\n \"bytes\",\n]\n", "cargo", []string{"tokio"}},
		{"Gemfile.lock", "GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (8.0.0)\n      actionpack (= 8.0.0)\n    stripe (13.0)\n\nDEPENDENCIES\n  rails\n", "rubygems", []string{"rails", "stripe"}},
		{"composer.lock", `{"packages":[{"name":"Stripe/stripe-php"}],"packages-dev":[{"name":"phpunit/phpunit"}]}`, "composer", []string{"phpunit/phpunit", "stripe/stripe-php"}},
		{"gradle.lockfile", "# comment\ncom.stripe:stripe-java:1.0=compileClasspath\nempty=\n", "maven", []string{"com.stripe:stripe-java"}},
		{"packages.lock.json", `{"version":1,"dependencies":{"net8.0":{"Stripe.net":{"type":"Direct"}},"net9.0":{"Stripe.net":{},"xunit":{}}}}`, "nuget", []string{"Stripe.net", "xunit"}},
		{"package.json", `{"dependencies":{"a":"1"}}`, "", nil},
		{"yarn.lock", "", "npm", nil},
	} {
		kind, names, err := Locked(c.name, []byte(c.text))
		if err != nil || kind != c.kind || !slices.Equal(names, c.want) {
			t.Errorf("%s: %q %q %v, want %q %q", c.name, kind, names, err, c.kind, c.want)
		}
	}
	for _, name := range []string{"package-lock.json", "Pipfile.lock", "composer.lock", "packages.lock.json"} {
		if _, _, err := Locked("web/"+name, []byte(`{"packages": [`)); err == nil || !strings.HasPrefix(err.Error(), "web/"+name+": not JSON: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Locked("yarn.lock", make([]byte, maxLock+1)); err == nil || !strings.Contains(err.Error(), "a lockfile may have") {
		t.Errorf("a large file: %v", err)
	}
}

func FuzzLocked(f *testing.F) {
	names := []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "poetry.lock", "Pipfile.lock", "go.sum", "Gemfile.lock", "composer.lock", "gradle.lockfile", "packages.lock.json"}
	f.Add(0, []byte(`{"packages":{"node_modules/a":{}},"dependencies":{"b":{"dependencies":{}}}}`))
	f.Add(1, []byte("a@^1, \"@b/c@2\":\n"))
	f.Add(2, []byte("  '/a@1':\n"))
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		name := names[uint(which)%uint(len(names))]
		kind, got, err := Locked(name, data)
		if kind == "" || err != nil && got != nil || !slices.IsSorted(got) || slices.Contains(got, "") || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Errorf("%s: %q %q %v", name, kind, got, err)
		}
	})
}
