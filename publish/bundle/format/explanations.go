package format

import (
	"github.com/firstpick/firstpick/analytics/explain"
	"github.com/firstpick/firstpick/fixtures/catalog"
)

// MaxExplanations is the most bytes of explanations.json.
const MaxExplanations = 4 << 20

// Explanations is explanations.json: why the tools of the category were not picked. The
// reports have no run ids, and lists with limits that keep the file below MaxExplanations.
type Explanations struct {
	// Tools are those that the run measured, by slug, to find one by any of its names.
	Tools []catalog.Ref `json:"tools"`
	// Reports are in the order of Tools.
	Reports []explain.Report `json:"reports"`
}
