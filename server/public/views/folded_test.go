package views

import "testing"

// TestFold: a table is cut after three rows where two and more follow, and loses none.
func TestFold(t *testing.T) {
	for n, want := range map[int][]int{0: {0}, 3: {3}, 4: {4}, 5: {3, 2}, 8: {3, 5}} {
		tables := fold(tableOf[int]{Name: "Rows", Lines: make([]int, n)})
		if len(tables) != len(want) {
			t.Errorf("%d rows: %d tables", n, len(tables))
			continue
		}
		for i, table := range tables {
			if len(table.Lines) != want[i] || table.Folded != (i > 0) {
				t.Errorf("%d rows: table %d: %+v", n, i, table)
			}
		}
	}
}
