package operator_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/console/operator"
	"github.com/firstpick/firstpick/server/public/snapshotview"
	"github.com/firstpick/firstpick/server/public/snapshotview/sitetest"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
	"github.com/firstpick/firstpick/server/store/state/statetest"
)

const snapshots = "/operator/snapshots"

// published are three snapshots of a test, of which two are listed, newest first. Promoting one serves it.
type published struct {
	holder snapshotview.Holder
	sites  map[string]*snapshotview.Site
	list   []operator.Snapshot
	broken error // of the list
	fails  error // of the next promotion

	mu      sync.Mutex
	current string
}

func (p *published) List(context.Context) ([]operator.Snapshot, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list, p.current, p.broken
}

func (p *published) Promote(_ context.Context, id, before string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails != nil {
		return p.fails
	}
	if p.sites[id] == nil {
		return &operator.Refusal{Text: "it is not there."}
	}
	if p.current != before {
		return &operator.Refusal{Text: "another snapshot became the current one meanwhile."}
	}
	p.current = id
	p.holder.Set(p.sites[id])
	return nil
}

func (p *published) Command(id string) string { return "firstpick snapshot promote " + id }

// newPublished returns a server's two snapshots, of which the first is current.
func newPublished(t *testing.T) *published {
	t.Helper()
	p := &published{sites: map[string]*snapshotview.Site{}}
	for day := range 3 {
		in := sitetest.Large(t, 1, 3, 1, 20)
		in.ID, in.BaseURL, in.AsOf = fmt.Sprintf("%064x", 3-day), sitetest.Base, servertest.Start().AddDate(0, 0, -day)
		site, err := snapshotview.Build(in)
		if err != nil {
			t.Fatal(err)
		}
		p.sites[site.ID] = site
		if day < 2 {
			p.list = append(p.list, operator.Snapshot{ID: site.ID, CreatedAt: in.AsOf, AsOf: in.AsOf, Boards: len(site.Boards), Trials: 400})
		}
	}
	p.current = p.list[0].ID
	p.holder.Set(p.sites[p.current])
	return p
}

func (p *published) serve(c *server.Config) { c.Source, c.Published = &p.holder, p }

