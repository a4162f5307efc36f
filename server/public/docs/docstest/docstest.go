// Package docstest makes the documents for tests, as a server has them.
package docstest

import (
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/server/public/docs"
	"github.com/firstpick/firstpick/server/public/openapi"
	"github.com/firstpick/firstpick/server/store/quota"
)

// Base is the address of the service that they describe.
const Base = "https://collect.example"

// CLI is a command line with one command.
const CLI = "## Commands\n\n| Command | Purpose |\n| --- | --- |\n| [`firstpick demo`](#firstpick-demo) | the study |\n\n<a id=\"firstpick-demo\"></a>\n## firstpick demo\n\nThe study.\n"

// New returns the documents.
func New(t testing.TB) *docs.Set {
	t.Helper()
	set, err := docs.New(docs.Config{
		BaseURL: Base, OpenAPI: openapi.Source(), CLI: CLI, Rules: quota.DefaultRules(), PublicPerMinute: 600, MCPPerMinute: 240, Streams: 200, OwnStreams: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
