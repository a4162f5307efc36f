package manifest_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/runner/cliagent/workspace/manifest"
)

func TestAdd(t *testing.T) {
	for name, tt := range map[string]struct{ file, text, pkg, version, want, err string }{
		"dependencies": {
			file: "package.json", text: "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"next\": \"15.5.4\"\n  }\n}\n", pkg: "@a/b",
			want: "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"@a/b\": \"*\",\n    \"next\": \"15.5.4\"\n  }\n}\n",
		},
		"empty dependencies": {
			file: "package.json", text: "{\n  \"dependencies\": {}\n}\n", pkg: "stripe", version: "17.0.0",
			want: "{\n  \"dependencies\": {\n    \"stripe\": \"17.0.0\"\n  }\n}\n",
		},
		"no dependencies": {
			file: "package.json", text: "{\n  \"name\": \"x\"\n}\n", pkg: "stripe",
			want: "{\n  \"name\": \"x\",\n  \"dependencies\": {\n    \"stripe\": \"*\"\n  }\n}\n",
		},
		"empty package.json": {file: "web/package.json", text: "{}", pkg: "stripe", want: "{\n  \"dependencies\": {\n    \"stripe\": \"*\"\n  }\n}\n"},
		"there already":      {file: "requirements.txt", text: "Stripe>=7", pkg: "stripe", want: "Stripe>=7"},
		"requirements":       {file: "requirements.txt", text: "flask", pkg: "stripe", version: "11.1.0", want: "flask\nstripe==11.1.0\n"},
		"pyproject, a line":  {file: "pyproject.toml", text: "[project]\nname = \"x\"\ndependencies = [\"flask\"]\n", pkg: "stripe", want: "[project]\nname = \"x\"\ndependencies = [\"stripe\", \"flask\"]\n"},
		"pyproject, lines":   {file: "pyproject.toml", text: "[project]\ndependencies = [\n    \"flask\",\n]\n", pkg: "stripe", version: "1.0", want: "[project]\ndependencies = [\n    \"stripe==1.0\",\n    \"flask\",\n]\n"},
		"pyproject, none":    {file: "pyproject.toml", text: "[project]\nname = \"x\"\n", pkg: "stripe", want: "[project]\ndependencies = [\"stripe\"]\nname = \"x\"\n"},
		"pyproject, another": {file: "pyproject.toml", text: "[tool.black]\nline-length = 100\n", pkg: "stripe", err: "cannot be added"},
		"go.mod":             {file: "go.mod", text: "module x\n\ngo 1.24\n", pkg: "github.com/stripe/stripe-go", version: "v82.1.0", want: "module x\n\ngo 1.24\n\nrequire github.com/stripe/stripe-go/v82 v82.1.0\n"},
		"go.mod, no version": {file: "go.mod", text: "module x\n", pkg: "github.com/stripe/stripe-go", err: `needs a version such as v1.2.3 (got "")`},
		"cargo":              {file: "Cargo.toml", text: "[package]\nname = \"x\"\n\n[dependencies]\nserde = \"1\"\n", pkg: "async-stripe", want: "[package]\nname = \"x\"\n\n[dependencies]\nasync-stripe = \"*\"\nserde = \"1\"\n"},
		"cargo, none":        {file: "Cargo.toml", text: "[package]\nname = \"x\"\n", pkg: "async-stripe", version: "0.37.1", want: "[package]\nname = \"x\"\n\n[dependencies]\nasync-stripe = \"=0.37.1\"\n"},
		"gemfile":            {file: "Gemfile", text: "gem \"rails\"\n", pkg: "stripe", version: "13.0.0", want: "gem \"rails\"\ngem \"stripe\", \"13.0.0\"\n"},
		"malformed":          {file: "package.json", text: "{", pkg: "stripe", err: "cannot be added"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := manifest.Add(tt.file, []byte(tt.text), tt.pkg, tt.version)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || string(got) != tt.want {
				t.Errorf("%v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
}
