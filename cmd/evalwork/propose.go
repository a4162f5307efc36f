package evalwork

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/firstpick/firstpick/fixtures/catalog"
	"github.com/firstpick/firstpick/runner/propose"
	"github.com/firstpick/firstpick/server/evals/evals"
	"github.com/firstpick/firstpick/server/kit/apierr"
	"github.com/firstpick/firstpick/server/kit/safehttp"
)

// proposeTimeout bounds the reading of a site while a page waits for it.
const proposeTimeout = 20 * time.Second

// Propose implements evals.Proposer.
func (c *Checker) Propose(ctx context.Context, own []byte, address, category string) (*evals.Product, error) {
	cat, err := overlay(c.Catalog, own)
	if err != nil {
		return nil, err
	}
	home, err := propose.Home(address)
	if err != nil {
		return nil, apierr.InvalidRequest("The site cannot be read: " + err.Error() + ".")
	}
	docs, err := c.Sites.Read(ctx, home.String(), proposeTimeout)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	reason := ""
	if err != nil {
		reason = unread(home, err)
		docs = []propose.Document{{Name: home.String(), Web: true, ContentType: "text/html"}} // its name and domain
	}
	found := propose.NewReader(cat, propose.BuiltIn).Find(docs, category)
	out := &evals.Product{
		Name: found.Name, Slug: found.Slug, Aliases: found.Aliases, Domains: found.Domains, Packages: catalog.PackageNames(found.Packages), Known: found.Known != "",
		Category: found.Category, Named: found.Named, Read: found.Read, Repeats: defaultRepeats,
	}
	if reason != "" {
		out.Read, out.Unread = nil, reason
	}
	for _, candidate := range found.Candidates {
		out.Nearest = append(out.Nearest, candidate.Category)
	}
	if k, ok := cat.Category(found.Category); ok {
		out.Rivals = toolNames(k, found.Rivals)
	}
	return out, nil
}

// unread returns why a site could not be read. The texts reveal nothing of the server's
// network: a name that leads to a private address has the text of a name that does not exist.
func unread(home *url.URL, err error) string {
	var outer *url.Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	host := home.Hostname()
	switch {
	case errors.Is(err, safehttp.ErrPort):
		return "The port is not one at which sites are read. Use an address with https."
	case errors.Is(err, safehttp.ErrPrivate) && local(host):
		return host + " is a private or local address. This server reads sites on the public internet only."
	case errors.Is(err, safehttp.ErrPrivate), errors.As(err, &name):
		return "No public address was found for the name " + host + ". Check the spelling."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &outer) && outer.Timeout():
		return "The site does not answer in time. Try again, or name another page of it."
	case errors.As(err, &certificate): // of a public address that answered
		return "The certificate of the site is not valid."
	case outer != nil:
		return "No connection to " + host + ": nothing answers there, or it is not a web server."
	}
	return "The site cannot be read: " + err.Error() + "."
}

// local reports whether a host is an address or a name that is never public, whatever the
// server's network is.
func local(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return !strings.Contains(host, ".") || slices.ContainsFunc([]string{".localhost", ".local", ".internal", ".home.arpa"}, func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}

func toolNames(c *catalog.Category, slugs []string) (names []string) {
	for _, slug := range slugs {
		if e, ok := c.Entry(slug); ok {
			names = append(names, e.Tool.Name)
		}
	}
	return names
}
