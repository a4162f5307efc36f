package pick

import (
	"maps"
	"slices"
)

// lists fills in shortlist and rejected.
func (f *finding) lists(r *Result) {
	short, out := map[string]bool{}, map[string]bool{}
	if r.Picked != "" {
		short[r.Picked] = true
	}
	for _, d := range f.actions {
		if !d.target.outside {
			short[d.target.slug] = true
		}
	}
	v := f.verdicts()
	decided := r.Kind == Tool || r.Kind == Other || r.Kind == DIY
	own := r.Kind == DIY && r.Method == MethodStatement // it names others to turn them down
	alone := !decided && v.named() == 1
	for _, t := range v.order {
		switch st := v.of[t]; {
		case st == rejects, st == faults && decided, st == neutral && own && v.best[t].sentence <= v.best[v.own].sentence, st == neutral && decided && t.slug != r.Picked && v.weights[t].minus > 0 && v.weights[t].plus == 0:
			out[t.slug] = true
		case st == passing, st == neutral && alone && r.Kind != Truncated:
		default:
			short[t.slug] = true
		}
	}
	if f.structured != nil {
		for _, slug := range f.structured.alternatives {
			short[slug] = true
		}
	}
	for slug := range short {
		delete(out, slug)
	}
	r.Shortlist, r.Rejected = slices.Sorted(maps.Keys(short)), slices.Sorted(maps.Keys(out))
}
