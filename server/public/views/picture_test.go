package views

import (
	"testing"

	"github.com/firstpick/firstpick/server/kit/render"
)

// TestPictureOfNothing: an installation without boards has a picture, too.
func TestPictureOfNothing(t *testing.T) {
	r, err := New(Input{Site: render.Site{BaseURL: "https://x.example"}})
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := r.Picture("/"); !ok || p.Title == "" {
		t.Errorf("%+v", p)
	}
}
