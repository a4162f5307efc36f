package trust

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	fetchTime = 5 * time.Second
	maxJWKS   = 256 << 10 // bytes of a key set
	minFresh  = 10 * time.Minute
	maxFresh  = 24 * time.Hour
)

var (
	errURL    = errors.New("the address of the key set must be https with a host and without user info")
	errStatus = errors.New("the key set was not answered with 200")
	errLarge  = errors.New("the key set is too large")
)

// jwksURL returns where the issuer's keys are.
func jwksURL(issuer Issuer) (string, error) {
	at := issuer.JWKSURI
	if at == "" {
		at = strings.TrimSuffix(issuer.ISS, "/") + "/.well-known/jwks.json"
	}
	u, err := url.Parse(at)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return "", errURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !issuer.AllowPrivate) {
		return "", errURL
	}
	return at, nil
}

// fetch gets the issuer's key set and how long it stays fresh.
func (k *Keys) fetch(ctx context.Context, issuer Issuer) (map[string][]jwk, time.Duration, error) {
	at, err := jwksURL(issuer)
	if err != nil {
		return nil, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, 0, errURL
	}
	req.Header.Set("Accept", "application/jwk-set+json, application/json")
	client := k.guarded
	if issuer.AllowPrivate {
		client = k.open
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, 0, fmt.Errorf("fetch key set: %w", err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return nil, 0, errStatus
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxJWKS+1))
	if err != nil {
		return nil, 0, fmt.Errorf("read key set: %w", err)
	}
	if len(body) > maxJWKS {
		return nil, 0, errLarge
	}
	keys, err := parseJWKS(body)
	return keys, freshness(res.Header.Values("Cache-Control")), err
}

// freshness returns max-age of Cache-Control (RFC 9111, 5.2.2.1) within 10 min
// and 24 h.
func freshness(values []string) time.Duration {
	fresh := minFresh
	for directive := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch lower(name) {
		case "no-store", "no-cache":
			return minFresh
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil {
				fresh = time.Duration(seconds) * time.Second
			}
		}
	}
	return min(max(fresh, minFresh), maxFresh)
}
