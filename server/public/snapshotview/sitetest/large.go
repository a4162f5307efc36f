package sitetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing" //nolint:depguard // a package of tests

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/server/public/snapshotview"
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
					Prompt: prompt, Agent: fmt.Sprintf("vendor-model-%d-20260101", a), Outcome: pick.Tool, Picked: slug, Shortlist: []string{slug}, Trials: 1 + k, LastAt: AsOf(),
				})
			}
		}
	}
	m := analytics.Measurement{Category: category, Cells: analytics.Cells(groups), Planned: prompts * agents * 6, Design: design}
	board := analytics.Rank(m)
	board.Prompts = m.Prompts()
	return board, refs
}

// Large returns the input of a site of many boards: copies of one, each with tools of its own.
func Large(t testing.TB, boards, tools, agents, prompts int) (in snapshotview.Input) {
	t.Helper()
	in = snapshotview.Input{ID: "abc", AsOf: AsOf(), BaseURL: Base, Trials: true}
	board, refs := boardOf(tools, agents, prompts)
	data, err := json.Marshal(board)
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(board.Prompts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range boards {
		own := []byte(fmt.Sprintf("b%02d-tool-", i))
		var of analytics.Board
		if err := json.Unmarshal(bytes.ReplaceAll(data, []byte("tool-"), own), &of); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(bytes.ReplaceAll(list, []byte("tool-"), own), &of.Prompts); err != nil {
			t.Fatal(err)
		}
		for j := range of.Tools { // boards are printed without these
			if part, err := json.Marshal(board.Tools[j].Breakdown); err != nil || json.Unmarshal(bytes.ReplaceAll(part, []byte("tool-"), own), &of.Tools[j].Breakdown) != nil {
				t.Fatal("a breakdown is not read again")
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
