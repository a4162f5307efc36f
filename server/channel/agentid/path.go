package agentid

import "strings"

// probes are the paths that only somebody looking for holes asks for.
type probes struct {
	exact    map[string]bool
	prefixes []string
	suffixes []string
	parts    []string
}

// loadProbes reads data/probes.tsv: a path, with * at the end that varies.
func (t *Table) loadProbes() {
	t.probes.exact = map[string]bool{}
	for _, f := range rows("probes.tsv", 1) {
		p := f[0]
		open, front := strings.CutPrefix(p, "*")
		body, back := strings.CutSuffix(open, "*")
		switch {
		case front && back:
			t.probes.parts = append(t.probes.parts, body)
		case front:
			t.probes.suffixes = append(t.probes.suffixes, body)
		case back:
			t.probes.prefixes = append(t.probes.prefixes, body)
		default:
			t.probes.exact[p] = true
		}
	}
}

// Probe reports whether a path is one that scanners look for, such as
// /wp-login.php or /.env. A site made with WordPress has some of these pages: ask
// only about visitors that are not named otherwise.
func (t *Table) Probe(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	path = strings.ToLower(path)
	if t.probes.exact[path] {
		return true
	}
	for _, p := range t.probes.prefixes {
		if strings.HasPrefix(path, p) {
			return true
		}
	}
	for _, p := range t.probes.suffixes {
		if strings.HasSuffix(path, p) {
			return true
		}
	}
	for _, p := range t.probes.parts {
		if strings.Contains(path, p) {
			return true
		}
	}
	return false
}
