package evalpages_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

var (
	inputs    = regexp.MustCompile(`<input [^>]*>`)
	attribute = regexp.MustCompile(`(\w+)(?:="([^"]*)")?`)
	textarea  = regexp.MustCompile(`(?s)<textarea [^>]*name="(\w+)"[^>]*>\n?(.*?)</textarea>`)
	selected  = regexp.MustCompile(`<option value="([^"]*)" selected>`)
)

// proposal returns the fields of the form of a page, as a browser sends them.
func proposal(t testing.TB, body string) url.Values {
	t.Helper()
	_, form, ok := strings.Cut(body, `class="measure"`)
	if !ok {
		t.Fatalf("no proposal: %s", text(body))
	}
	form, _, _ = strings.Cut(form, "</form>")
	out := url.Values{}
	for _, tag := range inputs.FindAllString(form, -1) {
		at := map[string]string{}
		for _, m := range attribute.FindAllStringSubmatch(tag, -1) {
			at[m[1]] = html.UnescapeString(m[2])
		}
		if _, checked := at["checked"]; at["type"] != "checkbox" && at["type"] != "radio" || checked {
			out.Add(at["name"], at["value"])
		}
	}
	for _, m := range textarea.FindAllStringSubmatch(form, -1) {
		out.Add(m[1], html.UnescapeString(m[2]))
	}
	if m := selected.FindStringSubmatch(form); m != nil {
		out.Set("category", m[1])
	}
	return out
}

// stored fails unless the workspace has so many versions of its catalogue, evals, keys and
// runs.
func (o *owner) stored(what string, catalog, list, keys, runs int) {
	o.t.Helper()
	c, err := o.s.Evals.Catalog(o.t.Context(), o.actor())
	all, _, err2 := o.s.Evals.Evals(o.t.Context(), o.actor(), "", 0)
	set, err3 := o.s.Evals.ProviderKeys(o.t.Context(), o.actor())
	started, _, err4 := o.s.Evals.Runs(o.t.Context(), o.actor(), evals.RunQuery{})
	for _, err := range []error{err, err2, err3, err4} {
		if err != nil {
			o.t.Fatal(err)
		}
	}
	if c.Version != catalog || len(all) != list || len(set) != keys || len(started) != runs {
		o.t.Errorf("%s: catalogue version %d, %d evals, %d keys, %d runs; want %d, %d, %d, %d", what, c.Version, len(all), len(set), len(started), catalog, list, keys, runs)
	}
}

