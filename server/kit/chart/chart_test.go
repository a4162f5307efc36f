package chart_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/kit/chart"
)

// An element is what a drawing is made of.
type element struct {
	name, text string
	attr       map[string]string
	parent     int // the number of the element it is in
}

// number returns an attribute as a number; 12% is 12.
func (e *element) number(t *testing.T, name string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSuffix(e.attr[name], "%"), 64)
	if err != nil {
		t.Fatalf("%s of %s: %v", name, e.name, err)
	}
	return v
}

// parse reads a drawing, which must be well-formed.
func parse(t *testing.T, drawing string) []element {
	t.Helper()
	dec := xml.NewDecoder(strings.NewReader(drawing))
	var all []element
	open := []int{-1}
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in %s", err, drawing)
		}
		switch v := token.(type) {
		case xml.StartElement:
			e := element{name: v.Name.Local, attr: map[string]string{}, parent: open[len(open)-1]}
			for _, a := range v.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			all = append(all, e)
			open = append(open, len(all)-1)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if at := open[len(open)-1]; at >= 0 {
				all[at].text += string(v)
			}
		}
	}
}

func series() []chart.Series { return []chart.Series{{"a", "A"}, {"b", "B"}, {"c", "C"}} }

func columns(r *rand.Rand, n int) []chart.Column {
	out := make([]chart.Column, n)
	size := int64(1) << r.IntN(40)
	for i := range out {
		out[i] = chart.Column{Label: fmt.Sprintf("%d Nov", 10+i%20), Title: fmt.Sprint("day ", i), Values: []int64{r.Int64N(size + 1), r.Int64N(size + 1), r.Int64N(2)}}
	}
	return out
}

// Heights are in proportion to the values, and stacked without gap or overlap on
// the axis.
func TestColumnsAddUp(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		cols := columns(r, 1+r.IntN(100))
		most := int64(0)
		for i := range cols {
			most = max(most, cols[i].Total())
		}
		scale := chart.NewScale(most)
		all := parse(t, string(chart.Columns(series(), cols, "x")))
		var lines []float64
		at := -1
		var floor float64
		for _, e := range all {
			switch {
			case e.name == "line":
				lines = append(lines, e.number(t, "y1"))
			case e.name == "g":
				at++
				floor = lines[0]
			case e.name == "rect" && strings.HasPrefix(e.attr["class"], "s-"):
				i := strings.Index("abc", e.attr["class"][2:])
				unit := (lines[0] - lines[len(lines)-1]) / float64(scale.Top)
				want := float64(cols[at].Values[i]) * unit
				if got := e.number(t, "height"); math.Abs(got-want) > .002 || math.Abs(e.number(t, "y")+got-floor) > .002 {
					t.Fatalf("seed %d, column %d, %s: %v high and at %v, want %v ending at %v", seed, at, e.attr["class"], got, e.number(t, "y"), want, floor)
				}
				floor = e.number(t, "y")
				if x := e.number(t, "x"); x < 0 || x+e.number(t, "width") > 100.01 {
					t.Fatalf("seed %d: a column sticks out", seed)
				}
			}
		}
		if at != len(cols)-1 || len(lines) != len(scale.Ticks()) {
			t.Fatalf("seed %d: %d columns and %d lines", seed, at+1, len(lines))
		}
		if lines[len(lines)-1] < 20 {
			t.Fatalf("seed %d: the scale runs into the words above: %v", seed, lines)
		}
	}
}

// Labels keep apart: all of them on 520 pixels, every other on 204, which is what a
// telephone of 320 leaves.
func TestLabelsDoNotOverlap(t *testing.T) {
	const letter = 7 // pixels, at most
	for n := 1; n <= 400; n++ {
		var cols []chart.Column
		for i := range n {
			cols = append(cols, chart.Column{Label: fmt.Sprintf("%d Nov", 10+i%20), Values: []int64{1, 0, 0}})
		}
		all := parse(t, string(chart.Columns(series(), cols, "x")))
		for width, skip := range map[float64]string{520: "none", 204: "x more"} {
			end, shown := -math.MaxFloat64, 0
			for _, e := range all {
				if e.name != "text" || !strings.HasPrefix(e.attr["class"], "x") || e.attr["class"] == skip {
					continue
				}
				shown++
				half := float64(len(e.text)*letter) / 2
				if middle := e.number(t, "x") * width / 100; middle-half < end {
					t.Fatalf("%d columns on %v pixels: %q begins at %v, the one before ends at %v", n, width, e.text, middle-half, end)
				} else {
					end = middle + half
				}
			}
			if shown == 0 {
				t.Fatalf("%d columns on %v pixels have no label", n, width)
			}
		}
	}
}

