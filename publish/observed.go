package publish

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/observed"
	facts "github.com/firstpick/firstpick/fixtures/observed"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/publish/content"
)

// observedName is the list of observed boards, where there is a study.
const observedName = "observed.json"

// agreementSeed is the seed of the bootstrap behind rank agreements: the same results give
// the same bytes.
const agreementSeed = 1

// A FieldStudy is an observed study of a snapshot. Its lines are the file
// observed/NAME.jsonl.zst.
type FieldStudy struct {
	// Observed is true: no trial is behind its figures.
	Observed bool         `json:"observed"`
	Name     string       `json:"name"`
	Title    string       `json:"title"`
	Unit     string       `json:"unit"`
	Source   facts.Source `json:"source"`
	// Units is how many lines there are, of Read units.
	Units  int    `json:"units"`
	Read   int    `json:"read"`
	SHA256 string `json:"sha256"`
}

// An Observed is the field part of a snapshot: figures that were observed, never mixed with
// those of trials.
type Observed struct {
	// Boards are sorted by category.
	Boards []observed.Board
	// Omitted are the categories that a study saw and that have no board.
	Omitted []observed.Omitted
}

// seen is the part of the catalogue that a study can see in one category.
type seen struct {
	Study string `json:"study"`
	observed.Category
}

// observedList is observed.json.
type observedList struct {
	Observed   bool               `json:"observed"`
	Categories []observed.Item    `json:"categories"`
	Omitted    []observed.Omitted `json:"omitted"`
}

// A fieldwork is what observed boards are computed from, with the boards.
type fieldwork struct {
	studies    []*facts.Study
	categories []seen
	Observed
}

// newFieldwork computes the boards of studies. The same studies in another order make the same boards.
func newFieldwork(studies []*facts.Study, categories []seen) *fieldwork {
	f := &fieldwork{studies: slices.Clone(studies), categories: categories}
	sorting.Func(f.studies, func(a, b *facts.Study) int { return strings.Compare(a.Name, b.Name) })
	f.Boards, f.Omitted = observed.Boards(f.studies, f.category)
	return f
}

func (f *fieldwork) category(s *facts.Study, slug string) (observed.Category, bool) {
	for _, c := range f.categories {
		if c.Study == s.Name && c.Slug == slug {
			return c.Category, true
		}
	}
	return observed.Category{}, false
}

// fieldwork returns the field part of the input.
func (in Input) fieldwork() (*fieldwork, error) {
	var categories []seen
	for i, s := range in.Observed {
		if slices.ContainsFunc(in.Observed[:i], func(o *facts.Study) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two observed studies have the name %s; publish one of them", s.Name)
		}
		for _, c := range in.Catalog.Categories {
			if slices.ContainsFunc(s.Units, func(u facts.Unit) bool { return u.Tools[c.Slug] != nil }) {
				categories = append(categories, seen{s.Name, observed.CategoryOf(c, s.Ecosystems)})
			}
		}
	}
	sorting.Func(categories, func(a, b seen) int { return strings.Compare(a.Slug+"\n"+a.Study, b.Slug+"\n"+b.Study) })
	return newFieldwork(in.Observed, categories), nil
}

// readFieldwork returns the field part of a snapshot, computed from its lines.
func readFieldwork(m Manifest, docs map[string][]byte, categories []seen) (*fieldwork, error) {
	var studies []*facts.Study
	for _, listed := range m.Observed {
		name := studyPath(listed.Name)
		s, err := facts.Decode(docs[name])
		if err != nil {
			return nil, &DamageError{Path: name, Reason: err.Error()}
		}
		if want := fieldStudyOf(s, docs[name]); want != listed {
			return nil, &DamageError{Path: manifestName, Reason: fmt.Sprintf("observed study %s is not that of %s", listed.Name, name)}
		}
		studies = append(studies, s)
	}
	return newFieldwork(studies, categories), nil
}

func fieldStudyOf(s *facts.Study, file []byte) FieldStudy {
	return FieldStudy{true, s.Name, s.Title, s.Unit, s.Source, len(s.Units), s.Read, content.Digest(file)}
}

// attach adds field rates and the rank agreement to a board of the same category.
func (f *fieldwork) attach(b *analytics.Board, m analytics.Measurement) {
	if f == nil {
		return
	}
	i := slices.IndexFunc(f.Boards, func(o observed.Board) bool { return o.Category == b.Category })
	if i < 0 {
		return
	}
	for j := range b.Tools {
		b.Tools[j].FieldRate = f.Boards[i].Rate(b.Tools[j].Slug)
	}
	at := slices.IndexFunc(f.studies, func(s *facts.Study) bool { return s.Name == f.Boards[i].FieldStudy })
	if c, ok := f.category(f.studies[at], b.Category); ok {
		b.FieldAgreement = observed.Agreement(m, f.studies[at], c, agreementSeed)
	}
}

// documents adds the files of the field part to those of a snapshot, and returns its
// studies for the manifest.
func (f *fieldwork) documents(docs map[string][]byte) (studies []FieldStudy, err error) {
	if len(f.studies) == 0 {
		return nil, nil
	}
	list := observedList{true, []observed.Item{}, append([]observed.Omitted{}, f.Omitted...)}
	for _, b := range f.Boards {
		list.Categories = append(list.Categories, b.Item())
		if docs[observedPath(b.Category)], err = content.JSON(b); err != nil {
			return nil, err
		}
	}
	if docs[observedName], err = content.JSON(list); err != nil {
		return nil, err
	}
	for _, s := range f.studies {
		file, err := s.Packed()
		if err != nil {
			return nil, fmt.Errorf("observed study %s: %w", s.Name, err)
		}
		docs[studyPath(s.Name)] = file
		studies = append(studies, fieldStudyOf(s, file))
	}
	return studies, nil
}

// loadFieldwork reads the field part of a snapshot and computes nothing; nil without a study.
func loadFieldwork(m Manifest, docs map[string][]byte) (*fieldwork, error) {
	if len(m.Observed) == 0 {
		return nil, nil
	}
	var list observedList
	var known fields
	if err := errors.Join(decode(docs, observedName, &list), decode(docs, catalogName, &known)); err != nil {
		return nil, err
	}
	f := &fieldwork{categories: known.Observed, Observed: Observed{Omitted: list.Omitted}}
	for _, item := range list.Categories {
		var b observed.Board
		if err := decode(docs, observedPath(item.Category), &b); err != nil {
			return nil, err
		}
		if !b.Observed {
			return nil, &DamageError{Path: observedPath(item.Category), Reason: "not marked as observed"}
		}
		f.Boards = append(f.Boards, b)
	}
	for _, listed := range m.Observed {
		s, err := facts.Decode(docs[studyPath(listed.Name)])
		if err != nil {
			return nil, &DamageError{Path: studyPath(listed.Name), Reason: err.Error()}
		}
		f.studies = append(f.studies, s)
	}
	return f, nil
}

// recounted is the field part with what no document of a board has, counted from the lines of
// its study.
func (f *fieldwork) recounted() Observed {
	if f == nil {
		return Observed{}
	}
	for i := range f.Boards {
		b := &f.Boards[i]
		for _, s := range f.studies {
			if c, ok := f.category(s, b.Category); ok && b.FieldStudy == s.Name {
				b.Recount(s, c)
			}
		}
	}
	return f.Observed
}

func observedPath(category string) string { return path.Join("observed", category+".json") }

func studyPath(name string) string { return path.Join("observed", name+facts.Extension) }
