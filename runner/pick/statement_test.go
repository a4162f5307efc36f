package pick_test

import (
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/fixtures"
	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/pick"
	"github.com/firstpick/firstpick/runner/transcript"
)

// TestOneNameOverAndOver: a model that is caught in a loop must not hold a run. Read
// without a bound, this answer takes hours.
func TestOneNameOverAndOver(t *testing.T) {
	c, err := catalog.Load(fixtures.Files(), "catalog")
	if err != nil {
		t.Fatal(err)
	}
	x := extractor(t, c, "webserver")
	done := make(chan pick.Result, 1)
	go func() {
		done <- x.Extract(transcript.Transcript{FinalText: "I recommend Flask. " + strings.Repeat("flask ", 50_000)})
	}()
	select {
	case r := <-done:
		if r.Picked != "flask" {
			t.Errorf("%+v", r)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("still reading after 30 s")
	}
}
