package evals_test

import (
	"cmp"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/servertest"
	"github.com/firstpick/firstpick/server/store/state"
)

// A probe is how an operation is tried.
type probe struct {
	query, body string
	// names says that the path names something of a workspace, and lists that it answers
	// with what a workspace has.
	names, lists bool
	status       int // for the owner, with a key that may do all
}

// probes has every operation under /api/v1 by its id. One that is missing here fails
// the test: whoever adds an operation says here what it may show.
func probes() map[string]probe {
	return map[string]probe{
		"listEvals":         {lists: true, status: 200},
		"putEval":           {query: "?for=push", body: servertest.EvalText, lists: true, status: 200},
		"checkEval":         {body: servertest.EvalText, lists: true, status: 200},
		"getEval":           {names: true, status: 200},
		"getEvalVersion":    {names: true, status: 200},
		"listRunsOfEval":    {names: true, status: 200},
		"startRun":          {names: true, body: `{"budgetUsd":1}`, status: 202},
		"beginUpload":       {names: true, body: announced("{digest}", uploadFiles()), status: 200},
		"getUpload":         {names: true, status: 200},
		"putUploadFile":     {names: true, query: "?offset=0", body: "{}", status: 200},
		"completeUpload":    {names: true, status: 202},
		"listSchedules":     {lists: true, status: 200},
		"getSchedule":       {names: true, status: 200},
		"pauseSchedule":     {names: true, status: 200},
		"resumeSchedule":    {names: true, status: 200},
		"runSchedule":       {names: true, status: 202},
		"deleteSchedule":    {names: true, status: 204},
		"putSchedule":       {names: true, body: `{"cron":"0 6 * * MON","timeZone":"Europe/Berlin","budgetUsd":1,"monthlyBudgetUsd":10}`, status: 201},
		"getCatalog":        {lists: true, status: 200},
		"putCatalog":        {body: "category: {slug: web}\ntools: [{slug: anybodys, name: Anybodys}]\n", lists: true, status: 428},
		"getCatalogVersion": {names: true, status: 200},
		"listRuns":          {lists: true, status: 200},
		"getRun":            {names: true, status: 200},
		"eraseEval":         {names: true, status: 200},
		"eraseRun":          {names: true, status: 200},
		"cancelRun":         {names: true, status: 200},
		"watchRun":          {names: true, status: 200},
		"listTraces":        {names: true, status: 200},
		"getTrace":          {names: true, status: 200},
		"compareRuns":       {names: true, query: "?with={runId}", status: 200},
		"explainRun":        {names: true, query: "?tool=flask", status: 200},
		"listProviderKeys":  {lists: true, status: 200},
		"setProviderKey":    {body: `{"value":"sk-of-somebody"}`, lists: true, status: 200},
		"removeProviderKey": {names: true, status: 204},
		"getEvalKey":        {lists: true, status: 200},
	}
}

// An operation is one of the description.
type operation struct {
	probe
	id, method, path string
	scope            string
}

// text is the operation's body with the digest of an eval in it.
func (o *operation) text(digest string) string {
	return strings.ReplaceAll(o.body, "{digest}", digest)
}

// url is the operation's path with names in it.
func (o *operation) url(names map[string]string) string {
	return regexp.MustCompile(`\{(\w+)\}`).ReplaceAllStringFunc(o.path+o.query, func(m string) string { return names[strings.Trim(m, "{}")] })
}

// operations are those under /api/v1: what deletes late, then what sets the very
// thing anew, and last what erases: a run before its eval.
func operations(t *testing.T) []*operation {
	t.Helper()
	doc, _ := described(t)
	known, out := probes(), []*operation(nil)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths.Map())) {
		if !strings.HasPrefix(path, "/api/v1/") {
			continue
		}
		for method, op := range doc.Paths.Value(path).Operations() {
			p, ok := known[op.OperationID]
			if !ok {
				t.Errorf("%s %s: %s is not in the matrix", method, path, op.OperationID)
			}
			delete(known, op.OperationID)
			out = append(out, &operation{p, op.OperationID, method, path, scope(t, op)})
		}
	}
	for id := range known {
		t.Errorf("the matrix has %s, and the description has not", id)
	}
	slices.SortFunc(out, func(a, b *operation) int {
		order := []string{http.MethodGet, http.MethodPost, http.MethodDelete, http.MethodPut}
		if c := strings.Compare(erases(a.id), erases(b.id)); c != 0 {
			return c
		}
		return cmp.Or(slices.Index(order, a.method)-slices.Index(order, b.method), strings.Compare(a.id, b.id))
	})
	return out
}

