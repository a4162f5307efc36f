package analytics

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWithBaseTouchesOnlyTheCopy(t *testing.T) {
	make3 := func() Board { return rank(category("paddle", "square", "stripe"), toy(), 60, false) }
	b := make3()
	based := b.WithBase("https://example.test")
	if based.URL != "https://example.test/leaderboards/payments" ||
		based.Tools[2].BeatenBy[0].URL != "https://example.test/tools/stripe" {
		t.Errorf("%+v", based)
	}
	rep, _ := b.Report("square")
	full := rep.WithBase("https://example.test")
	if full.URL != "https://example.test/tools/square" || full.BeatenBy[1].URL != "https://example.test/tools/paddle" {
		t.Errorf("%+v", full)
	}
	if got := b.Item().WithBase("https://example.test").URL; got != based.URL {
		t.Errorf("item %s", got)
	}
	*based.AsOf, *rep.AsOf = time.Time{}, time.Time{}
	based.Warnings[0], based.Tools[0].Warnings[0], based.Agents[0].Tools[0].Slug = "", "", ""
	rep.Warnings[0], rep.BeatenBy[0].Slug = "", ""
	if d := cmp.Diff(make3(), b); d != "" {
		t.Errorf("the original changed: %s", d)
	}
}

func TestListsAreNeverNull(t *testing.T) {
	for name, b := range map[string]Board{
		"ranked": rank(category("x"), []Group{chose("p", "x", "x")}, 1, false),
		"empty":  rank(category(), nil, 0, false),
	} {
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if name == "ranked" && strings.Contains(string(text), "null") || strings.Count(string(text), "null") > 1 {
			t.Errorf("%s: %s", name, text)
		}
		var read Board
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		if rep, ok := read.Report("x"); ok && rep.BeatenBy == nil {
			t.Error("a report of a board that was read has no list of rivals")
		}
	}
	if _, ok := (Board{}).Report("x"); ok {
		t.Error("a tool that is on no board has a report")
	}
}
