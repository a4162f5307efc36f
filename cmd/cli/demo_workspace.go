package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"time"

	assembly "github.com/firstpick/firstpick/server/app"
	"github.com/firstpick/firstpick/server/channel/agentid"
	"github.com/firstpick/firstpick/server/channel/change"
	"github.com/firstpick/firstpick/server/channel/collect"
	"github.com/firstpick/firstpick/server/channel/event"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// sampleSite is below .example, a domain that cannot exist (RFC 2606): the pages of such a
// workspace say that its data are made up.
const sampleSite = "https://shop.example"

// sampleNewAgent first visits newAgentDays before today, and an alert reports it.
const (
	sampleNewAgent = "meta-externalagent"
	newAgentDays   = 2
)

const sampleName = "Sample shop (made-up data)"

// sampleDays is how many days of made-up events the sample workspace has: two windows of a
// month, of which the second is compared with the first.
const sampleDays = 63

// A sampleAgent visits the sample site a few times a day, from an address that its operator
// lists where ip is one.
type sampleAgent struct {
	userAgent, ip string
	visits        int
	days          int // it visits on the last days only; 0 for all
}

func sampleAgents() []sampleAgent {
	const browser = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; "
	return []sampleAgent{
		{browser + "GPTBot/1.2; +https://openai.com/gptbot", "4.227.36.1", 5, 0},
		{browser + "ChatGPT-User/1.0; +https://openai.com/bot", "104.210.139.193", 9, 0},
		{browser + "OAI-SearchBot/1.0; +https://openai.com/searchbot", "", 4, 0},
		{browser + "ClaudeBot/1.0; +claudebot@anthropic.com)", "34.162.27.34", 6, 0},
		{browser + "PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)", "", 3, 0},
		{browser + "Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)", "", 2, 0},
		{browser + "Amazonbot/0.1; +https://developer.amazon.com/support/amazonbot)", "", 2, 0},
		{sampleNewAgent + "/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)", "", 2, newAgentDays},
		{"Claude-User (claude-code/2.1.197; +https://support.anthropic.com/)", "", 7, 0},
		{"curl/8.14.1", "", 2, 0}, // a program: noise
		{browser + "GPTBot/1.2; +https://openai.com/gptbot", "198.51.100.7", 1, 0}, // spoofed: not an address of OpenAI
	}
}

// sampleNoise are visits that no headline counts, one of each a day: scanners, link previews, a
// monitor, and spoofed agents.
func sampleNoise() []sampleExcluded {
	const browser = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; "
	return []sampleExcluded{
		{"python-requests/2.32.3", "203.0.113.40", samplePage{"/.env", 404}},
		{"Mozilla/5.0 (compatible)", "203.0.113.41", samplePage{"/wp-login.php", 404}},
		{"TelegramBot (like TwitterBot)", "", samplePage{"/pricing", 200}},
		{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "", samplePage{"/blog/launch", 200}},
		{"Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)", "", samplePage{"/", 200}},
		{browser + "ChatGPT-User/1.0; +https://openai.com/bot", "198.51.100.23", samplePage{"/docs/api/payments", 200}},
		{browser + "PerplexityBot/1.0; +https://perplexity.ai/perplexitybot)", "198.51.100.24", samplePage{"/pricing", 200}},
	}
}

// A sampleExcluded is a visit of the noise.
type sampleExcluded struct {
	userAgent, ip string
	page          samplePage
}

// sampleSpoofed holds the addresses of spoofed agents: documentation has them, and no operator.
func sampleSpoofed() netip.Prefix { return netip.MustParsePrefix("198.51.100.0/24") }

// identifySample makes the spoofed visits of the sample spoofed where the lists of addresses are too
// old to refute a name.
func identifySample(identify func(*event.Input, *event.Record)) func(*event.Input, *event.Record) {
	return func(in *event.Input, r *event.Record) {
		identify(in, r)
		if sampleSpoofed().Contains(in.IP) {
			r.Verdict, r.VerdictReason, r.VerdictListDate = string(agentid.IPMismatch), "", ""
		}
	}
}

// samplePages are what agents read, the most read first; pages of status 404 are the gaps.
func samplePages() []samplePage {
	return []samplePage{
		{"/docs/quickstart.md", 200}, {"/llms.txt", 200}, {"/pricing", 200}, {"/docs/webhooks", 200}, {"/docs/refunds.md", 404}, {"/docs/checkout", 200},
		{"/docs/subscriptions", 200}, {"/docs/sdk/python.md", 404}, {"/docs/api/payments", 200}, {"/compare/stripe", 200}, {"/docs/testing", 200}, {"/blog/launch", 200},
		{"/docs/api/v1/charges", 404}, {"/changelog", 200},
	}
}

type samplePage struct {
	path   string
	status int
}

// sampleReferrers are hosts of assistants; the first ones refer more people.
func sampleReferrers() []string {
	return []string{"chatgpt.com", "claude.ai", "perplexity.ai", "gemini.google.com", "copilot.microsoft.com"}
}

// pickFirst returns an index below n; the first ones are more frequent.
func pickFirst(random *rand.Rand, n int) int { return min(random.IntN(n), random.IntN(n)) }