// erases orders what erases; it is empty for all other operations.
func erases(id string) string {
	return map[string]string{"eraseRun": "1", "eraseEval": "2"}[id]
}

func scope(t *testing.T, op *openapi3.Operation) string {
	t.Helper()
	if op.Security == nil || len(*op.Security) != 1 {
		t.Errorf("%s does not say that it needs an eval key", op.OperationID)
		return ""
	}
	scopes, ok := (*op.Security)[0]["evalKey"]
	if any := op.OperationID == "getEvalKey"; !ok || !any && len(scopes) != 1 || any && len(scopes) != 0 {
		t.Errorf("%s does not say which scope of an eval key it needs", op.OperationID)
		return ""
	}
	return strings.Join(scopes, " ")
}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// masked is an answer without what differs between any two.
func masked(a *answer) string { return requestID.ReplaceAllString(a.body, "") }

// TestNobodySeesAnothersWorkspace tries every operation with another's key and real
// names, and finds what it would find had the things never been.
func TestNobodySeesAnothersWorkspace(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		dana, eve := s.Workspace(t, "dana", paid), s.Workspace(t, "eve", paid)
		e, r := s.Ready(t, dana)
		s.Finish(t, s.Begin(t), bundles)
		if _, err := s.Evals.SetProviderKey(t.Context(), servertest.Owner(dana), evals.KeyChange{Name: "DANAS_KEY", Value: "sk-danas-own-secret", Hosts: []string{"api.dana.example"}}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Evals.PutCatalog(t.Context(), servertest.Owner(dana), []byte("category: {slug: web}\ntools: [{slug: danas-tool, name: Danas Tool}]\n"), 0); err != nil {
			t.Fatal(err)
		}
		schedule := evals.ScheduleRequest{EvalID: e.ID, Cron: "0 6 * * *", BudgetUSD: 1, MonthlyBudgetUSD: 40}
		if _, _, err := s.Evals.PutSchedule(t.Context(), servertest.Owner(dana), schedule); err != nil {
			t.Fatal(err)
		}
		owner := newAPI(t, s, s.EvalKey(t, dana))
		trial, _ := owner.get("/api/v1/runs/" + r.ID + "/traces").is(200).list("traces")[0]["id"].(string)
		upload := owner.pushed(e.ID, e.Digest, uploadFiles())
		names := map[string]string{"id": e.ID, "n": "1", "runId": r.ID, "trialId": trial, "name": "DANAS_KEY", "uploadId": upload, "file": "run.json"}
		never := map[string]string{"id": "evl_never", "n": "1", "runId": "run_never", "trialId": trial, "name": "NEVER_KEY", "uploadId": "run_never", "file": "run.json"}
		other := newAPI(t, s, s.EvalKey(t, eve))
		theirs := []string{e.ID, r.ID, "DANAS_KEY", "danas", "ws_dana", `"dana"`}
		for _, op := range operations(t) {
			got := other.do(op.method, op.url(names), op.text(e.Digest))
			if op.names {
				if want := other.do(op.method, op.url(never), op.text(e.Digest)); got.status != 404 || want.status != 404 || masked(got) != masked(want) {
					t.Errorf("%s: another's is %d %s\nand what never was is %d %s", op.id, got.status, got.body, want.status, want.body)
				}
			} else if got.status >= 300 && op.id != "putEval" {
				t.Errorf("%s: %d %s", op.id, got.status, got.body)
			}
			for _, secret := range theirs {
				if op.names && got.status == 404 {
					break
				}
				if op.id != "setProviderKey" && strings.Contains(got.body, secret) { // which repeats the name that it is given
					t.Errorf("%s shows %s: %s", op.id, secret, got.body)
				}
			}
		}
		for _, k := range must(s.Evals.ProviderKeys(t.Context(), servertest.Owner(dana)))(t) {
			if k.Name == "DANAS_KEY" && k.Shown != "...cret" {
				t.Errorf("another changed the key: %+v", k)
			}
		}
		mixed(t, s, other, eve, r.ID)
		for _, op := range operations(t) { // and the owner has all of it still
			if got := owner.do(op.method, op.url(names), op.text(e.Digest)); got.status != op.status {
				t.Errorf("%s: the owner gets %d %s", op.id, got.status, got.body)
			}
		}
	})
}

