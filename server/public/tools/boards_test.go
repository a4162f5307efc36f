package tools_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/public/tools"
)

// An answer of a board with all there is has described fields only, is small where it is
// short, and has nothing that an older board does not know.
func TestFieldsOfBoards(t *testing.T) {
	_, out := schemas(t)
	described := map[string]map[string]json.RawMessage{}
	for _, tool := range tools.Tools() {
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(tool.OutputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		described[tool.Name] = schema.Properties
	}
	for name, s := range map[string]*snapshotview.Site{"tagged": sitetest.NewTagged(t), "single": sitetest.NewSingle(t), "older": sitetest.NewOlder(t)} {
		for _, c := range []struct {
			tool, arguments string
			most            int
			now             []string
			never           []string
		}{
			{"getLeaderboard", `{"category":"webserver","limit":3}`, 1800, []string{"estimand", "rawRate"}, []string{"shortlistLow", "nEff", "cuts", "variance", "withoutAgent", "populationLow"}},
			{"getPickRate", `{"tool":"flask"}`, 800, []string{"estimand", "populationLow", "populationHigh"}, []string{"shortlistLow", "nEff", "rawRate", "boundLow", "variance"}},
			{"lookupTool", `{"query":"fastapi"}`, 2500, []string{"estimand", "rawRate", "shortlistLow", "defaultHigh", "nEff", "withoutFamily", "variance"}, nil},
		} {
			got := tools.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments)}.Answer(s)
			if err := valid(t, out[c.tool], got.JSON); got.Failed || err != nil || len(got.JSON) > c.most {
				t.Errorf("%s: %s: %v, %d bytes: %s", name, c.tool, err, len(got.JSON), got.JSON)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(got.JSON, &fields); err != nil {
				t.Fatal(err)
			}
			for field := range fields {
				if described[c.tool][field] == nil {
					t.Errorf("%s: %s: %s is not described", name, c.tool, field)
				}
			}
			for _, field := range slices.Concat(c.now, c.never) {
				want := name == "tagged" && slices.Contains(c.now, field)
				if name != "single" && strings.Contains(string(got.JSON), `"`+field+`":`) != want {
					t.Errorf("%s: %s: %s is there: %t in %s", name, c.tool, field, !want, got.JSON)
				}
			}
		}
	}
}
