package alert

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/firstpick/firstpick/server/kit/safehttp"
	"github.com/firstpick/firstpick/server/store/identity"
	"github.com/firstpick/firstpick/server/store/state"
)

// TestPortsOfWebhooks: a webhook has port 443, or one that the operator allows.
func TestPortsOfWebhooks(t *testing.T) {
	b := newBench(t, "sqlite")
	b.Ports = safehttp.WebPorts([]int{8443})
	for address, want := range map[string]string{
		"https://acme.dev/1": "", "https://acme.dev:443/2": "", "https://acme.dev:8443/3": "",
		"https://acme.dev:22/": "invalid_request/invalid_url", "https://acme.dev:5432/": "invalid_request/invalid_url", "https://acme.dev:65979/": "invalid_request/invalid_url",
	} {
		if _, _, err := b.AddWebhook(t.Context(), "w", "acc", address, FormatStandard); code(err) != want {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestWebhooksThatAreRefused(t *testing.T) {
	b := newBench(t, "sqlite")
	for _, address := range []string{
		"", "acme.dev/hook", "http://acme.dev/hook", "ftp://acme.dev", "https://", "https:///hook", "https:acme.dev", "https://user:pass@acme.dev/", "https://user@acme.dev/",
		"https://localhost/", "https://intranet/hook", "https://127.0.0.1/", "https://10.0.0.1:8443/", "https://[::1]/", "https://[fd00::1]/", "https://169.254.169.254/latest",
		"https://[::ffff:10.0.0.1]/", "https://0.0.0.0/", "https://acme.dev/" + strings.Repeat("x", maxURL), "https://acme.dev/%zz", "https://LOCALHOST./",
	} {
		if _, _, err := b.AddWebhook(t.Context(), "w", "acc", address, FormatStandard); code(err) != "invalid_request/invalid_url" {
			t.Errorf("%s: %v", address, err)
		}
	}
	for i := range maxWebhooks {
		c, secret, err := b.AddWebhook(t.Context(), "w", "acc", fmt.Sprintf(" https://acme.dev/%d?x=1#top ", i), FormatStandard)
		if err != nil {
			t.Fatal(err)
		}
		if c.State != "on" || c.URL != fmt.Sprintf("https://acme.dev/%d?x=1", i) || len(secret) != len(secretPrefix)+44 {
			t.Errorf("%+v %s", c, secret)
		}
	}
	if _, _, err := b.AddWebhook(t.Context(), "w", "acc", "https://acme.dev/0?x=1", FormatStandard); code(err) != "invalid_request/duplicate_url" {
		t.Error(err)
	}
	if _, _, err := b.AddWebhook(t.Context(), "w", "acc", "https://acme.dev/6", FormatStandard); code(err) != "invalid_request/too_many_webhooks" {
		t.Error(err)
	}
	if _, _, err := b.AddWebhook(t.Context(), "none", "acc", "https://acme.dev/6", FormatStandard); code(err) != "not_found/" {
		t.Error(err)
	}
}

func TestChannelsOfOthers(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		b.write(func(tx *state.Tx) error {
			_, err := tx.AddWorkspace(t.Context(), &state.Workspace{ID: "other", Slug: "other"})
			return err
		})
		id, _ := b.hookTo(b.receiver(nil))
		if _, err := b.Rotate(t.Context(), "other", "acc", id); code(err) != "not_found/" {
			t.Error(err)
		}
		if _, err := b.Test(t.Context(), "other", id); code(err) != "not_found/" {
			t.Error(err)
		}
		if err := b.RemoveChannel(t.Context(), "other", "acc", id); code(err) != "not_found/" {
			t.Error(err)
		}
		b.clock.add(time.Second)
		if err := b.RemoveChannel(t.Context(), "w", "acc", id); err != nil {
			t.Error(err)
		}
		if list, err := b.Channels(t.Context(), "w"); err != nil || len(list) != 1 || list[0].ID != EmailID || list[0].State != "on" {
			t.Errorf("%+v, %v", list, err)
		}
		log, err := b.DB.Read().AuditLog(t.Context(), state.AuditFilter{Limit: 10})
		if err != nil || len(log) != 2 || log[0].Event+log[1].Event != "alert.webhook_addedalert.webhook_removed" || log[0].WorkspaceID != "w" || log[0].Detail["channel"] != id {
			t.Errorf("%+v, %v", log, err)
		}
	})
}

// The address and the secret of a webhook stand nowhere in clear.
func TestSecretsOfWebhooks(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		rc := b.receiver(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
		_, secret := b.hookTo(rc)
		b.settle()
		b.find("GPTBot")
		b.send()
		rc.Close()
		b.clock.add(time.Hour)
		b.send()
		var backup bytes.Buffer
		if _, err := b.DB.Backup(t.Context(), &backup); err != nil {
			t.Fatal(err)
		}
		z, err := zstd.NewReader(&backup)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		plain := string(data)
		for _, s := range []string{secret, strings.TrimPrefix(secret, secretPrefix), "hush", rc.URL} {
			if strings.Contains(plain, s) || strings.Contains(b.log.String(), s) {
				t.Errorf("%s is in clear", s)
			}
		}
		if d := b.webhooks(); len(d) != 1 || d[0].Tries != 2 || !strings.Contains(d[0].Failure, "could not connect") || strings.Contains(d[0].Failure, "hush") {
			t.Errorf("%+v", d)
		}
	})
}

// TestAlertsAreForEditors: a member without the role, also one that had it, changes nothing.
func TestAlertsAreForEditors(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		c, _, err := b.AddWebhook(ctx, "w", "acc", "https://acme.dev/1", FormatStandard)
		if err != nil {
			t.Fatal(err)
		}
		role := func(r identity.Role) {
			b.write(func(tx *state.Tx) error { return tx.PutMember(ctx, "w", "kim", r, now) })
		}
		try := func(want string) {
			t.Helper()
			_, _, add := b.AddWebhook(ctx, "w", "kim", "https://acme.dev/2", FormatStandard)
			_, rotate := b.Rotate(ctx, "w", "kim", c.ID)
			for name, err := range map[string]error{
				"add": add, "rotate": rotate, "follow": b.FollowTool(ctx, "w", "kim", "acme", true), "mail": b.SetEmail(ctx, "w", "kim", false), "remove": b.RemoveChannel(ctx, "w", "kim", c.ID),
			} {
				if got := code(err); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		}
		try("not_found/")
		role(identity.Viewer)
		try("access_denied/")
		role(identity.Editor)
		try("")
	})
}