// TestMeasure: the proposal of a site is a form; accepting it stores entry, eval and key and
// starts a run, and what is refused stores nothing.
func TestMeasure(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	page := o.at("/evals/measure")
	if _, body := o.get(o.at("/evals")); !strings.Contains(body, "/evals/measure") {
		t.Errorf("the list has no way to measure: %s", text(body))
	}
	for address, want := range map[string]string{"https://user:pw@site.example": "without a name and password", "": ""} {
		status, body := o.send("/evals/measure", "address", address, "do", "read")
		if !strings.Contains(body, want) || want != "" && (status != http.StatusUnprocessableEntity || !strings.Contains(body, `value="https://user:pw@site.example"`)) {
			t.Errorf("%q: %d %s", address, status, text(body))
		}
	}
	_, body := o.send("/evals/measure", "address", "https://unknown.example", "do", "read")
	form := proposal(t, body)
	if !strings.Contains(body, "No category was found") || strings.Contains(body, "Accept and run") {
		t.Errorf("without a category: %s", text(body))
	}
	form.Set("category", "web")
	form.Set("do", "run") // the prompts of the category have not been seen
	form.Set("form_token", o.formToken())
	status, body := o.post(page, form)
	if status != http.StatusOK || !strings.Contains(body, "of the category that you chose") || !strings.Contains(body, "Build a small web API") {
		t.Errorf("a category chosen: %d %s", status, text(body))
	}
	o.stored("before accepting", 0, 0, 0, 0)

	_, body = o.send("/evals/measure", "address", "quill.example", "do", "read")
	form = proposal(t, body)
	if got := form.Get("name") + "|" + form.Get("aliases") + "|" + form.Get("domains") + "|" + form.Get("packages") + "|" + form.Get("category") + "|" + form.Get("address"); got != "Quill|Quill.js|quill.example|pypi:quill|web|https://quill.example" {
		t.Errorf("the form: %s", got)
	}
	if page := text(body); form.Get("repeats") != "2" || !strings.Contains(page, "Each prompt 9 times; shows differences from 41 points on") || !strings.Contains(page, "Each prompt 2 times; shows no difference between two tools") || strings.Index(page, "from 41 points") > strings.Index(page, "no difference between") {
		t.Errorf("the sizes, %s chosen: %s", form.Get("repeats"), page)
	}
	form.Set("form_token", o.formToken())
	form["prompt"] = []string{"Which library renders rich text?", "Build an editor for notes."}
	o.prompts(form)
	for name, change := range map[string][2]string{
		"a key that is too short":   {"key_OPENAI_API_KEY", "short"},
		"an endpoint without model": {"endpoint_url", "https://models.example/v1"},
		"no budget":                 {"budget", "1,50"},
		"an entry that cannot be":   {"name", ""},
	} {
		wrong := url.Values{}
		for k, v := range form {
			wrong[k] = slices.Clone(v)
		}
		wrong.Set("agent", "anthropic")
		wrong.Set("do", "run")
		wrong.Set(change[0], change[1])
		status, body := o.post(page, wrong)
		if status != http.StatusUnprocessableEntity || !strings.Contains(body, "Build an editor for notes.") || strings.Contains(body, `value="short"`) {
			t.Errorf("%s: %d %s", name, status, text(body))
		}
		o.stored(name, 0, 0, 0, 0)
	}
	short := url.Values{"key_OPENAI_API_KEY": {"short"}, "do": {"run"}}
	for k, v := range form {
		if !short.Has(k) {
			short[k] = v
		}
	}
	if status, body := o.post(page, short); status != http.StatusUnprocessableEntity || !strings.Contains(body, "the key OPENAI_API_KEY: 8 to 4096") || strings.Count(body, "aria-invalid") != 1 ||
		!strings.Contains(body, `name="key_OPENAI_API_KEY" type="password" autocomplete="off" spellcheck="false" aria-invalid="true"`) || !strings.Contains(body, "Build an editor for notes.") {
		t.Errorf("a short key alone: %d %s", status, text(body))
	}

	// An editor may not send keys to other hosts: that is found after the entry is written.
	erin := newOwner(t, s, "erin", "paid")
	s.Join(t, o.w, erin.w.OwnerID, identity.Editor)
	theirs := url.Values{}
	for k, v := range form {
		theirs[k] = slices.Clone(v)
	}
	for k, v := range map[string]string{"form_token": erin.formToken(), "endpoint_url": "https://models.example/v1", "endpoint_model": "m", "endpoint_key": "sk-secret-of-erin", "do": "run"} {
		theirs.Set(k, v)
	}
	if status, body := erin.post(page, theirs); status != http.StatusUnprocessableEntity || !strings.Contains(text(body), "may not be sent to models.example") {
		t.Errorf("an editor binds a key: %d %s", status, text(body))
	}
	o.stored("a transaction that fails at its end", 0, 0, 0, 0)

	// The plan that was shown has no model: its cost is shown before a run starts.
	form.Set("key_OPENAI_API_KEY", "sk-secret-1234567")
	form.Set("do", "run")
	form.Set("budget", "0.5")
	status, body = o.post(page, form)
	if status != http.StatusOK || !strings.Contains(text(body), "no run has started: the plan was for other models") || !strings.Contains(body, `value="0.5"`) || !strings.Contains(text(body), "worst case $0.04") || strings.Contains(body, "sk-secret") {
		t.Errorf("other models than those of the plan: %d %s", status, text(body))
	}
	o.stored("the plan not seen", 1, 1, 1, 0)
	form.Set("do", "check")
	_, body = o.post(page, form)
	form.Set("planned", proposal(t, body).Get("planned"))
	form.Set("do", "run")
	status, body = o.post(page, form)
	if status != http.StatusOK || !strings.Contains(text(body), "Queued") || strings.Contains(body, "sk-secret") {
		t.Errorf("accepted: %d %s", status, text(body))
	}
	o.stored("accepted", 1, 1, 1, 1)
	if tool, err := s.Evals.Followed(t.Context(), o.actor()); err != nil || tool != "quill" {
		t.Errorf("it follows %q, %v", tool, err)
	}
	list, _, err := s.Evals.Evals(t.Context(), o.actor(), "", 0)
	if err != nil || list[0].Prompts != 2 || list[0].Repeats != 2 || !slices.Equal(list[0].ProviderKeys, []string{"OPENAI_API_KEY"}) || list[0].CatalogDigest == "" {
		t.Errorf("the eval: %+v, %v", list[0], err)
	}
	if _, body := o.post(page, form); !strings.Contains(text(body), "Queued") { // the same form again
		t.Errorf("sent twice: %s", text(body))
	}

	s.Clock.Add(61 * time.Minute)
	_, body = o.send("/evals/measure", "address", "quill.example", "do", "read")
	if got := proposal(t, body)["prompt"]; !slices.Equal(got, form["prompt"]) || !strings.Contains(text(body), "prompts of your eval quill , version 1.") {
		t.Errorf("measured again, its prompts are %q: %s", got, text(body))
	}
	if strings.Contains(body, `name="key_`) || !strings.Contains(body, "keys cannot be entered here") {
		t.Errorf("an old sign-in: %s", text(body))
	}
}

