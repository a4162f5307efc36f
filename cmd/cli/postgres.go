package cli

import (
	"errors"
	"strings"
)

// databaseErr adds the next step to an error with which a PostgreSQL server refuses a
// connection, and leaves out the other attempts to connect, such as those without TLS.
func databaseErr(err error) error {
	var refused interface {
		error
		SQLState() string
	}
	if !errors.As(err, &refused) {
		return err
	}
	hint := ""
	switch refused.SQLState() {
	case "28P01", "28000": // invalid password, invalid authorization
		hint = "put the password of this user into PGPASSWORD, or the whole URL, postgres://USER:PASSWORD@HOST/DATABASE, into FIRSTPICK_STATE or --queue"
	case "3D000": // no such database
		hint = "create it: createdb --owner USER DATABASE"
	default:
		return err
	}
	where, _, _ := strings.Cut(err.Error(), ": failed to connect")
	return usageErr(hint, "%s: %w", where, refused)
}
