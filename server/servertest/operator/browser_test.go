package operator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/servertest/chrome"
	"github.com/firstpick/firstpick/server/servertest/vnu"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestPagesInARealBrowser looks at each page, empty and filled.
func TestPagesInARealBrowser(t *testing.T) {
	source, markup := chrome.Axe(t), map[string]string{}
	look := func(s *servertest.Service, who *person, pages map[string]string) {
		t.Helper()
		b := chrome.New(t, s.URL, who.HTTP.Jar)
		for name, path := range pages {
			b.Open(path)
			b.Look(name, source)
			_, markup[name] = who.Get(path)
		}
	}
	empty := servertest.New(t, servertest.Options{})
	look(empty, newOperator(t, empty), map[string]string{
		"operator-empty": "/operator", "operator-workspaces-empty": list, "operator-snapshots-missing": snapshots, "operator-log-empty": auditLog + "?action=none",
	})

	p := newPublished(t)
	p.list[1].Signed, p.list[1].Synthetic = true, true
	p.list = append(p.list, p.list[1])
	p.list[2].ID, p.list[2].Retracted = strings.Repeat("e", 64), "The prompts of one category named a tool."
	s := servertest.New(t, servertest.Options{Server: func(c *server.Config) {
		p.serve(c)
		c.Version, c.FreeDisk = "1.4.0", func() (int64, error) { return 42 << 30, nil }
	}})
	ops, dana := newOperator(t, s), newPerson(t, s, "dana@a-department-with-a-long-name.example.com")
	slug := dana.Workspace("https://acme.dev")
	for i, name := range []string{"acme", "quiet-otter-4821", "a-workspace-with-a-rather-long-name-1234"} {
		w := s.Workspace(t, name, "paid")
		s.Ready(t, w)
		s.Clock.Add(time.Duration(i+1) * 7 * time.Minute)
		row := s.Begin(t)
		if i == 0 {
			if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error { return finish(t.Context(), tx, row, s.Clock.Now()) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Ready(t, s.Workspace(t, "waits", "paid"))
	for i := range 52 { // more than a page of the list and of the log
		s.Workspace(t, fmt.Sprintf("busy-heron-%04d", i), "free")
		ops.Must("Plan changed.", list+"/plan", "workspace", slug, "plan", []string{"paid", "free"}[i%2])
	}
	ops.Must("Issuer trusted.", issuers+"/add", "iss", "https://login.a-department-with-a-long-name.example.com", "name", "Example", "domains", "example.com", "amr", "mfa")
	look(s, ops, map[string]string{
		"operator": "/operator", "operator-workspaces": list, "operator-search": list + "?q=acme", "operator-snapshots": snapshots, "operator-snapshots-open": snapshots,
		"operator-issuers": issuers, "operator-issuers-open": issuers, "operator-log": auditLog,
	})
	look(s, dana, map[string]string{"operator-hidden": "/operator"})
	_, markup["operator-problem"] = ops.Send(issuers+"/add", "iss", "http://idp.example")
	p.fails = fmt.Errorf("open current: permission denied")
	_, markup["operator-refused"] = ops.Send(snapshots+"/promote", "snapshot", p.list[1].ID, "current", p.current)
	s.Clock.Add(2 * time.Hour) // the sign-in is old
	look(s, ops, map[string]string{"operator-stale": snapshots})
	t.Run("markup", func(t *testing.T) { vnu.Check(t, "..", markup) })
}

// TestKeyboardAlone rolls back at a telephone's width without a pointer.
func TestKeyboardAlone(t *testing.T) {
	p := newPublished(t)
	s := servertest.New(t, servertest.Options{Server: p.serve})
	b := chrome.New(t, s.URL, newOperator(t, s).HTTP.Jar)
	b.Size(390)
	b.Open(snapshots)
	b.TabTo("#current .danger summary")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.TabTo("#current .danger button")
	b.Load(chromedp.KeyEvent(kb.Enter))
	if got := chrome.Eval[string](b, "document.querySelector('main').innerText"); !strings.Contains(got, "Promoted.") {
		t.Fatal(got)
	}
	if _, current, _ := p.List(t.Context()); current != p.list[1].ID {
		t.Errorf("current is %s", current)
	}
}
