package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/fixtures/nearest"
	"github.com/firstpick/firstpick/fixtures/strictyaml"
	"github.com/firstpick/firstpick/runner/pick"
)

// A slugMap maps names in labels, in lower case, to slugs of the catalogue.
type slugMap map[string]string

// readSlugMap reads a mapping of names to slugs: two tab-separated columns in a .tsv file,
// otherwise YAML or JSON. Errors name the line.
func readSlugMap(file string, cat *catalog.Catalog) (slugMap, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	b := slugMapBuilder{file: file, slugs: slugsOf(cat), m: slugMap{}, lines: map[string]int{}}
	if strings.EqualFold(filepath.Ext(file), ".tsv") {
		b.readTSV(data)
	} else {
		doc, root := strictyaml.Parse(file, bytes.NewReader(data))
		root.Each(func(key string, line int, value *strictyaml.Node) { b.add(key, value.String(), line) })
		b.errs = append(b.errs, doc.Err())
	}
	if err := errors.Join(b.errs...); err != nil {
		return nil, err
	}
	if len(b.m) == 0 {
		return nil, fmt.Errorf("%s: no name is mapped; write NAME: SLUG", file)
	}
	return b.m, nil
}

// slugsOf returns every slug that a pick may have.
func slugsOf(cat *catalog.Catalog) []string {
	var out []string
	for _, c := range cat.Categories {
		for _, e := range c.Entries {
			out = append(out, e.Tool.Slug)
		}
		for _, o := range c.Outside {
			out = append(out, o.Slug)
		}
	}
	return out
}

type slugMapBuilder struct {
	file  string
	slugs []string
	m     slugMap
	lines map[string]int
	errs  []error
}

func (b *slugMapBuilder) readTSV(data []byte) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		n++
		line := strings.TrimRight(lines.Text(), "\r")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, slug, ok := strings.Cut(line, "\t")
		if !ok || strings.Contains(slug, "\t") {
			b.errs = append(b.errs, fmt.Errorf("%s:%d: want NAME<tab>SLUG (got %q)", b.file, n, line))
			continue
		}
		b.add(name, slug, n)
	}
	if err := lines.Err(); err != nil {
		b.errs = append(b.errs, fmt.Errorf("%s:%d: %w", b.file, n+1, err))
	}
}

func (b *slugMapBuilder) add(name, slug string, line int) {
	name, slug = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(slug)
	switch {
	case name == "":
		b.errs = append(b.errs, fmt.Errorf("%s:%d: the name is missing", b.file, line))
	case b.lines[name] > 0:
		b.errs = append(b.errs, fmt.Errorf("%s:%d: %q is mapped twice, first on line %d", b.file, line, name, b.lines[name]))
	case !slices.Contains(b.slugs, slug):
		err := fmt.Errorf("%s:%d: no tool %q in the catalogue", b.file, line, slug)
		if hint, ok := nearest.Close(slug, b.slugs); ok {
			err = fmt.Errorf("%w; %s", err, hint)
		}
		b.errs = append(b.errs, err)
	default:
		b.m[name], b.lines[name] = slug, line
	}
}

// apply maps the labels of cases in place. A labelled pick is the outcome tool where it
// competes in the case's category, and otherwise other.
func (m slugMap) apply(cases []pick.Case, cat *catalog.Catalog) {
	for i := range cases {
		g := &cases[i].Gold
		for _, list := range [][]string{g.Shortlist, g.Rejected} {
			for j, name := range list {
				list[j] = m.slug(name)
			}
		}
		if g.Say != nil {
			*g.Say = m.slug(*g.Say)
		}
		if g.Picked == nil {
			continue
		}
		*g.Picked = m.slug(*g.Picked)
		category, ok := cat.Category(cases[i].Category)
		if !ok {
			continue
		}
		_, competes := category.Entry(*g.Picked)
		switch {
		case g.Outcome == pick.Tool && *g.Picked != "" && !competes:
			g.Outcome = pick.Other
		case g.Outcome == pick.Other && competes:
			g.Outcome = pick.Tool
		}
	}
}

func (m slugMap) slug(name string) string {
	if slug, ok := m[strings.ToLower(strings.TrimSpace(name))]; ok {
		return slug
	}
	return name
}
