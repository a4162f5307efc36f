package registrations

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firstpick/firstpick/fixtures/sorting"
	"github.com/firstpick/firstpick/server/auth/trust"
	"github.com/firstpick/firstpick/server/store/state"
)

// Issuers is the trust list: the issuers of the configuration and those that operators
// added. The configuration overrides an added issuer.
type Issuers struct {
	Configured []trust.Issuer
	DB         *state.DB
}

// List returns all trusted issuers, in order of their names.
func (i *Issuers) List(ctx context.Context) ([]trust.Issuer, error) { return i.list(ctx, i.DB.Read()) }

func (i *Issuers) list(ctx context.Context, tx *state.Tx) ([]trust.Issuer, error) {
	out := slices.Clone(i.Configured)
	rows, err := tx.Issuers(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if slices.ContainsFunc(out, func(t trust.Issuer) bool { return t.ISS == row.ISS }) {
			continue
		}
		var t trust.Issuer
		if err := json.Unmarshal([]byte(row.Entry), &t); err != nil {
			return nil, fmt.Errorf("issuer %s: %w", row.ISS, err)
		}
		out = append(out, t)
	}
	sorting.Func(out, func(a, b trust.Issuer) int { return strings.Compare(a.ISS, b.ISS) })
	return out, nil
}

// Find returns a trusted issuer by its exact name.
func (i *Issuers) Find(ctx context.Context, iss string) (trust.Issuer, bool, error) {
	list, err := i.List(ctx)
	if err != nil {
		return trust.Issuer{}, false, err
	}
	at := slices.IndexFunc(list, func(t trust.Issuer) bool { return t.ISS == iss })
	if at < 0 {
		return trust.Issuer{}, false, nil
	}
	return list[at], true, nil
}

// NameOf returns the display name of an issuer from the trust list, not from a token.
func (i *Issuers) NameOf(ctx context.Context, iss string) string {
	return i.nameIn(ctx, i.DB.Read(), iss)
}

// nameIn is NameOf in a transaction: it holds a connection, and must not wait for a second.
func (i *Issuers) nameIn(ctx context.Context, tx *state.Tx, iss string) string {
	list, err := i.list(ctx, tx)
	at := slices.IndexFunc(list, func(t trust.Issuer) bool { return t.ISS == iss })
	if err != nil || at < 0 || list[at].Name == "" {
		return iss
	}
	return list[at].Name
}