func TestScalesAreRound(t *testing.T) {
	for most, want := range map[int64]chart.Scale{
		0: {1, 1}, 1: {1, 1}, 4: {4, 1}, 5: {6, 2}, 8: {8, 2}, 9: {10, 5}, 20: {20, 5}, 21: {30, 10}, 87: {100, 50}, 1234: {1500, 500}, 99_999: {100_000, 50_000},
		4_000_000_000_000_000_000: {4_000_000_000_000_000_000, 1_000_000_000_000_000_000},
	} {
		if got := chart.NewScale(most); got != want {
			t.Errorf("%d: %v, want %v", most, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 500: "500", 1500: "1.5k", 20_000: "20k", 3_000_000: "3M", 2_000_000_000: "2G"} {
		if got := chart.Compact(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := chart.Whole(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestSplitsAddUpToTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var parts []chart.Part
		for i := range 1 + r.IntN(6) {
			parts = append(parts, chart.Part{Series: chart.Series{Class: fmt.Sprint(i), Name: "n"}, Value: r.Int64N(1000)})
		}
		parts = append(parts, chart.Part{Series: chart.Series{Class: "last"}, Value: 1})
		end := 0.0
		for _, e := range parse(t, string(chart.Split(parts, 0, "x"))) {
			if e.name == "rect" && e.attr["class"] != "track" {
				if x := e.number(t, "x"); math.Abs(x-end) > .002 {
					t.Fatalf("a part begins at %v, the one before ends at %v", x, end)
				}
				end = e.number(t, "x") + e.number(t, "width")
			}
		}
		if math.Abs(end-100) > .002 {
			t.Fatalf("the parts end at %v", end)
		}
	}
}

func TestNothingBreaksTheMarkup(t *testing.T) {
	const bad = `"><script>alert(1)</script>&'` + "\n"
	s := []chart.Series{{bad, bad}}
	for name, drawing := range map[string]string{
		"columns": string(chart.Columns(s, []chart.Column{{Label: bad, Title: bad, Values: []int64{3}, Link: bad}}, bad)),
		"split":   string(chart.Split([]chart.Part{{Series: s[0], Value: 2, Text: bad}}, 0, bad)),
		"bar":     string(chart.Bar(1, 2, bad)),
		"spark":   string(chart.Spark([]int64{1, 2})),
	} {
		for _, e := range parse(t, drawing) {
			if e.name == "script" {
				t.Errorf("%s: %s", name, drawing)
			}
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, drawing := range map[string]string{
		"no columns":    string(chart.Columns(series(), nil, "x")),
		"empty columns": string(chart.Columns(series(), []chart.Column{{Label: "1 Nov", Values: []int64{0, 0, 0}}}, "x")),
		"no parts":      string(chart.Split(nil, 0, "x")),
		"no most":       string(chart.Bar(0, 0, "a")),
		"flat":          string(chart.Spark([]int64{0, 0})),
	} {
		if strings.Contains(drawing, "NaN") || strings.Contains(drawing, "Inf") {
			t.Errorf("%s: %s", name, drawing)
		}
		parse(t, "<div>"+drawing+"</div>")
	}
	if chart.Spark([]int64{5}) != "" {
		t.Error("one number makes no line")
	}
}

// TestColumnsLead: columns with links are a group of links and no image; those that count a
// part of their day have a class; the text for the focus follows its link.
func TestColumnsLead(t *testing.T) {
	drawing := string(chart.Columns(series(), []chart.Column{
		{Label: "1 Nov", Title: "1 Nov", Values: []int64{1, 0, 0}, Link: "/x?a=1&b=2", Partial: true},
		{Label: "2 Nov", Title: "2 Nov", Values: []int64{2, 0, 0}},
	}, "Visits"))
	parse(t, drawing)
	for _, want := range []string{`role="group" aria-label="Visits"`, `<a href="/x?a=1&amp;b=2"><g class="column partial"><title>1 Nov: 1`, `</g></a><text class="tip"`, `<g class="column"><title>2 Nov: 2`} {
		if !strings.Contains(drawing, want) {
			t.Errorf("no %s in %s", want, drawing)
		}
	}
	if strings.Count(drawing, "<a ") != 1 || !strings.Contains(string(chart.Columns(series(), nil, "x")), `role="img"`) {
		t.Error(drawing)
	}
}
