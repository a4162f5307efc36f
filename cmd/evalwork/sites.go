package evalwork

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

const pageTimeout = 10 * time.Second

// Sites reads the sites of products. The addresses come from others: private ones are refused
// unless Private is set.
type Sites struct {
	Private   bool
	Ports     []int // beside those of the web
	UserAgent string
}

// Read returns the pages of a site that describe its product, within a timeout for all.
func (s Sites) Read(ctx context.Context, address string, timeout time.Duration) ([]propose.Document, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := safehttp.NewClient(safehttp.Limits{Timeout: min(pageTimeout, timeout), Private: s.Private, Ports: safehttp.WebPorts(s.Ports)})
	client.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) > 4 || !propose.SameSite(req.URL, via[0].URL) {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return propose.Site(ctx, address, func(ctx context.Context, address string) (propose.Page, error) {
		return fetchPage(ctx, client, s.UserAgent, address)
	})
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
