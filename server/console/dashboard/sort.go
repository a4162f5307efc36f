package dashboard

import (
	"cmp"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
)

// A column is a column of a table whose rows are of type T.
type column[T any] struct {
	name, class string
	// key names the column in addresses; empty where the table cannot be sorted by it.
	key     string
	text    bool // the first order is A to Z, not the largest first
	compare func(a, b *T) int
}

// A header is the header of a column. Link sorts the table by it, and is empty where nothing does;
// Order is ascending or descending in the sorted column, as in aria-sort.
type header struct{ Name, Class, Link, Order string }

// Arrow marks the order.
func (h header) Arrow() string {
	return map[string]string{"ascending": "↑", "descending": "↓"}[h.Order]
}

// sortBy sorts rows as the query says, and returns the headers of their table. Sort names a key,
// with a minus for descending order. Another one leaves the rows as they are: in the order of initial.
func sortBy[T any](p *page, rows []T, columns []column[T], initial string) []header {
	by := initial
	for _, c := range columns {
		if key, _ := direction(p.query.sort); c.key != "" && key == c.key {
			by = p.query.sort
		}
	}
	key, descending := direction(by)
	out := make([]header, len(columns))
	for i, c := range columns {
		out[i] = header{Name: c.name, Class: c.class}
		if c.key == "" {
			continue
		}
		next := "-" + c.key
		if c.text {
			next = c.key
		}
		if c.key == key {
			out[i].Order, next = "ascending", "-"+key
			if descending {
				out[i].Order, next = "descending", key
			}
			if by != initial {
				sorting.StableFunc(rows, func(a, b T) int {
					if descending {
						a, b = b, a
					}
					return c.compare(&a, &b)
				})
			}
		}
		if next == initial {
			next = ""
		}
		out[i].Link = p.query.link(p.Filter.Path, "show", p.Filter.Only, "sort", next)
	}
	return out
}

// direction returns the key of a sort, and whether the largest is first.
func direction(sort string) (key string, descending bool) {
	key, descending = strings.CutPrefix(sort, "-")
	return key, descending
}

// textColumn is a column that is sorted by a text.
func textColumn[T any](name, key string, of func(*T) string) column[T] {
	return column[T]{name: name, key: key, text: true, compare: func(a, b *T) int { return cmp.Compare(of(a), of(b)) }}
}

// numberColumn is a column that is sorted by a number.
func numberColumn[T any, N cmp.Ordered](name, key string, of func(*T) N) column[T] {
	return column[T]{name: name, class: "num", key: key, compare: func(a, b *T) int { return cmp.Compare(of(a), of(b)) }}
}
