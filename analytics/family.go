package analytics

import (
	"maps"
	"slices"
)

// ByFamily makes one prompt of those that share a family: cells carry the name of the
// first of them. families holds the family of a prompt by its name in cells; a prompt
// whose family is empty or its own stays as it is. The cells are changed in place.
func ByFamily(cells []Cell, families map[string]string) []Cell {
	first := map[string]string{}
	for _, prompt := range slices.Sorted(maps.Keys(families)) {
		if family := families[prompt]; first[family] == "" {
			first[family] = prompt
		}
	}
	for i := range cells {
		if family := families[cells[i].Prompt]; family != "" {
			cells[i].Prompt = first[family]
		}
	}
	return cells
}
