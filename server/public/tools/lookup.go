package tools

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// A lookups is the answer of lookupTools.
type lookups struct {
	AsOf *time.Time `json:"asOf"`
	// Found is sorted as the packages were, one for each tool.
	Found []lookedUp `json:"found"`
	// Unmeasured are packages of tools that no measured category ranks.
	Unmeasured []string `json:"unmeasured"`
	Unknown    []string `json:"unknown"`
	URL        string   `json:"url"`
}

type lookedUp struct {
	Packages  []string `json:"packages"`
	Tool      string   `json:"tool"`
	Slug      string   `json:"slug"`
	Category  string   `json:"category"`
	PickRate  float64  `json:"pickRate"`
	CILow     float64  `json:"ciLow"`
	CIHigh    float64  `json:"ciHigh"`
	Rank      int      `json:"rank"`
	RankLow   int      `json:"rankLow"`
	RankHigh  int      `json:"rankHigh"`
	Field     int      `json:"field"`
	NTrials   int      `json:"nTrials"`
	Synthetic bool     `json:"synthetic"`
	// BeatenBy are the slugs of the rivals that are ahead by more than noise.
	BeatenBy []string `json:"beatenBy"`
	URL      string   `json:"url"`
	evidence
}

// maxPackages is how many packages one call looks up.
const maxPackages = 200

func (c Call) lookupAll(s *snapshotview.Site) Answer {
	a := read(c.Arguments, "packages")
	packages := a.texts("packages", maxPackages, MaxQuery)
	if len(a.issues) > 0 {
		return invalid(a.issues)
	}
	out := lookups{Found: []lookedUp{}, Unmeasured: []string{}, Unknown: []string{}, URL: c.tag(s.BaseURL + "/")}
	place := map[string]int{}
	for _, name := range packages {
		r, measured, known := packageOf(s, name)
		switch i, again := place[r.Slug]; {
		case measured && again:
			out.Found[i].Packages = append(out.Found[i].Packages, name)
			continue
		case !measured && known:
			out.Unmeasured = append(out.Unmeasured, name)
			continue
		case !measured:
			out.Unknown = append(out.Unknown, name)
			continue
		}
		found := lookedUp{
			Packages: []string{name}, Tool: r.Tool, Slug: r.Slug, Category: r.Category, PickRate: r.PickRate, CILow: r.CILow, CIHigh: r.CIHigh,
			Rank: r.Rank, RankLow: r.RankLow, RankHigh: r.RankHigh, Field: r.Field, NTrials: r.NTrials, Synthetic: r.Synthetic,
			BeatenBy: []string{}, URL: c.tag(r.URL), evidence: evidenceOf(s, r),
		}
		for _, rival := range r.BeatenBy {
			if rival.Significant {
				found.BeatenBy = append(found.BeatenBy, rival.Slug)
			}
		}
		if r.AsOf != nil && (out.AsOf == nil || r.AsOf.After(*out.AsOf)) {
			out.AsOf = r.AsOf
		}
		place[r.Slug], out.Found = len(out.Found), append(out.Found, found)
	}
	return Answer{JSON: encode(out)}
}

// version matches what lockfiles write behind a name: stripe@14.1.0, flask==3.0,
// github.com/x/y v1.2.3, left-pad (1.0).
var version = lazyregexp.MustCompile(`(?:@(?:npm:|workspace:)?[v^~<>=*\d].*|\s*(?:[=<>~!^]=?=?|\().*|\s+v?\d.*)$`)

// packageOf returns the report of a package's tool, named as a lockfile has it: with or without
// ecosystem and version, or as a package URL (pkg:npm/%40clerk/nextjs@5.0.0).
func packageOf(s *snapshotview.Site, name string) (r analytics.Report, measured, known bool) {
	names := []string{name}
	if purl, ok := strings.CutPrefix(name, "pkg:"); ok {
		purl, _, _ = strings.Cut(purl, "?")
		if eco, path, ok := strings.Cut(purl, "/"); ok {
			if plain, err := url.PathUnescape(path); err == nil {
				names = append(names, ecosystem(eco)+":"+plain)
			}
		}
	}
	for _, n := range slices.Clone(names) {
		if at := version.FindStringIndex(n); at != nil && at[0] > 0 {
			names = append(names, strings.TrimSpace(n[:at[0]]))
		}
	}
	for _, n := range names {
		r, by, listed := s.Find(n)
		if by != "" {
			return r, true, true
		}
		known = known || listed
	}
	return r, false, known
}

// ecosystem is our name of a type of package URLs.
func ecosystem(kind string) string {
	switch kind {
	case "golang":
		return "go"
	case "gem":
		return "rubygems"
	}
	return kind
}
