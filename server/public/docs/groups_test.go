package docs_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/docs/docstest"
)

// Pages are in four groups, and those of a group follow each other. Addresses never end.
func TestGroupsAndAddresses(t *testing.T) {
	set := docstest.New(t)
	var groups []string
	for _, p := range set.Pages {
		if len(groups) == 0 || groups[len(groups)-1] != p.Section {
			groups = append(groups, p.Section)
		}
	}
	if want := []string{"Tutorial", "How to", "Explanation", "Reference"}; !slices.Equal(groups, want) {
		t.Errorf("the groups are %q, want %q", groups, want)
	}
	for _, path := range strings.Fields(`/docs /docs/quickstart /docs/methodology /docs/evidence /docs/history /docs/verify /docs/catalogue /docs/prompts /docs/share /docs/api
		/docs/api/read /docs/api/registration /docs/api/tokens /docs/api/workspace /docs/api/collector /docs/api/evals /docs/api/documents /docs/api/discovery /docs/api/operations
		/docs/mcp /docs/webmcp /docs/collector /docs/identification /setup /setup/nginx /docs/attribution /docs/webhooks /docs/evals /docs/authentication /docs/limits /docs/errors
		/docs/versioning /docs/self-hosting /docs/cli /docs/changelog`) {
		if set.Page(path) == nil || set.Page(path+".md") == nil {
			t.Errorf("%s was there before, and is not now", path)
		}
	}
}

// TestRequestsStandBesideAnswers: in the API's reference the example of an answer follows
// its command, in one frame.
func TestRequestsStandBesideAnswers(t *testing.T) {
	set := docstest.New(t)
	pairs := 0
	for _, p := range set.Pages {
		if n := strings.Count(string(p.HTML), `<div class="pair">`); strings.HasPrefix(p.Path, "/docs/api/") {
			pairs += n
		}
		if open, closed := strings.Count(string(p.HTML), "<div"), strings.Count(string(p.HTML), "</div>"); open != closed {
			t.Errorf("%s opens %d div and closes %d", p.Path, open, closed)
		}
	}
	if pairs < 40 {
		t.Errorf("only %d commands have their answer beside them", pairs)
	}
}