// mixed asks for another's things beside one's own.
func mixed(t *testing.T, s *servertest.Service, a *api, w *state.Workspace, theirs string) {
	t.Helper()
	_, own := s.Ready(t, w)
	s.Finish(t, s.Begin(t), bundles)
	a.get("/api/v1/runs/"+own.ID+"/compare?with="+theirs).refused(404, "run_not_found")
	a.get("/api/v1/runs/"+theirs+"/compare?with="+own.ID).refused(404, "run_not_found")
	a.get("/api/v1/runs?eval="+theirs).refused(404, "eval_not_found")
	if list := a.get("/api/v1/runs").is(200).list("runs"); len(list) != 1 || list[0]["id"] != own.ID {
		t.Errorf("the runs of one: %v", list)
	}
}

// TestKeysThatDoNotOpen tries every operation with each of them.
func TestKeysThatDoNotOpen(t *testing.T) {
	onBoth(t, func(t *testing.T, s *servertest.Service) {
		w := s.Workspace(t, "dana", paid)
		e, r := s.Ready(t, w)
		s.Finish(t, s.Begin(t), bundles)
		reader, runner, revoked := s.EvalKey(t, w, "read"), s.EvalKey(t, w, "run"), s.EvalKey(t, w)
		keys := must(s.Evals.Keys(t.Context(), servertest.Owner(w)))(t)
		if err := s.Evals.RevokeKey(t.Context(), servertest.Owner(w), keyOf(t, keys, revoked)); err != nil {
			t.Fatal(err)
		}
		lapsed, shut := s.Workspace(t, "lapsed", paid), s.Workspace(t, "shut", paid)
		lapsedKey, shutKey := s.EvalKey(t, lapsed), s.EvalKey(t, shut)
		nobodys := s.Unclaimed(t, "nobodys")
		nobodysKey := s.EvalKey(t, nobodys)
		for _, slug := range []string{"lapsed", "nobodys"} {
			if err := s.Agents.SetPlan(t.Context(), nil, slug, free); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Agents.SetDisabled(t.Context(), "shut@example.com", true); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{"id": e.ID, "n": "1", "runId": r.ID, "trialId": "00000000000000000000", "name": "ANTHROPIC_API_KEY", "uploadId": r.ID, "file": "run.json"}
		a := newAPI(t, s, "")
		for _, op := range operations(t) {
			try := func(key string) *answer { return a.with(key).do(op.method, op.url(names), op.body) }
			try("").refused(401, "unauthorized")
			try(revoked).refused(401, "invalid_token")
			try("fpe_of_nobody").refused(401, "invalid_token")
			try("sk_live_"+strings.Repeat("x", 30)).refused(401, "invalid_token")
			try(shutKey).refused(401, "invalid_token")
			try(lapsedKey).refused(403, "plan_required")
			try(nobodysKey).refused(403, "plan_required")
			if op.method == http.MethodGet {
				if got := a.with(revoked).do(http.MethodHead, op.url(names), ""); got.status != 401 || got.body != "" {
					t.Errorf("HEAD of %s: %d", op.id, got.status)
				}
			}
			if got := a.do(http.MethodOptions, op.url(names), "", "Origin", "https://a.example"); got.status != 204 || !strings.Contains(got.header.Get("Access-Control-Allow-Methods"), op.method) {
				t.Errorf("OPTIONS of %s: %d %v", op.id, got.status, got.header)
			}
			if op.scope == "" {
				continue
			}
			short := map[string]string{"read": runner, "run": reader}[op.scope]
			got := try(short).refused(403, "insufficient_scope")
			if got.text("scope") != op.scope || !strings.Contains(got.header.Get("WWW-Authenticate"), `scope="`+op.scope+`"`) {
				t.Errorf("%s: %s; challenged with %q", op.id, got.body, got.header.Get("WWW-Authenticate"))
			}
		}
		if list, err := s.Evals.ProviderKeys(t.Context(), servertest.Owner(w)); err != nil || len(list) != 2 {
			t.Errorf("a refused request changed the provider keys: %v %v", list, err)
		}
	})
}

// keyOf is the id of a key.
func keyOf(t *testing.T, keys []*evals.Key, token string) string {
	t.Helper()
	for _, k := range keys {
		if strings.HasSuffix(k.Shown, token[len(token)-4:]) {
			return k.ID
		}
	}
	t.Fatal("no such key")
	return ""
}