// prompts fails unless the fields of prompts can be added, removed and filled from a list, and
// one with an error has it beside its field.
func (o *owner) prompts(first url.Values) {
	o.t.Helper()
	for _, c := range []struct {
		name, field, value string
		want               []string
	}{
		{"one more field", "do", "add", []string{"Which library renders rich text?", "Build an editor for notes.", ""}},
		{"without the first", "remove", "1", []string{"Build an editor for notes."}},
		{"a list", "prompts", "Highlight code.\r\n\r\nBuild an editor for notes.\r\n", []string{"Which library renders rich text?", "Build an editor for notes.", "Highlight code."}},
	} {
		form := url.Values{}
		for k, v := range first {
			form[k] = slices.Clone(v)
		}
		form.Set(c.field, c.value)
		status, body := o.post(o.at("/evals/measure"), form)
		if got := proposal(o.t, body)["prompt"]; status != http.StatusOK || !slices.Equal(got, c.want) {
			o.t.Errorf("%s: %d %q", c.name, status, got)
		}
	}
	form := url.Values{}
	for k, v := range first {
		form[k] = slices.Clone(v)
	}
	form["prompt"] = []string{"Build an editor for notes.", "Should I take Quill for notes?"}
	status, body := o.post(o.at("/evals/measure"), form)
	if status != http.StatusUnprocessableEntity || !strings.Contains(body, `aria-describedby="problem-2" aria-invalid="true"`) || !strings.Contains(body, `id="problem-2">This prompt names Quill`) || !strings.Contains(body, "1 prompt has an error") {
		o.t.Errorf("a prompt that names the tool: %d %s", status, text(body))
	}
	o.stored("a prompt that names the tool", 0, 0, 0, 0)
}

// TestUnreadOfAFollowedTool: where the site cannot be read, the proposal is of the tool that the
// workspace follows.
func TestUnreadOfAFollowedTool(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	for tool, want := range map[string]string{"flask": "This is the proposal for Flask, the tool that this workspace follows. What is missing is a model", "no-such": "choose the category of your tool"} {
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			return tx.SavePickWatch(t.Context(), o.w.ID, &state.PickWatch{Tool: tool, Since: s.Clock.Now()})
		}); err != nil {
			t.Fatal(err)
		}
		_, body := o.send("/evals/measure", "address", "https://unreadable.example", "do", "read")
		// The catalogue of these tests has no prompts for the category of Flask.
		if got := proposal(t, body); !strings.Contains(text(body), want) || (got.Get("slug") == "flask" && got.Get("known") == "1" && got.Get("category") == "web-framework") != (tool == "flask") {
			t.Errorf("%s: %s", tool, text(body))
		}
	}
}

