package state

import (
	"context"
	"errors"

	"github.com/firstpick/firstpick/server/kit/apierr"
)

// APIError turns the error of a transaction into one for the caller of the API: an
// *apierr.Error as it is, and all others by whether the caller, the store or we failed.
func (db *DB) APIError(err error) error {
	var known *apierr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case errors.Is(err, context.Canceled):
		return apierr.Gone(err)
	case db.IsDown(err):
		return apierr.StoreDown(err)
	default:
		return apierr.Internal(err)
	}
}
