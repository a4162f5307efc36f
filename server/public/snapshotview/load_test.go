package snapshotview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
)

// boardOf returns a board of so many tools, agents and prompts. Agents differ in what they
// pick.
func boardOf(tools, agents, prompts int) (analytics.Board, []catalog.Ref) {
	category := &catalog.Category{Slug: "c", Name: "Category", Domain: catalog.DevTools}
	var refs []catalog.Ref
	for i := range tools {
		slug := fmt.Sprintf("tool-%02d", i)
		category.Entries = append(category.Entries, catalog.Entry{Tool: &catalog.Tool{Slug: slug, Name: "Tool " + slug, Home: category}})
		refs = append(refs, catalog.Ref{Slug: slug, Name: "Tool " + slug, Categories: []string{"c"}})
	}
	var groups []analytics.Group
	design := analytics.Design{Tags: map[string]map[string]string{}}
	for p := range prompts {
		prompt := fmt.Sprintf("eval/prompt-%02d", p)
		design.Tags[prompt] = map[string]string{"ecosystem": []string{"python", "node", "go"}[p%3]}
		for a := range agents {
			for k := range 3 {
				slug := category.Entries[(p*k*k+a*(k+1))%tools].Tool.Slug
				groups = append(groups, analytics.Group{
					Prompt: prompt, Agent: fmt.Sprintf("vendor-model-%d-20260101", a), Outcome: pick.Tool, Picked: slug, Shortlist: []string{slug}, Trials: 1 + k, LastAt: sitetest.AsOf(),
				})
			}
		}
	}
	m := analytics.Measurement{Category: category, Cells: analytics.Cells(groups), Planned: prompts * agents * 6, Design: design}
	board := analytics.Rank(m)
	board.Prompts = m.Prompts()
	return board, refs
}

// largeInput returns so many copies of a board, with tools of their own.
func largeInput(b *testing.B, boards, tools, agents, prompts int) (in snapshotview.Input) {
	b.Helper()
	in = snapshotview.Input{ID: "abc", AsOf: sitetest.AsOf(), BaseURL: sitetest.Base, Trials: true}
	board, refs := boardOf(tools, agents, prompts)
	data, err := json.Marshal(board)
	if err != nil {
		b.Fatal(err)
	}
	list, err := json.Marshal(board.Prompts)
	if err != nil {
		b.Fatal(err)
	}
	for i := range boards {
		own := []byte(fmt.Sprintf("b%02d-tool-", i))
		var of analytics.Board
		if err := json.Unmarshal(bytes.ReplaceAll(data, []byte("tool-"), own), &of); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(bytes.ReplaceAll(list, []byte("tool-"), own), &of.Prompts); err != nil {
			b.Fatal(err)
		}
		for j := range of.Tools { // boards are printed without these
			if part, err := json.Marshal(board.Tools[j].Breakdown); err != nil || json.Unmarshal(bytes.ReplaceAll(part, []byte("tool-"), own), &of.Tools[j].Breakdown) != nil {
				b.Fatal("a breakdown is not read again")
			}
		}
		of.Category = fmt.Sprintf("category-%02d", i)
		of.Name, of.URL = "Category "+of.Category, "/leaderboards/"+of.Category
		in.Boards = append(in.Boards, of)
		for _, r := range refs {
			r.Slug, r.Name, r.Categories = strings.Replace(r.Slug, "tool-", string(own), 1), strings.Replace(r.Name, "tool-", string(own), 1), []string{of.Category}
			in.Refs = append(in.Refs, r)
		}
	}
	return in
}

// BenchmarkLoad builds the site of 100 boards of 50 tools, 30 agents and 20 prompts, and then
// serves every page of it as a crawler reads it: as HTML, gzipped. Beside the time it has the
// resident memory of the process in MB, also of the boards before they were built.
func BenchmarkLoad(b *testing.B) {
	in := largeInput(b, 100, 50, 30, 20)
	var s *snapshotview.Site
	b.Run("build", func(b *testing.B) {
		for b.Loop() {
			var err error
			if s, err = snapshotview.Build(in); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(resident(b), "MB")
	})
	b.Run("crawl", func(b *testing.B) {
		if s == nil {
			var err error
			if s, err = snapshotview.Build(in); err != nil {
				b.Fatal(err)
			}
		}
		in = snapshotview.Input{}
		pages := s.Views.Paths()
		sender, bytes := snapshotview.NewSender(sitetest.Base), 0
		for i := 0; b.Loop(); i++ {
			r, w := httptest.NewRequest(http.MethodGet, pages[i%len(pages)], nil), httptest.NewRecorder()
			r.Header.Set("Accept-Encoding", "gzip")
			sender.SendPage(w, r, s.Page(pages[i%len(pages)]))
			bytes += w.Body.Len()
		}
		b.ReportMetric(float64(bytes)/float64(b.N), "B/page")
		b.ReportMetric(resident(b), "MB")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-live")
		runtime.KeepAlive(s)
	})
}

// resident returns the resident memory of the process in MB, after a collection.
func resident(b *testing.B) float64 {
	b.Helper()
	runtime.GC()
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0 // another system
	}
	for line := range strings.Lines(string(data)) {
		var kb float64
		if n, _ := fmt.Sscanf(line, "VmRSS: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	return 0
}
