package dashboard

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/kit/mail"
)

// recentRows is how many alerts and deliveries the settings show.
const recentRows = 10

type alertsData struct {
	Email      bool
	InLog      bool   // the server writes mails to its log
	To         string // address of the owner who gets the mail
	Webhooks   []webhookRow
	Recent     []alertRow
	Deliveries []deliveryRow
}

type webhookRow struct {
	ID, URL, State, Created string
	Slack                   bool
}

type alertRow struct{ When, Summary string }

type deliveryRow struct{ When, What, To, Result string }

const minute = "2 Jan 2006, 15:04"

// overviewAlerts is how many alerts the overview shows.
const overviewAlerts = 3

// recentAlerts returns the newest alerts of the window; none where visits are filtered, for
// alerts are about all of them.
func (v *visit) recentAlerts() (out []alertRow, err error) {
	if v.h.Alerts == nil || v.query.filtered() {
		return nil, nil
	}
	recent, err := v.h.Alerts.Recent(v.R.Context(), v.Workspace.ID, overviewAlerts)
	for _, a := range recent {
		if !a.At.Before(v.query.From) && a.At.Before(v.query.To) {
			out = append(out, alertRow{a.At.In(v.query.TZ).Format(minute), a.Summary})
		}
	}
	return out, err
}

// alerts returns the alert settings; nil if this server has no alerts.
func (v *visit) alerts() (*alertsData, error) {
	if v.h.Alerts == nil {
		return nil, nil
	}
	ctx, id := v.R.Context(), v.Workspace.ID
	channels, err := v.h.Alerts.Channels(ctx, id)
	if err != nil {
		return nil, err
	}
	d, names := &alertsData{InLog: mail.InLog(v.h.Agents.Outbox.Mailer)}, map[string]string{alert.EmailID: "mail"}
	for _, c := range channels {
		if c.ID == alert.EmailID {
			d.Email = c.State == "on"
			continue
		}
		names[c.ID] = c.URL
		d.Webhooks = append(d.Webhooks, webhookRow{c.ID, c.URL, c.State, c.CreatedAt.UTC().Format(dateOfKey), c.Format == alert.FormatSlack})
	}
	members, _, err := v.h.Agents.Members(ctx, v.Signed.Account, v.Workspace.Slug)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.AccountID == v.Workspace.OwnerID {
			d.To = m.Email
		}
	}
	recent, err := v.h.Alerts.Recent(ctx, id, recentRows)
	if err != nil {
		return nil, err
	}
	for _, a := range recent {
		d.Recent = append(d.Recent, alertRow{a.At.UTC().Format(minute), a.Summary})
	}
	deliveries, err := v.h.Alerts.Deliveries(ctx, id, recentRows)
	if err != nil {
		return nil, err
	}
	for i := range deliveries {
		to, known := names[deliveries[i].ChannelID]
		if !known {
			to = "a removed webhook"
		}
		d.Deliveries = append(d.Deliveries, deliveryRow{
			deliveries[i].CreatedAt.UTC().Format(minute), of(nil, deliveries[i].What).Name, to, result(&deliveries[i]),
		})
	}
	return d, nil
}

// result describes the result of a delivery.
func result(d *alert.Delivery) string {
	text := d.State
	if d.Status != 0 {
		text += ", " + strconv.Itoa(d.Status)
	}
	if d.Took > 0 {
		text += " in " + d.Took.Round(time.Millisecond).String()
	}
	if d.Failure != "" {
		text += ": " + d.Failure
	}
	return text
}

func (h *Handler) setEmail(v *visit) error {
	on := v.R.PostFormValue("on") != ""
	if err := h.Alerts.SetEmail(v.R.Context(), v.Workspace.ID, v.Signed.Account.ID, on); err != nil {
		return v.wrong("alerts", err)
	}
	if on {
		return v.back("mail-on")
	}
	return v.back("mail-off")
}

// addWebhook adds a webhook, and shows its secret.
func (h *Handler) addWebhook(v *visit) error {
	c, secret, err := h.Alerts.AddWebhook(v.R.Context(), v.Workspace.ID, v.Signed.Account.ID, v.R.PostFormValue("url"), v.R.PostFormValue("format"))
	if err != nil {
		return v.wrong("webhooks", err)
	}
	return v.show("workspace-webhook", "Your new webhook", secretData{Page: v.page("Settings"), Label: c.URL, Secret: secret})
}

func (h *Handler) rotateWebhook(v *visit) error {
	secret, err := h.Alerts.Rotate(v.R.Context(), v.Workspace.ID, v.Signed.Account.ID, v.R.PostFormValue("channel"))
	if err != nil {
		return v.wrong("webhooks", err)
	}
	return v.show("workspace-webhook", "A new secret", secretData{Page: v.page("Settings"), Secret: secret})
}

func (h *Handler) removeWebhook(v *visit) error {
	if err := h.Alerts.RemoveChannel(v.R.Context(), v.Workspace.ID, v.Signed.Account.ID, v.R.PostFormValue("channel")); err != nil {
		return v.wrong("webhooks", err)
	}
	return v.back("removed")
}

type testedData struct {
	Page         page
	OK           bool
	Text, Result string
	Body         string
}

// test sends a test, and shows its result.
func (h *Handler) test(v *visit) error {
	sent, err := h.Alerts.Test(v.R.Context(), v.Workspace.ID, v.R.PostFormValue("channel"))
	if err != nil {
		return v.wrong("webhooks", err)
	}
	d := testedData{Page: v.page("Settings"), OK: sent.Failure == "", Result: result(&sent), Text: "The test failed."}
	if d.OK {
		d.Text = "The test was delivered."
	}
	if body, err := json.MarshalIndent(json.RawMessage(sent.Body), "", "  "); err == nil {
		d.Body = string(body)
	}
	return v.show("workspace-tested", "A test", d)
}
