package docs

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/agentid/ranges"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/channel/setup"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/ratelimit"
	"github.com/firstpick/firstpick/server/public/tools"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// A filler renders pages from templates and the values of the program.
type filler struct {
	config Config
	api    *api
	data   map[string]any
}

func newFiller(c Config, api *api, pages []*Page) *filler {
	caps := (&evals.Service{Caps: c.Evals}).Limits()
	f := &filler{config: c, api: api}
	f.data = map[string]any{
		"Base": c.BaseURL, "Pages": sections(pages), "First": firstPage(pages), "Groups": api.groups, "Codes": apierr.Codes(), "Statuses": statuses(),
		"Warnings": analytics.WarningCodes(), "Rules": describedRules(c.Rules), "Tools": tools.Tools(), "OwnTools": tools.Own(), "Stacks": setup.Stacks(), "Evals": caps,
		"Public": c.PublicPerMinute, "MCP": c.MCPPerMinute, "Files": c.FilesPerMinute, "Streams": c.Streams, "OwnStreams": c.OwnStreams, "EvalSource": evals.MaxSource, "UploadPart": evals.MaxPart, "PushedBytes": int(caps.UploadBytes), "AllPushedBytes": int(caps.UploadsBytes),
		"Token": identity.TokenLifetime, "ClaimWindow": identity.ClaimWindow, "Code": identity.CodeLifetime, "Ceremony": identity.CeremonyAssertion, "Direct": identity.DirectAssertion,
		"Poll": identity.PollInterval, "UnclaimedKeys": identity.UnclaimedKeys, "ClaimedKeys": identity.ClaimedKeys,
		"Events": event.MaxEvents, "EventBody": event.MaxBody, "Beacon": event.MaxBeacon, "Event": event.MaxEvent, "LogLines": event.MaxLogLines, "LogBody": event.MaxLogBody,
		"AgentLists": agentLists(), "AgentTables": agentid.TableSources(), "Signers": agentid.Load().Signers(),
		"EventAge": event.MaxAge, "Retention": state.DefaultRetention, "BackfillAge": event.MaxBackfillAge, "DailyQuota": collect.DailyQuota, "UnclaimedQuota": collect.UnclaimedQuota,
	}
	return f
}

// An agentList is a list of addresses of agents or of a CDN.
type agentList struct {
	Name, URL, Agents string
	Date              string // of the copy in the program; empty: none
}

// agentLists returns the lists by which agents are verified, and the dates of the
// copies in the program.
func agentLists() []agentList {
	shipped, err := ranges.Open("")
	if err != nil {
		panic(err) // damage of an embedded file, which a test would have found
	}
	of := map[string][]string{}
	for _, a := range agentid.Load().All() {
		for _, list := range a.Lists {
			of[list] = append(of[list], a.Name)
		}
	}
	asOf := shipped.AsOf()
	var all []agentList
	for _, s := range ranges.Sources() {
		l := agentList{Name: s.List, URL: s.URL, Agents: strings.Join(of[s.List], ", ")}
		if s.CDN {
			l.Agents = "no agent: the edge of a CDN"
		}
		if at, ok := asOf[s.List]; ok {
			l.Date = at.Format(time.DateOnly)
		}
		all = append(all, l)
	}
	return all
}

// file fills in a file of pages/.
func (f *filler) file(name string) (string, error) {
	if name == "changelog.md" {
		return Changelog() // a copy, which may hold anything
	}
	_, text, err := readPage(name)
	if err != nil {
		return "", err
	}
	t, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
		"rule": f.rule, "lasts": lasts, "size": size, "number": number, "explain": analytics.Explain, "cell": cell,
	}).Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, f.data); err != nil {
		return "", err
	}
	return b.String(), nil
}

// A section is a part of the list of pages.
type section struct {
	Title string
	Pages []*Page
}

// sections groups pages; recipes are listed by the guide that leads to them.
func sections(pages []*Page) []section {
	var out []section
	for _, p := range pages {
		if strings.HasPrefix(p.Path, "/setup/") {
			continue
		}
		i := slices.IndexFunc(out, func(s section) bool { return s.Title == p.Section })
		if i < 0 {
			i, out = len(out), append(out, section{Title: p.Section})
		}
		out[i].Pages = append(out[i].Pages, p)
	}
	return out
}

// firstPage returns the page that a newcomer reads first: the one after the index.
func firstPage(pages []*Page) *Page {
	if i := slices.IndexFunc(pages, func(p *Page) bool { return p.Path == "/docs" }); i >= 0 && i+1 < len(pages) {
		return pages[i+1]
	}
	return nil
}

// rule formats a limit, such as "5 an hour".
func (f *filler) rule(name string) (string, error) {
	r, ok := f.config.Rules[name]
	if !ok {
		return "", fmt.Errorf("no limit is called %s", name)
	}
	return rate(r), nil
}

func rate(r ratelimit.Rule) string {
	each := map[time.Duration]string{time.Second: "a second", time.Minute: "a minute", time.Hour: "an hour", 24 * time.Hour: "a day"}[r.Window]
	if each == "" {
		each = "in " + lasts(r.Window)
	}
	return number(r.Quota) + " " + each
}

// lasts formats a duration in the largest whole unit.
func lasts(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / u.of); n > 0 && d%u.of == 0 && (n > 1 || u.of != 24*time.Hour) {
			if n > 1 {
				return strconv.Itoa(n) + " " + u.name + "s"
			}
			return "1 " + u.name
		}
	}
	return d.String()
}

// size formats a number of bytes.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + " KiB"
	default:
		return number(n) + " bytes"
	}
}

// number writes a number with commas between thousands.
func number(v any) string {
	digits := fmt.Sprint(v)
	if f, ok := v.(float64); ok {
		digits = strconv.FormatFloat(f, 'f', -1, 64)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}

// cell keeps a text in one cell of a table.
func cell(s string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "|", `\|`)
}

// A status is an HTTP status and its remedy.
type status struct {
	Code  int
	Name  string
	Codes []string // of errors
}

// statuses returns those of the table of errors, with the codes of each.
func statuses() []status {
	var out []status
	for _, c := range apierr.Codes() {
		i := slices.IndexFunc(out, func(s status) bool { return s.Code == c.Status })
		if i < 0 {
			i, out = len(out), append(out, status{Code: c.Status, Name: http.StatusText(c.Status)})
		}
		out[i].Codes = append(out[i].Codes, c.Code)
	}
	sorting.Func(out, func(a, b status) int { return a.Code - b.Code })
	return out
}
