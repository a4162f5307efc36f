package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firstpick/firstpick/cmd/agentauth"
)

const (
	proveAgent    = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"
	proveEvery    = time.Second
	proveMaxBytes = 1 << 20
)

// A proof is the result of one visit to the site.
type proof struct {
	Proven     bool   `json:"proven"`
	Site       string `json:"site"`
	SiteStatus int    `json:"siteStatus"`
	Service    string `json:"service"`
	Workspace  string `json:"workspace"`
	Claimed    bool   `json:"claimed"`
	// Events is how many came in since the visit; others may have come too.
	Events      int64  `json:"events"`
	LastEventAt string `json:"lastEventAt,omitempty"`
	// As is how the service classifies such a visit.
	As *proofRecord `json:"recordedAs,omitempty"`
	// Reasons are why nothing may have come, the likeliest first.
	Reasons []string `json:"reasons,omitempty"`
}

type proofRecord struct {
	Path    string `json:"path"`
	Agent   string `json:"agent"`
	Class   string `json:"class"`
	Verdict string `json:"verdict"`
}

// A collectorProbe is the answer of GET /api/collect.
type collectorProbe struct {
	Workspace   string  `json:"workspace"`
	Claimed     bool    `json:"claimed"`
	Kind        string  `json:"kind"`
	LastEventAt *string `json:"lastEventAt"`
	Total       int64   `json:"eventsTotal"`
}

// A prover asks the service and the site.
type prover struct {
	env       *Env
	http      *http.Client
	base, key string
}

func (o *setupOptions) prove(ctx context.Context, _ []string) error {
	target, err := url.Parse(o.site)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return usageErr("firstpick setup prove --site https://yoursite.example", "--site must be the URL of a page of the site (got %q)", o.site)
	}
	key := cmp.Or(o.key, o.env.Getenv("FIRSTPICK_KEY"))
	if key == "" {
		return usageErr("create one: firstpick agent register, then firstpick agent key --label NAME", "no collector key: give --key, or set FIRSTPICK_KEY")
	}
	o.cfg.Server = cmp.Or(o.cfg.Server, o.env.Getenv("FIRSTPICK_URL"))
	base, err := o.service()
	if err != nil {
		return err
	}
	p := &prover{env: o.env, base: base, key: key, http: &http.Client{
		Timeout: 15 * time.Second, Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true},
	}}
	out, err := p.run(ctx, target, o.timeout)
	if err != nil {
		return err
	}
	if o.json {
		err = printJSON(o.env, out)
	} else {
		err = out.print(o.env)
	}
	if err == nil && !out.Proven {
		err = &codedError{fmt.Errorf("the visit to %s did not arrive within %v", clean(out.Site), o.timeout), exitFailed, out.Reasons[0]}
	}
	return err
}

// run visits the site once, and waits until the service has one event more.
func (p *prover) run(ctx context.Context, target *url.URL, timeout time.Duration) (*proof, error) {
	before, err := p.probe(ctx)
	if err != nil {
		return nil, err
	}
	out := &proof{Site: target.String(), Service: p.base, Workspace: before.Workspace, Claimed: before.Claimed}
	head, err := p.visit(ctx, out)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(p.env.Stderr, "visited %s as GPTBot: %d; waiting for the event\n", clean(out.Site), out.SiteStatus)
	after := before
	for end := p.env.Now().Add(timeout); after.Total == before.Total && p.env.Now().Before(end); {
		if err := p.env.Sleep(ctx, proveEvery); err != nil {
			return nil, err
		}
		if after, err = p.probe(ctx); err != nil {
			return nil, err
		}
	}
	out.Events = after.Total - before.Total
	out.Proven = out.Events > 0
	if after.LastEventAt != nil {
		out.LastEventAt = *after.LastEventAt
	}
	if !out.Proven {
		out.Reasons = reasons(out, head, &after)
		return out, nil
	}
	out.As, err = p.classify(ctx, target)
	return out, err
}

// probe asks how the collecting goes.
func (p *prover) probe(ctx context.Context) (collectorProbe, error) {
	var out collectorProbe
	err := p.call(ctx, http.MethodGet, "/api/collect", nil, &out)
	return out, err
}

// classify asks the service to classify the visit without storing it.
func (p *prover) classify(ctx context.Context, target *url.URL) (*proofRecord, error) {
	body, err := json.Marshal(map[string]any{"events": []any{map[string]any{
		"type": "touch", "url": target.String(), "method": http.MethodGet, "signals": map[string]any{"userAgent": proveAgent},
	}}})
	if err != nil {
		return nil, err
	}
	var out struct{ Events []proofRecord }
	if err := p.call(ctx, http.MethodPost, "/api/collect?dryRun=1", body, &out); err != nil || len(out.Events) == 0 {
		return nil, err
	}
	return &out.Events[0], nil
}