// addSample gives the operator a workspace with made-up traffic and conversions.
func (a *app) addSample(ctx context.Context, srv *assembly.App) error {
	email, ok := identity.ParseEmail(a.cfg.AdminEmail)
	if !ok {
		return usageErr("", "admin-email: %q is not an e-mail address", a.cfg.AdminEmail)
	}
	w, token, err := srv.Agents.GiveWorkspace(ctx, email, state.Settings{Name: sampleName, Site: sampleSite, RetentionDays: state.DefaultRetention, Currency: "USD"})
	if err != nil {
		return err
	}
	if token != "" {
		if err := errors.Join(a.sendSample(ctx, srv, token), a.alertSample(ctx, srv, w), a.startSample(ctx, srv, w)); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(a.env.Stderr, "sample workspace, made-up data: %s/workspaces/%s\n", srv.Agents.BaseURL, w.Slug)
	return nil
}

// alertSample stores an alert, as the server would have sent it two days ago.
func (a *app) alertSample(ctx context.Context, srv *assembly.App, w *state.Workspace) error {
	at := a.env.Now().UTC().AddDate(0, 0, -newAgentDays)
	data := change.NewAgentData{Agent: sampleNewAgent, Class: string(agentid.TrainingCrawler), FirstSeen: at, Touches: 2}
	body, err := json.Marshal(map[string]any{"type": "new_agent", "timestamp": at.Format(time.RFC3339), "workspace": w.Slug, "data": data})
	if err != nil {
		return err
	}
	summary, _ := data.Describe()
	return srv.Evals.DB.Write(ctx, func(tx *state.Tx) error {
		_, err := tx.AddAlert(ctx, &state.Alert{ID: srv.Agents.Secrets.ID("alr_"), WorkspaceID: w.ID, What: "new_agent", At: at, Summary: summary, Body: body}, data.Agent, at)
		return err
	})
}

// sendSample stores the events as a site would send them.
func (a *app) sendSample(ctx context.Context, srv *assembly.App, token string) error {
	cfg := srv.Collect.Config
	cfg.Identify = identifySample(cfg.Identify)
	sender := collect.New(cfg)
	defer sender.Close()
	key, err := sender.Authenticate(ctx, token)
	if err != nil {
		return err
	}
	now := a.env.Now().UTC()
	events := sampleEvents(now, rand.New(rand.NewPCG(1, 2))) //nolint:gosec // made-up data, the same each time
	for len(events) > 0 {
		n := min(len(events), 500)
		body, err := json.Marshal(map[string]any{"events": events[:n]})
		if err != nil {
			return err
		}
		events = events[n:]
		batch, err := event.Read(bytes.NewReader(body), event.Options{Key: event.KindSecret, ReceivedAt: now, Backfill: true, Currency: "USD", Host: "shop.example"})
		if err != nil {
			return err
		}
		if len(batch.Refusals) > 0 {
			return fmt.Errorf("sample event %d: %v", batch.Refusals[0].Index, batch.Refusals[0])
		}
		if _, err := sender.Take(ctx, key, &batch, now); err != nil {
			return err
		}
	}
	return nil
}

// sampleEvents returns visits of agents, and people that assistants referred, of whom some
// sign up and pay. Traffic grows by half over the time.
func sampleEvents(now time.Time, random *rand.Rand) (out []map[string]any) {
	pages := samplePages()
	for day := range sampleDays {
		start := now.AddDate(0, 0, day-sampleDays)
		at := func() string {
			return start.Add(time.Duration(random.Int64N(int64(24 * time.Hour)))).Format(time.RFC3339)
		}
		for _, agent := range sampleAgents() {
			if agent.days > 0 && day < sampleDays-agent.days {
				continue
			}
			for range agent.visits*(2*sampleDays+2*day)/(3*sampleDays) + random.IntN(2) {
				page := pages[pickFirst(random, len(pages))]
				signals := map[string]any{"userAgent": agent.userAgent}
				if agent.ip != "" {
					signals["ip"] = agent.ip
				}
				out = append(out, map[string]any{"type": "touch", "ts": at(), "url": sampleSite + page.path, "status": page.status, "signals": signals})
			}
		}
		for i, n := range sampleNoise() {
			signals := map[string]any{"userAgent": n.userAgent}
			if n.ip != "" {
				signals["ip"] = n.ip
			}
			when := start.Add(time.Duration(i+1) * 3 * time.Hour).Format(time.RFC3339)
			out = append(out, map[string]any{"type": "touch", "ts": when, "url": sampleSite + n.page.path, "status": n.page.status, "signals": signals})
		}
		for person := range 3 + random.IntN(3+day/16) {
			visitor := fmt.Sprintf("visitor-%d-%d", day, person)
			landing := []string{"/pricing", "/docs/quickstart", "/compare/stripe", "/"}[pickFirst(random, 4)]
			signals := map[string]any{"userAgent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"}
			if random.IntN(4) > 0 { // an assistant referred the person
				source := sampleReferrers()[pickFirst(random, len(sampleReferrers()))]
				signals["referrer"] = "https://" + source + "/"
				if random.IntN(2) == 0 {
					landing += "?utm_source=" + source
				}
			}
			out = append(out, map[string]any{"type": "touch", "ts": at(), "visitorToken": visitor, "url": sampleSite + landing, "status": 200, "signals": signals})
			next := start.AddDate(0, 0, 1).Format(time.RFC3339)
			if random.IntN(3) == 0 {
				out = append(out, map[string]any{"type": "convert", "ts": next, "visitorToken": visitor, "kind": "signup"})
			}
			if random.IntN(6) == 0 {
				out = append(out, map[string]any{"type": "convert", "ts": next, "visitorToken": visitor, "kind": "paid", "value": []string{"49.00", "49.00", "199.00"}[random.IntN(3)], "currency": "USD", "orderId": "order-" + visitor})
			}
		}
	}
	return out
}
