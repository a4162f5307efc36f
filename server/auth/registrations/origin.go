package registrations

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/firstpick/firstpick/fixtures/lazyregexp"
	"github.com/firstpick/firstpick/server/kit/apierr"
)

const maxOrigins = 20

// checkOrigins holds publishable keys to pages: anybody can read them there, so one that
// works everywhere would be no key. Origins are brought into the form in which browsers
// send them.
func (r *KeyRequest) checkOrigins() error {
	if r.Kind != "publishable" {
		if len(r.Origins) > 0 {
			return apierr.BadBody("invalid_origins", "origins belong to publishable keys only.")
		}
		return nil
	}
	if len(r.Origins) == 0 || len(r.Origins) > maxOrigins {
		return apierr.BadBody("invalid_origins", "A publishable key needs origins: 1 to 20 of the form https://example.com.")
	}
	var out []string
	for i, given := range r.Origins {
		origin, why := browserOrigin(given)
		if why != "" {
			return apierr.BadBody("invalid_origins", "origins["+strconv.Itoa(i)+"] "+why)
		}
		if !slices.Contains(out, origin) {
			out = append(out, origin)
		}
	}
	r.Origins = out
	return nil
}

// hostPattern matches host names as browsers normalize them; idna validates the rest.
var hostPattern = lazyregexp.MustCompile(`^[a-z0-9_-]+(\.[a-z0-9_-]+)*$`)

// browserOrigin returns an origin as browsers serialize it (WHATWG HTML, 7.1.1, and URL,
// 3.5): in lower case, in ASCII, without the scheme's own port and a trailing slash or
// dot. Otherwise it returns why the text names no origin, and which one may be meant.
func browserOrigin(given string) (origin, why string) {
	const form = "must be the origin of a page: a scheme and a host, such as https://example.com."
	if strings.Contains(given, "*") {
		return "", "must not contain a wildcard. A browser sends the whole host, such as https://app.example.com; list each."
	}
	u, err := url.Parse(given)
	if err != nil || !utf8.ValidString(given) || u.Scheme != "https" && u.Scheme != "http" {
		return "", form + " A browser sends https or http."
	}
	host, ok := browserHost(u.Hostname())
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if !ok || u.Port() != "" && err != nil || strings.HasSuffix(u.Host, ":") {
		return "", form + " A browser sends no such host or port."
	}
	origin = u.Scheme + "://" + host
	if standard := map[string]uint64{"https": 443, "http": 80}[u.Scheme]; u.Port() != "" && port != standard {
		origin += ":" + strconv.FormatUint(port, 10)
	}
	if u.User != nil || u.Path != "" && u.Path != "/" || strings.ContainsAny(given, "?#") {
		return "", form + " From pages at this address a browser sends " + origin + "."
	}
	return origin, ""
}

// browserHost returns a host as browsers write it, and whether it is one.
func browserHost(host string) (string, bool) {
	if strings.Contains(host, ":") {
		ip, err := netip.ParseAddr(host)
		return "[" + ip.String() + "]", err == nil && ip.Is6() && ip.Zone() == "" && !ip.Is4In6()
	}
	profile := idna.New(
		idna.ValidateLabels(true), idna.CheckHyphens(false), idna.CheckJoiners(true), idna.BidiRule(), idna.MapForLookup(), idna.VerifyDNSLength(true), idna.StrictDomainName(false),
	)
	host, err := profile.ToASCII(strings.TrimSuffix(host, "."))
	if err != nil || !hostPattern.MatchString(host) {
		return "", false
	}
	if last := host[strings.LastIndex(host, ".")+1:]; last[0] >= '0' && last[0] <= '9' { // browsers read it as an address
		ip, err := netip.ParseAddr(host)
		return host, err == nil && ip.String() == host
	}
	return host, true
}
