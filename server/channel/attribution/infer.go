package attribution

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// InferWithin is how long after a fetch for a person that person may land.
const InferWithin = 30 * time.Minute

// An Inference means that a person probably came from an assistant, without evidence in
// the landing. It is reported separately and never credited. All conditions must hold:
//
//   - an assistant fetched a page because a person asked (class user_fetch, not
//     spoofed, family known);
//   - within InferWithin after it a browser viewed the same page of the same host,
//     without a referrer or other evidence, as a known visitor or person, so that a
//     conversion can be tied to the landing;
//   - the page is deep: its path has two parts or more, because many people type the
//     address of a home page or of /pricing;
//   - it is this visitor's first view of the page in that time;
//   - no other browser viewed the page, with or without evidence, from InferWithin
//     before the landing until InferWithin after the fetch;
//   - only one family fetched the page within InferWithin before the landing.
//
// The country of the network would be more precise, but full addresses are not stored.
// Instead, views with a referrer count as other browsers too, and a second family voids
// the inference. A path with a suffix .md or / is the same page.
//
// The rule uses only the views that the site reports. A site that reports only landings
// from assistants gets no inferences; for others, "no other browser" means no reported
// one.
type Inference struct {
	Family  string
	Fetch   *Touch // of the page, by the assistant, because a person asked
	Landing *Touch // of a person on that page
}

// An inferred is an inference and the place of its landing.
type inferred struct {
	Inference
	landing int32
}

// A page is where fetches and views meet.
type page struct{ host, path string }

// visits are the fetches and views of a page.
type visits struct{ fetches, views []entry }

// infer returns the inferences in the order of their landings.
func infer(touches []Touch) []inferred {
	pages := map[page]*visits{}
	for i := range touches {
		t := &touches[i]
		if t.Class != classUserFetch || t.Spoofed || t.Family == "" {
			continue
		}
		if path, deep := deepPath(t.Path); deep {
			p := page{t.Host, path}
			if pages[p] == nil {
				pages[p] = &visits{}
			}
			pages[p].fetches = append(pages[p].fetches, entry{t.At.UnixMicro(), int32(i), 0})
		}
	}
	if len(pages) == 0 {
		return nil
	}
	for i := range touches {
		t := &touches[i]
		if !person(t.Class) || t.Spoofed {
			continue
		}
		if path, deep := deepPath(t.Path); deep {
			if v := pages[page{t.Host, path}]; v != nil {
				v.views = append(v.views, entry{t.At.UnixMicro(), int32(i), 0})
			}
		}
	}
	var all []inferred
	for _, v := range pages {
		if len(v.views) > 0 {
			all = v.infer(touches, all)
		}
	}
	slices.SortFunc(all, func(a, b inferred) int {
		return cmp.Or(a.Landing.At.Compare(b.Landing.At), compare(a.Landing, b.Landing), cmp.Compare(a.landing, b.landing))
	})
	return all
}

// infer appends the inferences of one page.
func (v *visits) infer(touches []Touch, all []inferred) []inferred {
	sortEntries(touches, v.fetches)
	sortEntries(touches, v.views)
	// The note of a fetch is where the run of fetches of its family begins.
	for i := range v.fetches {
		v.fetches[i].note = int32(i)
		if i > 0 && touches[v.fetches[i-1].touch].Family == touches[v.fetches[i].touch].Family {
			v.fetches[i].note = v.fetches[i-1].note
		}
	}
	within := InferWithin.Microseconds()
	next := 0 // the first fetch after the landing
	for i, e := range v.views {
		for next < len(v.fetches) && v.fetches[next].at <= e.at {
			next++
		}
		landing := &touches[e.touch]
		if next == 0 || !landing.unassisted() || landing.Referrer != "" || landing.Visitor == "" && landing.Identity == "" {
			continue
		}
		latest := v.fetches[next-1]
		other := int(latest.note) - 1 // the latest fetch of another family
		if latest.at < e.at-within || other >= 0 && v.fetches[other].at >= e.at-within {
			continue
		}
		if !v.alone(touches, i, e.at-within, latest.at+within) {
			continue
		}
		fetch := &touches[latest.touch]
		all = append(all, inferred{Inference{fetch.Family, fetch, landing}, e.touch})
	}
	return all
}

// alone reports whether view i is the first of its visitor, and no other visitor has
// one, within a time, both ends included.
func (v *visits) alone(touches []Touch, i int, from, to int64) bool {
	mine := &touches[v.views[i].touch]
	if before(v.views[:i], from) < i {
		return false
	}
	for _, e := range v.views[i+1:] {
		if e.at > to {
			break
		}
		if !same(mine, &touches[e.touch]) {
			return false
		}
	}
	return true
}

// same reports whether two touches are known to be of one visitor or person.
func same(a, b *Touch) bool {
	return a.Visitor != "" && a.Visitor == b.Visitor || a.Identity != "" && a.Identity == b.Identity
}

// deepPath returns the path of a page without the suffix .md or a slash, and whether it
// has two parts or more.
func deepPath(path string) (string, bool) {
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/"), ".md")
	first := strings.TrimLeft(path, "/")
	slash := strings.IndexByte(first, '/')
	return path, slash > 0 && slash < len(first)-1
}
