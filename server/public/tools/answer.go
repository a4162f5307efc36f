package tools

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/server/public/snapshotview"
)

// An Answer is the result of a call: a JSON object in one line. Failed marks an error
// that the caller can correct: the codes are those of the HTTP API.
type Answer struct {
	JSON   []byte
	Failed bool
}

// A Failure is the object of a failed answer.
type Failure struct {
	Code        string   `json:"error"`
	Description string   `json:"error_description"`
	Reason      string   `json:"reason,omitempty"` // detail of a broad code
	Scope       string   `json:"scope,omitempty"`  // that the key lacks
	Query       string   `json:"query,omitempty"`
	Suggestions []string `json:"suggestions,omitempty"`
	Issues      []Issue  `json:"issues,omitempty"`
	RetryAfter  int      `json:"retry_after,omitempty"`
	AuthGuide   string   `json:"auth_guide,omitempty"`
	// Observed is how often coding agents used a tool that no trials measure, or two that no trials compare.
	Observed []snapshotview.ObservedUse `json:"observed,omitempty"`
}

// Fail is the answer of a failure.
func Fail(f Failure) Answer { return Answer{encode(f), true} }

func invalid(issues []Issue) Answer {
	return Fail(Failure{Code: "invalid_request", Description: "The arguments do not match the input schema; issues lists the problems.", Issues: issues})
}

func encode(v any) []byte {
	data, err := snapshotview.EncodeJSON(v)
	if err != nil {
		panic(err) // values of our own types always encode
	}
	return bytes.TrimSuffix(data, []byte("\n"))
}

// A Call is one call of a public tool.
type Call struct {
	Tool      string
	Arguments json.RawMessage
	// Via tags the addresses of pages in the answer; empty tags none.
	Via string
}

// Answer answers a call of a public tool. The same call on the same site has the
// same bytes.
func (c Call) Answer(s *snapshotview.Site) Answer { return answerOf(c.Tool)(c, s) }

// tag marks the address of a page with who led there: mostly the only parameter, so that
// no ampersand needs escaping.
func (c Call) tag(url string) string {
	if c.Via == "" {
		return url
	}
	if strings.Contains(url, "?") {
		return url + "&via=" + c.Via
	}
	return url + "?via=" + c.Via
}

type ranking struct {
	Kind      string     `json:"kind"`
	Category  string     `json:"category"`
	Name      string     `json:"name"`
	AsOf      *time.Time `json:"asOf"`
	Field     int        `json:"field"`
	NTrials   int        `json:"nTrials"`
	Coverage  *float64   `json:"coverage"`
	Estimand  string     `json:"estimand,omitempty"`
	Synthetic bool       `json:"synthetic"`
	Warnings  []string   `json:"warnings"`
	Tools     []row      `json:"tools"`
	URL       string     `json:"url"`
	TrialsURL string     `json:"trials_url,omitempty"`
}

// A row is a standing without some of its figures: a field of the same JSON name hides
// that of the standing. Of the standing's detail, which is nil, RawRate is left.
type row struct {
	analytics.Standing
	RawRate     *float64 `json:"rawRate,omitempty"`
	FlatLow     hidden   `json:"flatLow,omitempty"`
	FlatHigh    hidden   `json:"flatHigh,omitempty"`
	DefaultRate hidden   `json:"defaultRate,omitempty"`
	FirstNamed  hidden   `json:"firstNamedRate,omitempty"`
	Picks       hidden   `json:"picks,omitempty"`
	Labelled    hidden   `json:"labelled,omitempty"`
	FieldRate   hidden   `json:"fieldRate,omitempty"`
}

type hidden *struct{} // always nil

type categories struct {
	Kind       string                   `json:"kind"`
	AsOf       *time.Time               `json:"asOf"`
	Field      int                      `json:"field"`
	Categories []analytics.CategoryItem `json:"categories"`
	URL        string                   `json:"url"`
}

const (
	rows    = 10
	maxRows = 50
)

func (c Call) leaderboard(s *snapshotview.Site) Answer {
	a := read(c.Arguments, "kind", "category", "domain", "limit")
	kind := a.word("kind", "trials", "observed")
	category, domain, limit := a.slug("category"), a.word("domain", "", "dev-tools", "saas"), a.number("limit", rows, maxRows)
	switch {
	case len(a.issues) > 0:
		return invalid(a.issues)
	case kind == "observed":
		return c.observed(s, category, domain, limit)
	case category == "":
		return c.list(s, domain, limit)
	}
	b, ok := s.Leaderboard(category)
	if !ok {
		f := Failure{
			Code: "category_not_found", Query: category, Suggestions: s.SuggestCategories(category),
			Description: "No such category is measured. Call getLeaderboard without category for the list.",
		}
		if s.ObservedBoard(category, "") != nil {
			f.Description = "No trials measure this category, but it has an observed board. Call getLeaderboard with kind observed and this category."
		}
		return Fail(f)
	}
	out := ranking{
		Kind: "ranking", Category: b.Category, Name: b.Name, AsOf: b.AsOf, Field: b.Field, NTrials: b.NTrials, Coverage: b.Coverage,
		Estimand: b.Estimand, Synthetic: b.Synthetic, Warnings: b.Warnings, Tools: []row{}, URL: c.tag(b.URL), TrialsURL: s.TrialsURL(b.Category, ""),
	}
	for _, t := range b.Tools[:min(limit, len(b.Tools))] {
		r := row{Standing: t}
		if t.Detail != nil {
			r.Detail, r.RawRate = nil, t.RawRate
		}
		r.URL = c.tag(t.URL)
		out.Tools = append(out.Tools, r)
	}
	return Answer{JSON: encode(out)}
}

