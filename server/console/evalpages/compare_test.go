package evalpages

import (
	"testing"

	"github.com/firstpick/firstpick/server/evals/evals"
)

func TestOnlyTheOwnChangeIsGoodOrBad(t *testing.T) {
	for _, c := range []struct {
		tool        string
		diff        float64
		significant bool
		look        string
	}{
		{"own", .2, true, "up"}, {"own", -.2, true, "down"}, {"own", .2, false, "flat"}, {"rival", .2, true, "flat"}, {"rival", -.2, true, "flat"},
	} {
		row := newChange(&evals.ToolChange{Slug: c.tool, Diff: c.diff, Significant: c.significant}, "own")
		if row.Look != c.look || row.Own != (c.tool == "own") || row.Significant != c.significant {
			t.Errorf("%+v: %+v", c, row)
		}
	}
	if row := newChange(&evals.ToolChange{Slug: "rival", Diff: .2, Significant: true}, ""); row.Look != "flat" || row.Own {
		t.Errorf("no tool is followed: %+v", row)
	}
}
