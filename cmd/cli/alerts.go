package cli

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"time"

	"github.com/firstpick/firstpick/server/auth/registrations"
	"github.com/firstpick/firstpick/server/channel/alert"
	"github.com/firstpick/firstpick/server/channel/reporter"
	"github.com/firstpick/firstpick/server/channel/traffic"
	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/kit/secret"
)

// alertsEvery is how often it is asked which workspaces and webhooks are due.
const alertsEvery = 10 * time.Second

// alerts starts what tells owners of changes. Without reports it sends only: a
// server that has them looks.
func (a *app) alerts(beside *tasks, svc *registrations.Service, reports traffic.Reports) *alert.Service {
	s := a.alertService(svc, reports)
	beside.every(alertsEvery, s.Run)
	return s
}

func (a *app) alertService(svc *registrations.Service, reports traffic.Reports) *alert.Service {
	cfg := alert.Config{
		DB: svc.DB, Secrets: secret.Source{Rand: rand.Reader}, Log: a.log, Now: a.env.Now, BaseURL: svc.BaseURL,
		Mail: svc.Outbox.Put, Kick: svc.Outbox.Kick, Jitter: mathrand.Float64,
		HTTP:    safehttp.NewClient(safehttp.Limits{Timeout: alert.CallTimeout, Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts)}),
		Private: a.cfg.CallPrivate, Ports: safehttp.WebPorts(a.cfg.CallPorts),
	}
	if made, ok := reports.(*reporter.Service); ok {
		cfg.Traffic = made.DB.Recent
	}
	return alert.New(cfg)
}