func (c Call) list(s *snapshotview.Site, domain string, limit int) Answer {
	out := categories{Kind: "categories", Categories: []analytics.CategoryItem{}, URL: c.tag(s.BaseURL + "/")}
	for _, b := range s.Boards {
		if domain != "" && b.Domain != domain {
			continue
		}
		out.Field++
		if b.AsOf != nil && (out.AsOf == nil || b.AsOf.After(*out.AsOf)) {
			out.AsOf = b.AsOf
		}
		if len(out.Categories) < limit {
			item := b.Item()
			item.URL = c.tag(item.URL)
			out.Categories = append(out.Categories, item)
		}
	}
	return Answer{JSON: encode(out)}
}

// A headline is a report without some of its figures, as a row is a standing. Of the
// report's detail, which is nil, the population interval is left.
type headline struct {
	analytics.Report
	PopulationLow  *float64 `json:"populationLow,omitempty"`
	PopulationHigh *float64 `json:"populationHigh,omitempty"`
	FlatLow        hidden   `json:"flatLow,omitempty"`
	FlatHigh       hidden   `json:"flatHigh,omitempty"`
	DefaultRate    hidden   `json:"defaultRate,omitempty"`
	FirstNamed     hidden   `json:"firstNamedRate,omitempty"`
	ShortlistRate  hidden   `json:"shortlistRate,omitempty"`
	Picks          hidden   `json:"picks,omitempty"`
	Coverage       hidden   `json:"coverage,omitempty"`
	BeatenBy       hidden   `json:"beatenBy,omitempty"`
	Labelled       hidden   `json:"labelled,omitempty"`
	Extraction     hidden   `json:"extractionError,omitempty"`
	FieldRate      hidden   `json:"fieldRate,omitempty"`
	evidence
}

// evidence is where the figures of a tool come from.
type evidence struct {
	ReportURL string `json:"report_url"`
	// TrialsURL lists the trials that picked the tool; empty where none are published.
	TrialsURL string `json:"trials_url,omitempty"`
}

func evidenceOf(s *snapshotview.Site, r analytics.Report) evidence {
	return evidence{s.BaseURL + "/api/public/report?q=" + url.QueryEscape(r.Slug), s.TrialsURL(r.Category, r.Slug)}
}

// MaxQuery is the longest name that is looked up.
const MaxQuery = 200

// pickRate answers only for a slug or name: a caller with a domain or package is
// not sure of the tool, and should see the whole report.
func (c Call) pickRate(s *snapshotview.Site) Answer {
	a := read(c.Arguments, "tool")
	name := a.text("tool", true, MaxQuery)
	if len(a.issues) > 0 {
		return invalid(a.issues)
	}
	r, by, known := s.Find(name)
	switch by {
	case "":
		return noTool(s, name, known)
	case catalog.BySlug, catalog.ByName:
	default:
		return Fail(Failure{
			Code: "tool_not_found", Query: name, Suggestions: []string{r.Slug},
			Description: "This is a domain or package of the suggested tool. Call getPickRate with its slug, or lookupTool.",
		})
	}
	r.URL = c.tag(r.URL)
	short := headline{Report: r, evidence: evidenceOf(s, r)}
	short.Breakdown = nil
	if d := r.Detail; d != nil {
		short.Detail, short.PopulationLow, short.PopulationHigh = nil, d.PopulationLow, d.PopulationHigh
	}
	return Answer{JSON: encode(short)}
}

func noTool(s *snapshotview.Site, query string, known bool) Answer {
	f := Failure{Code: "tool_not_found", Query: query, Suggestions: s.SuggestTools(query), Description: "No tool has this name, slug, domain or package. Names are matched exactly; take one of the suggestions only if it is what was meant."}
	if known {
		f.Suggestions, f.Description = nil, "The tool is in the catalogue, but none of its categories is measured yet. Call getLeaderboard for the list of those that are."
		if b, ok := s.ObservedOf(query); ok {
			f.Description = "No trials measure this tool, but it is on an observed board. Call getLeaderboard with kind observed and category " + b.Category + "."
			if f.Observed = s.ObservedUses(query); len(f.Observed) > 0 {
				f.Description += " How often coding agents used it is in observed."
			}
		}
	}
	return Fail(f)
}

// A report is one without what is long: prompts, and rivals, which compareTools has.
type report struct {
	MatchedOn string `json:"matchedOn"`
	analytics.Report
	ByPrompt hidden `json:"byPrompt,omitempty"`
	Rivals   hidden `json:"rivals,omitempty"`
	evidence
}

func (c Call) lookup(s *snapshotview.Site) Answer {
	a := read(c.Arguments, "query")
	query := a.text("query", true, MaxQuery)
	if len(a.issues) > 0 {
		return invalid(a.issues)
	}
	r, by, known := s.Find(query)
	if by == "" {
		return noTool(s, query, known)
	}
	out := report{MatchedOn: string(by), Report: r, evidence: evidenceOf(s, r)}
	out.URL = c.tag(r.URL)
	for i := range out.BeatenBy {
		out.BeatenBy[i].URL = c.tag(out.BeatenBy[i].URL)
	}
	return Answer{JSON: encode(out)}
}