// TestUnread: a site that cannot be read still leads to a form that can be accepted.
func TestUnread(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	status, body := o.send("/evals/measure", "address", "https://unreadable.example", "do", "read")
	for _, want := range []string{"Your site was not read", "No public address was found", "Read the site again", "choose the category of your tool"} {
		if status != http.StatusOK || !strings.Contains(text(body), want) {
			t.Errorf("%q: %d %s", want, status, text(body))
		}
	}
	form := proposal(t, body)
	if form.Get("domains") != "quill.example" || form.Get("category") != "" || strings.Contains(body, "value=\"save\"") {
		t.Errorf("%v", form)
	}
	for _, step := range []struct{ do, want string }{{"check", "Build a small web API"}, {"save", "Eval"}} {
		form.Set("form_token", o.formToken())
		form.Set("category", "web")
		form.Set("name", "Quill")
		form.Set("do", step.do)
		if status, body = o.post(o.at("/evals/measure"), form); status != http.StatusOK || !strings.Contains(body, step.want) {
			t.Fatalf("%s: %d %s", step.do, status, text(body))
		}
		if step.do == "check" {
			form = proposal(t, body)
		}
	}
	o.stored("accepted", 1, 1, 0, 0)
}

// TestRehearsal: a run without a model is a rehearsal, and says so on its button.
func TestRehearsal(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	_, body := o.send("/evals/measure", "address", "quill.example", "do", "read")
	if !strings.Contains(body, `value="rehearse" class="quiet small">Run a rehearsal`) || !strings.Contains(body, `value="run">Accept and run`) {
		t.Errorf("without a model: %s", text(body))
	}
	form := proposal(t, body)
	send := func(do, agent string) (int, string) {
		form.Set("form_token", o.formToken())
		form.Set("do", do)
		form.Del("agent")
		if agent != "" {
			form.Set("agent", agent)
		}
		return o.post(o.at("/evals/measure"), form)
	}
	for _, c := range []struct{ do, agent, want string }{{"run", "", "No model is chosen"}, {"rehearse", "anthropic", "not a rehearsal"}, {"run", "anthropic", "The key of Anthropic is missing"}} {
		status, body := send(c.do, c.agent)
		if c.do == "run" { // the field is marked, has the error beside it and the focus, and the summary leads to it
			field := map[string]string{"": "agent-", "anthropic": "key-ANTHROPIC_API_KEY"}[c.agent]
			if !regexp.MustCompile(`<input[^>]* id="`+field+`[^>]* aria-describedby="problem-field" autofocus>`).MatchString(body) || !strings.Contains(body, `id="problem-field"`) || !strings.Contains(body, `<a href="#`+field) {
				t.Errorf("the field %s is not marked: %s", field, body)
			}
		}
		if status != http.StatusUnprocessableEntity || !strings.Contains(text(body), c.want) || strings.Contains(body, "Run a rehearsal</button>") != (c.agent == "") {
			t.Errorf("%s: %d %s", c.want, status, text(body))
		}
	}
	o.stored("refused", 0, 0, 0, 0)
	if status, body := send("rehearse", ""); status != http.StatusOK || !strings.Contains(text(body), "Queued") {
		t.Errorf("rehearsed: %d %s", status, text(body))
	}
	o.stored("rehearsed", 1, 1, 0, 1)
}

// TestMeasuredAgain: an eval that simulated agents answered is asked of a model with its prompts and
// repeats, as a new version of it, and no site is read.
func TestMeasuredAgain(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	_, body := o.send("/evals/measure", "address", "quill.example", "do", "read")
	form := proposal(t, body)
	form.Set("form_token", o.formToken())
	form.Set("do", "save")
	o.post(o.at("/evals/measure"), form) // Quill is in the catalogue, and followed
	const mine = "name: mine\ncategory: web\nrepeats: 3\nagents:\n  - {name: rehearsal, kind: simulated, truth: {flask: 1}}\nprompts:\n  - {id: notes, text: Build an editor for notes.}\n"
	e := o.put(mine)
	_, body = o.get(o.at("/evals/measure?eval=" + e.ID))
	form = proposal(t, body)
	if got := form.Get("eval") + "|" + form.Get("slug") + "|" + form.Get("category") + "|" + form.Get("repeats") + "|" + strings.Join(form["prompt"], "|"); got != "mine|quill|web|3|Build an editor for notes." {
		t.Errorf("the form: %s", got)
	}
	page := text(body)
	if !strings.Contains(page, "Measure Quill with a real model") || !strings.Contains(page, "of your eval mine stay") || strings.Contains(page, "not read") || strings.Contains(page, "This is the proposal") {
		t.Errorf("the page: %s", page)
	}
	form.Set("form_token", o.formToken())
	form.Set("agent", "anthropic")
	form.Set("do", "save")
	o.post(o.at("/evals/measure"), form)
	o.stored("a new version", 1, 2, 0, 0)
	if again, err := s.Evals.Eval(t.Context(), o.actor(), e.ID); err != nil || again.Version != 2 || again.Name != "mine" || !strings.Contains(again.Source, "kind: anthropic") || !strings.Contains(again.Source, "Build an editor for notes.") {
		t.Errorf("the eval: %+v %v", again, err)
	}
	// An eval of another category has no own tool: it is changed as text.
	other := o.put(strings.Replace(strings.Replace(mine, "name: mine", "name: other", 1), "category: web", "category: payments", 1))
	if _, body := o.get(o.at("/evals/measure?eval=" + other.ID)); !strings.Contains(text(body), "Change other") || !strings.Contains(body, `id="real"`) {
		t.Errorf("without the own tool: %s", text(body))
	}
	if status, _ := o.get(o.at("/evals/measure?eval=eval_none")); status != http.StatusNotFound {
		t.Errorf("an unknown eval: %d", status)
	}
}

