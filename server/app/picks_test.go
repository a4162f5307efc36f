package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"image/png"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"
	"time"

	"github.com/firstpick/firstpick/analytics"
	"github.com/firstpick/firstpick/analytics/nights"
	"github.com/firstpick/firstpick/server"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/picks"
	"github.com/firstpick/firstpick/server/channel/reporter"
)

// A drop reaches a receiver, Slack and, over SMTP, the owner; on Monday the digest follows,
// with a picture that has a description, and with the visits of the week.
func TestFromMeasurementsToMail(t *testing.T) {
	b := newAlertBench(t)
	if _, _, err := b.alerts.AddWebhook(t.Context(), b.workspace.ID, b.workspace.OwnerID, b.hooks.URL+"/slack", alert.FormatSlack); err != nil {
		t.Fatal(err)
	}
	if err := b.alerts.FollowTool(t.Context(), b.workspace.ID, b.workspace.OwnerID, "acme", true); err != nil {
		t.Fatal(err)
	}
	var m *picks.Measured
	a := &App{Services: server.Services{Reports: reporter.New(reporter.Config{DB: b.loader.DB, Now: func() time.Time { return b.now }})}}
	a.addPicks(b.alerts, func(context.Context, string, string) (*picks.Measured, error) { return m, nil })
	look := func() {
		t.Helper()
		b.wait(time.Hour)
		if err := b.alerts.LookAtPicks(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.wait(0)
	}
	night := func(rate float64, shown ...nights.Shown) {
		at := b.now
		m = &picks.Measured{Source: picks.Public, Slug: "acme", URL: "https://firstpick.example/tools/acme", Nights: append(nightsOf(m), nights.Line{At: at, Tools: []nights.Tool{{Slug: "acme", PickRate: rate, Shown: shown}}})}
		m.Board = analytics.Board{Category: "mail", Name: "Mail APIs", Field: 2, AsOf: &at, Tools: []analytics.Standing{
			{Rank: 1, Slug: "rival", Tool: "Rival & Söhne", PickRate: 0.5}, {Rank: 2, Slug: "acme", Tool: "Acme", PickRate: rate, CILow: rate - 0.05, CIHigh: rate + 0.05},
		}}
	}
	night(0.6)
	look()
	b.visit("GPTBot", "/docs", 200, "")
	b.visit("GPTBot", "/docs/2", 200, "")
	if mails := b.mails.take(); len(mails) != 0 {
		t.Fatalf("%+v", mails)
	}
	night(0.4, nights.Shown{Agent: nights.AllAgents, Direction: nights.Drop, E: 530, Since: b.now})
	look()
	look()
	mails := b.mails.take()
	if len(mails) != 1 || mails[0].to != "dana@example.com" || !strings.Contains(mails[0].subject, "Pick rate of Acme dropped: 40%, and 60% before.") || !strings.Contains(mails[0].text, "95% interval 35% to 45%.") {
		t.Errorf("%+v", mails)
	}
	var types, texts []string
	for _, h := range b.hooks.take() {
		var body struct{ Type, Text string }
		if err := json.Unmarshal(h.body, &body); err != nil {
			t.Fatal(err)
		}
		types, texts = append(types, body.Type), append(texts, body.Text)
	}
	if got := strings.Trim(strings.Join(types, " "), " "); got != "pick_rate_drop" || !strings.Contains(strings.Join(texts, ""), "[calm-otter-1] Pick rate of Acme dropped: 40%") {
		t.Errorf("%q %q", types, texts)
	}
	for b.now.Before(time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)) {
		look()
	}
	mails = b.mails.take()
	for len(mails) > 0 && !strings.Contains(mails[0].subject, "This week") { // silence: nobody sends events here
		mails = mails[1:]
	}
	if len(mails) != 1 {
		t.Fatalf("%d digests", len(mails))
	}
	checkDigest(t, mails[0])
}

func nightsOf(m *picks.Measured) []nights.Line {
	if m == nil {
		return nil
	}
	return m.Nights
}

// checkDigest reads a mail as a mail program does.
func checkDigest(t *testing.T, m sentMail) {
	t.Helper()
	subject, err := new(mime.WordDecoder).DecodeHeader(m.subject)
	if err != nil || subject != "[calm-otter-1] This week: Acme picked in 40%" {
		t.Errorf("%q, %v", subject, err)
	}
	parts := map[string]string{}
	readParts(t, m.contentType, strings.NewReader(m.text), parts)
	for _, want := range []string{"rank 2 of 2.", "down 20 points", "A drop is shown since ", "Visits by agents in seven days: 2.", "No rival overtook Acme"} {
		if !strings.Contains(parts["text/plain"], want) {
			t.Errorf("%q is missing in\n%s", want, parts["text/plain"])
		}
	}
	if page := parts["text/html"]; !strings.Contains(page, `src="cid:pick-rates.png" alt="Pick rates in Mail APIs: Rival &amp; Söhne 50%, Acme 40%."`) {
		t.Errorf("%s", page)
	}
	if img, err := png.Decode(strings.NewReader(parts["image/png"])); err != nil || img.Bounds().Dx() != 1200 {
		t.Errorf("the picture: %v", err)
	}
}

// readParts reads the parts of a mail by their types.
func readParts(t *testing.T, contentType string, body io.Reader, into map[string]string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatalf("%q: %v", contentType, err)
	}
	if !strings.HasPrefix(kind, "multipart/") {
		var b bytes.Buffer
		if _, err := b.ReadFrom(body); err != nil {
			t.Fatal(err)
		}
		into[kind] = b.String()
		return
	}
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextPart()
		if err == io.EOF { //nolint:errorlint // as the package documents it
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var decoded io.Reader = p
		if p.Header.Get("Content-Transfer-Encoding") == "base64" {
			decoded = base64.NewDecoder(base64.StdEncoding, p)
		}
		readParts(t, p.Header.Get("Content-Type"), decoded, into)
	}
}
