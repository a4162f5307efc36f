package share_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/firstpick/firstpick/server/public/share"
)

// TestLongFoot: a foot of two lines leaves room for four rows below three lines of title.
func TestLongFoot(t *testing.T) {
	p, err := share.NewPainter()
	if err != nil {
		t.Fatal(err)
	}
	pic := share.Picture{
		Small: "firstpick", Title: strings.Repeat("A claim of several words. ", 5), Foot: strings.Repeat("A doubt of several words. ", 6),
		Rows: []share.Row{{Name: "Ash", Value: "60%", Share: .6}, {Name: "Birch", Value: "30%", Share: .3}, {Name: "Cedar", Value: "20%", Share: .2}, {Name: "Elm", Value: "10%", Share: .1}},
	}
	all, err := p.PNG(pic)
	if err != nil {
		t.Fatal(err)
	}
	pic.Rows[3].Name = "Fir"
	if other, err := p.PNG(pic); err != nil || bytes.Equal(all, other) {
		t.Errorf("the fourth row is missing: %v", err)
	}
}