// TestPromoteAndRollBack changes what the home page serves, and back.
func TestPromoteAndRollBack(t *testing.T) {
	for _, engine := range statetest.Engines() {
		t.Run(engine, func(t *testing.T) {
			p := newPublished(t)
			s := servertest.New(t, servertest.Options{State: statetest.Address(t, engine), Server: p.serve})
			ops, dana := newOperator(t, s), newPerson(t, s, "dana@example.com")
			newest, older := p.list[0].ID, p.list[1].ID
			serves := func(want string) {
				t.Helper()
				if _, body := dana.Get("/"); !strings.Contains(body, "/snapshots/"+want) {
					t.Errorf("the home page does not serve %s", want)
				}
			}
			serves(newest)
			if _, body := ops.Get(snapshots); !strings.Contains(body, "Roll back to it") || !strings.Contains(body, `aria-label="Promote `+older+`"`) || strings.Contains(body, `aria-label="Promote `+newest+`"`) {
				t.Errorf("the list: %s", body)
			}
			send := func(who *person, id, before string) (int, string) {
				return who.Send(snapshots+"/promote", "snapshot", id, "current", before)
			}
			if status, _ := send(dana, older, newest); status != http.StatusNotFound {
				t.Errorf("somebody promotes: %d", status)
			}
			if status, _ := ops.Post(snapshots+"/promote", "snapshot", older, "current", newest); status != http.StatusForbidden {
				t.Errorf("without a form token: %d", status)
			}
			if status := ops.foreign(snapshots+"/promote", "snapshot", older, "current", newest); status != http.StatusForbidden {
				t.Errorf("from another site: %d", status)
			}
			serves(newest)

			if status, body := send(ops, older, newest); status != http.StatusOK || !strings.Contains(body, "Promoted.") || strings.Contains(body, "Roll back") {
				t.Errorf("roll back: %d %s", status, body)
			}
			serves(older)
			// A second tab still shows the newest as the current one.
			if status, body := send(ops, older, newest); status != http.StatusConflict || !strings.Contains(body, "another snapshot became the current one") {
				t.Errorf("a second tab: %d %s", status, body)
			}
			if status, body := send(ops, newest, older); status != http.StatusOK || !strings.Contains(body, "Roll back to it") {
				t.Errorf("promote again: %d %s", status, body)
			}
			serves(newest)
			for _, id := range []string{"", "nonsense", "<script>alert(1)</script>", strings.Repeat("x", 5000)} {
				if status, body := send(ops, id, newest); status < 400 || status >= 500 || strings.Contains(body, "<script>alert") {
					t.Errorf("%q: %d %s", id, status, body)
				}
			}
			p.fails = errors.New("open current: read-only file system")
			if status, body := send(ops, older, newest); status != http.StatusConflict || !strings.Contains(body, "read-only file system") || !strings.Contains(body, "firstpick snapshot promote "+older) {
				t.Errorf("no write access: %d %s", status, body)
			}
			serves(newest)

			entries, err := s.Agents.DB.Read().OperatorLog(t.Context(), &state.OperatorLog{Action: "operator", Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			promoted, refused := 0, 0
			for _, e := range entries {
				switch e.Event {
				case "operator.promotion":
					promoted++
				case "operator.promotion_refused":
					refused++
				default:
					continue
				}
				if e.AccountID != ops.Account().ID {
					t.Errorf("%s by %q", e.Event, e.AccountID)
				}
			}
			if promoted-refused != 2 || refused != 4 {
				t.Errorf("the audit log has %d promotions, %d refused", promoted, refused)
			}
		})
	}
}

// TestTwoTabsPromoteAtOnce: of two decisions on the same current snapshot one is carried out.
func TestTwoTabsPromoteAtOnce(t *testing.T) {
	p := newPublished(t)
	third := fmt.Sprintf("%064x", 1)
	s := servertest.New(t, servertest.Options{Server: p.serve})
	ops := newOperator(t, s)
	token, before := ops.FormToken(), p.current
	var wg sync.WaitGroup
	var done [2]bool
	for i, id := range []string{p.list[1].ID, third} {
		wg.Go(func() {
			_, body := ops.Post(snapshots+"/promote", "snapshot", id, "current", before, "form_token", token)
			done[i] = strings.Contains(body, "Promoted.")
		})
	}
	wg.Wait()
	if done[0] == done[1] {
		t.Errorf("promoted: %v", done)
	}
}

// TestSnapshotsThatAreNotGood: hostile texts are inert, retracted ones have no button, and a list that
// cannot be read says so.
func TestSnapshotsThatAreNotGood(t *testing.T) {
	p := newPublished(t)
	const bad = `<script>alert(1)</script>" onload=x`
	p.list[1].Retracted = bad
	p.broken = errors.New("s3: <b>denied</b>")
	s := servertest.New(t, servertest.Options{Server: p.serve})
	ops := newOperator(t, s)
	_, body := ops.Get(snapshots)
	for _, want := range []string{"The list may be incomplete", "&lt;b&gt;denied", "&lt;script&gt;alert(1)", ">retracted<"} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in %s", want, body)
		}
	}
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "<b>denied") || strings.Contains(body, "Roll back") || strings.Contains(body, `aria-label="Promote`) {
		t.Errorf("the list: %s", body)
	}
	p.current, p.list = "", nil
	if _, body := ops.Get(snapshots); !strings.Contains(body, "No snapshot is the current one.") || !strings.Contains(body, "This server serves ") {
		t.Errorf("without snapshots: %s", body)
	}
	p.current = "gone"
	if _, body := ops.Get(snapshots); !strings.Contains(body, "The current snapshot gone cannot be read.") {
		t.Errorf("without the current one: %s", body)
	}
	without := servertest.New(t, servertest.Options{})
	if status, body := newOperator(t, without).Get(snapshots); status != http.StatusOK || !strings.Contains(body, "firstpick snapshot promote ID") {
		t.Errorf("a server without snapshots: %d %s", status, body)
	}
}