// call sends a request to the collector and reads its answer.
func (p *prover) call(ctx context.Context, method, path string, body []byte, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, p.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+p.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.http.Do(req)
	if err != nil {
		return unreachable(err, "check that the service runs at "+p.base+", or set --server")
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, proveMaxBytes))
	if err != nil {
		return unreachable(err, "try again")
	}
	if resp.StatusCode/100 != 2 {
		return p.refused(resp, data)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return &codedError{fmt.Errorf("%s is not a collector endpoint", p.base), exitFailed, "check that --server is the root of the service"}
	}
	return nil
}

func (p *prover) refused(resp *http.Response, data []byte) error {
	var e struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	_ = json.Unmarshal(data, &e) // what is not ours has no words for us
	hint := "try again in a while"
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		hint = "create a key: firstpick agent key --label NAME; if the key is of another service, set --server"
	case resp.StatusCode == http.StatusNotFound:
		hint = "check that --server is the root of the service"
	case resp.Header.Get("Retry-After") != "":
		hint = "try again in " + clean(resp.Header.Get("Retry-After")) + " s"
	}
	return &codedError{fmt.Errorf("the service refused with %d %s: %s", resp.StatusCode, clean(e.Error), clean(e.Description)), exitFailed, hint}
}

// visit asks the site for the page as an agent does.
func (p *prover) visit(ctx context.Context, out *proof) (http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, out.Site, nil)
	if err != nil {
		return nil, badInput(err)
	}
	req.Header.Set("User-Agent", proveAgent)
	req.Header.Set("Accept", "text/html,*/*")
	resp, err := p.http.Do(req)
	if err != nil {
		return nil, unreachable(err, "check that the site is up, or choose another page with --site")
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, io.LimitReader(resp.Body, proveMaxBytes)); err != nil {
		return nil, unreachable(err, "the response was cut off; try another page")
	}
	out.SiteStatus = resp.StatusCode
	return resp.Header, nil
}

func unreachable(err error, hint string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return &codedError{errors.New(agentauth.Printable(err.Error(), 300)), exitFailed, hint}
}

// reasons returns the likely causes of a missing event.
func reasons(out *proof, head http.Header, last *collectorProbe) []string {
	var all []string
	switch out.SiteStatus {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		all = append(all, "the site answered "+strconv.Itoa(out.SiteStatus)+": a firewall, bot rule or login may block the request; allow agents, or try another page")
	}
	if cached(head) {
		all = append(all, "a cache answered, not your code: use a recipe at the CDN, such as cloudflare-worker or vercel, or purge the page and try again")
	}
	if last.Kind == "publishable" {
		all = append(all, "this key is a publishable one: servers need a secret key, drains a log key")
	}
	return append(all,
		"the site sends to another server than "+out.Service+": check FIRSTPICK_URL, the address in the files of setup print, and the outbound network",
		"FIRSTPICK_KEY is not in the environment of the running process, or is a key of another workspace than "+last.Workspace,
		"the version with the collector is not deployed yet, or was not restarted",
		"the middleware runs after the handler of the page: move it to the front",
		"a log is shipped, and its writer or shipper lags: try --timeout 2m",
	)
}

// cached reports whether the headers of an answer say that a cache gave it.
func cached(head http.Header) bool {
	for _, name := range []string{"X-Cache", "Cf-Cache-Status", "X-Vercel-Cache", "Cache-Status", "X-Cache-Status", "X-Proxy-Cache"} {
		if v := strings.ToLower(head.Get(name)); strings.Contains(v, "hit") || strings.Contains(v, "stale") {
			return true
		}
	}
	age, err := strconv.Atoi(head.Get("Age"))
	return err == nil && age > 0
}

func (out *proof) print(env *Env) error {
	var b strings.Builder
	line := func(name, value string) { fmt.Fprintf(&b, "%-12s %s\n", name, clean(value)) }
	line("proven", yes(out.Proven))
	line("site", out.Site+", "+strconv.Itoa(out.SiteStatus))
	line("workspace", out.Workspace)
	line("events", strconv.FormatInt(out.Events, 10)+" since the visit")
	if out.LastEventAt != "" {
		line("last event", out.LastEventAt)
	}
	if out.As != nil {
		line("recorded as", out.As.Agent+", "+out.As.Class+", "+out.As.Path)
	}
	for i, r := range out.Reasons {
		line(map[bool]string{true: "reasons"}[i == 0], r)
	}
	if _, err := io.WriteString(env.Stdout, b.String()); err != nil || !out.Proven {
		return err
	}
	next := "firstpick setup print conversions; and tags for links: " + out.Service + "/docs/attribution.md#tags"
	if !out.Claimed {
		next = "let a person claim the workspace: firstpick agent claim --email USER@EXAMPLE.COM"
	}
	_, err := fmt.Fprintln(env.Stderr, "next: "+next)
	return err
}
