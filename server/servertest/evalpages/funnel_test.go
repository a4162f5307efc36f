package evalpages_test

import (
	"strings"
	"testing"
)

// A result of programs shows how far their trials came with each tool, one of models does not.
func TestTheFunnelOfARun(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "dana", "paid")
	_, before, now, live := o.fill()
	o.end(live, bundleSmall, done(10, 1, 12))
	shows := func(run, want string, wanted bool) {
		t.Helper()
		if _, body := o.get(o.at("/runs/" + run)); strings.Contains(text(body), want) != wanted {
			t.Errorf("%q is shown: %t, want %t: %s", want, !wanted, wanted, text(body))
		}
	}
	shows(now.ID, "then the eval’s command passes. Tool Named Picked Installed Builds Acorn Pay 16 69.6% 16 69.6% 16 69.6% 6 26.1% Birch 6 26.1% 3 13% 3 13% 1 4.3%", true)
	shows(before.ID, "Tool Named Picked Installed Acorn Pay 13 56.5%", true)
	shows(before.ID, "The eval has no command to run in the folder.", true)
	shows(live.ID, "How they were decided", true)
	shows(live.ID, "From a name to a build", false)
	if _, body := o.get(o.at("/runs/" + now.ID)); !strings.Contains(body, `<tr><th scope="row"><a href="`+o.at("/runs/"+now.ID+"/traces?outcome=tool&amp;picked=birch")+`">Birch</a>`) {
		t.Errorf("a tool does not lead to its trials: %s", body)
	}
}
