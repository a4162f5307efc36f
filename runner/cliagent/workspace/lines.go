package workspace

import "strings"

// maxCells limits the table of a comparison: 4 bytes each.
const maxCells = 4 << 20

// addedLines returns the lines of new that are not in old, without their newline:
// the rest of new is a longest common subsequence of both. Where the table for that
// would be too large, a line counts as added as often as it is in new more often
// than in old.
func addedLines(old, new string) []string {
	a, b := splitLines(old), splitLines(new)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0:
		return b
	case (len(a)+1)*(len(b)+1) > maxCells:
		return surplus(a, b)
	}
	// common[i*w+j] is the length of a longest common subsequence of a[i:] and b[j:].
	w := len(b) + 1
	common := make([]int32, (len(a)+1)*w)
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i*w+j] = common[(i+1)*w+j+1] + 1
			} else {
				common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
			}
		}
	}
	var out []string
	for i, j := 0, 0; j < len(b); {
		switch {
		case i < len(a) && a[i] == b[j]:
			i, j = i+1, j+1
		case i < len(a) && common[(i+1)*w+j] >= common[i*w+j+1]:
			i++
		default:
			out = append(out, b[j])
			j++
		}
	}
	return out
}

func surplus(a, b []string) []string {
	had := map[string]int{}
	for _, line := range a {
		had[line]++
	}
	var out []string
	for _, line := range b {
		if had[line]--; had[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}

// splitLines splits a text; how its lines end makes no difference.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}
