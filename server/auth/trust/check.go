package trust

import (
	"fmt"
	"net/url"
)

// Check validates the addresses and algorithms of an issuer, before it is trusted.
func (i *Issuer) Check() error {
	addresses := []string{i.ISS}
	if i.JWKSURI != "" {
		addresses = append(addresses, i.JWKSURI)
	}
	for _, alg := range i.Algs {
		if !Knows(alg) {
			return fmt.Errorf("issuer %q: %q is not an accepted algorithm; write ES256, ES384, RS256, PS256 or EdDSA", i.ISS, alg)
		}
	}
	for _, address := range addresses {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" || u.Fragment != "" || u.Scheme != "https" && (u.Scheme != "http" || !i.AllowPrivate) {
			return fmt.Errorf("issuer %q: %q is not an https address (http needs allow-private)", i.ISS, address)
		}
	}
	return nil
}