// TestOwnResult: the pages of results say how the tool does that the workspace follows.
func TestOwnResult(t *testing.T) {
	s := newService(t)
	o := newOwner(t, s, "acme", "paid")
	_, before, now, _ := o.fill()
	if _, body := o.get(o.at("/runs/" + now.ID)); strings.Contains(body, "is picked in") {
		t.Error("a result has a tool that nobody follows")
	}
	vera := newOwner(t, s, "vera", "paid")
	s.Join(t, o.w, vera.w.OwnerID, identity.Viewer)
	if _, body := o.get(o.at("/runs/" + now.ID)); !strings.Contains(body, "Which of these tools is yours?") || !strings.Contains(body, `<option value="birch">`) {
		t.Error("the page of a run does not ask for the own tool")
	}
	if _, body := vera.get(o.at("/runs/" + now.ID)); strings.Contains(body, "Which of these tools is yours?") {
		t.Error("a viewer is asked for the own tool")
	}
	_, chosen := o.send("/settings/tool", "tool", "acorn", "from", "runs/"+now.ID)
	if !strings.Contains(text(chosen), "Acorn Pay is picked in") || strings.Contains(chosen, "Which of these tools is yours?") {
		t.Errorf("chosen on the page of a run: %s", text(chosen))
	}
	if w, err := s.Agents.DB.Read().PickWatch(t.Context(), o.w.ID); err != nil || w.DigestOff {
		t.Errorf("the weekly mail is off: %+v, %v", w, err)
	}
	o.send("/settings/tool", "tool", "", "digest", "1")
	follow := func(tool string) {
		if err := s.Agents.DB.Write(t.Context(), func(tx *state.Tx) error {
			return s.Evals.Follow(t.Context(), tx, s.Clock.Now(), o.w.ID, o.w.OwnerID, tool)
		}); err != nil {
			t.Fatal(err)
		}
	}
	follow("birch")
	follow("acorn") // it follows one already
	_, body := o.get(o.at("/runs/" + now.ID))
	for _, want := range []string{"Birch is picked in", "95% interval", "Acorn Pay leads with", "Reasons", "Schedule it", "Shortlist: picked or named as a viable option."} {
		if !strings.Contains(text(body), want) {
			t.Errorf("%q is missing in %s", want, text(body))
		}
	}
	if !strings.Contains(body, `<tr id="birch" class="lead">`) || strings.Count(body, `" class="lead">`) != 1 || strings.Count(body, `<tr class="lead">`) != 1 {
		t.Error("the row of the own tool does not stand out")
	}
	if _, body := o.get(o.at("/runs/" + now.ID + "/compare?with=" + before.ID)); !regexp.MustCompile(`Birch changed by \S+ points\. Alone: .* points, p . 0\.\d+, (not )?significant.*With all \d picked tools at once, as in the table: .*significant`).MatchString(text(body)) {
		t.Errorf("how its change is tested: %s", text(body))
	}
	if _, body := o.get(o.at("/runs")); !regexp.MustCompile(`<span class="sub line">Your tool: <bdi>Birch [\d.]+%, rank \d`).MatchString(body) {
		t.Errorf("the list: %s", text(body))
	}
}
