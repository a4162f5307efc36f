package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/firstpick/firstpick/runner/propose"
	"github.com/firstpick/firstpick/server/kit/safehttp"
)

const (
	siteTimeout = 40 * time.Second // of all pages of a site
	pageTimeout = 10 * time.Second
)

// readSite reads a product's site. Private addresses are refused unless call-private is set.
func (o *fromOptions) readSite(ctx context.Context, address string) ([]propose.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, siteTimeout)
	defer cancel()
	client := safehttp.NewClient(safehttp.Limits{
		Timeout: pageTimeout, Private: o.cfg.CallPrivate, Ports: safehttp.WebPorts(o.cfg.CallPorts),
	})
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > 4 || !propose.SameSite(req.URL, via[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	docs, err := propose.Site(ctx, address, func(ctx context.Context, address string) (propose.Page, error) {
		return fetchPage(ctx, client, o.env.Build.UserAgent(), address)
	})
	if err != nil {
		return nil, usageErr("a folder works without a network: --from DIR", "--from: %w", err)
	}
	return docs, nil
}

// fetchPage gets a page. A redirect that the client does not follow is a page without a body
// at the address that it names.
func fetchPage(ctx context.Context, client *http.Client, agent, address string) (page propose.Page, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return page, err
	}
	req.Header.Set("User-Agent", agent)
	req.Header.Set("Accept", "text/html, text/markdown, text/plain")
	res, err := client.Do(req)
	if err != nil {
		return page, err
	}
	defer func() { _ = res.Body.Close() }()
	if to, err := res.Location(); err == nil {
		return propose.Page{URL: to.String()}, nil
	}
	if res.StatusCode != http.StatusOK {
		return page, fmt.Errorf("GET %s: status %d", (&url.URL{Scheme: req.URL.Scheme, Host: req.URL.Host, Path: req.URL.Path}).String(), res.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, propose.MaxPageBytes))
	return propose.Page{URL: res.Request.URL.String(), ContentType: res.Header.Get("Content-Type"), Body: body}, err
}
