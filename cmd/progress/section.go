package progress

import "fmt"

// A section is a part of the view that may be longer than there is room for.
type section struct {
	head string // above the rows; empty if absent
	rows string // what a row is called where rows are left out
	// blocks are rows with their details; the first are the most
	// important.
	blocks [][]string
}

// extra is how many lines a section takes in addition to one per block: an empty one
// before it, its head, and the details of rows.
func (s section) extra() int {
	if len(s.blocks) == 0 {
		return 0
	}
	n := 1
	if s.head != "" {
		n++
	}
	for _, b := range s.blocks {
		n += len(b) - 1
	}
	return n
}

// fit returns the section in at most room lines, with a count of the omitted rows.
func (s section) fit(room int, f frame) []string {
	if len(s.blocks) == 0 || room < 1 {
		return nil
	}
	lines := []string{""}
	if s.head != "" {
		lines = append(lines, s.head)
	}
	for i, b := range s.blocks {
		last := i == len(s.blocks)-1
		need := len(b)
		if !last {
			need++ // room to say that there are more
		}
		if len(lines)+need > room {
			more := f.dim.Render(clip(fmt.Sprintf("+ %d more %s", len(s.blocks)-i, s.rows), f.width))
			if i == 0 { // no head without rows
				return []string{more}
			}
			return append(lines, more)
		}
		lines = append(lines, b...)
	}
	return lines
}

// share divides room between parts: evenly, and what one does
// not need goes to the others.
func share(room int, wants ...int) []int {
	out := make([]int, len(wants))
	for room > 0 {
		hungry := 0
		for i := range wants {
			if out[i] < wants[i] {
				hungry++
			}
		}
		if hungry == 0 {
			break
		}
		each := max(1, room/hungry)
		for i := range wants {
			n := min(each, wants[i]-out[i], room)
			out[i], room = out[i]+n, room-n
		}
	}
	return out
}
