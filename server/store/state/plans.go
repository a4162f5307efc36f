package state

import (
	"context"
	"errors"
)

// settingPlans is whether evals need the paid plan, "on" or "off", as the last server that
// started says.
const settingPlans = "plans"

// SetPlans stores whether evals need the paid plan, for workers in other processes.
func (db *DB) SetPlans(ctx context.Context, on bool) error {
	value := map[bool]string{true: "on", false: "off"}[on]
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec(ctx, "insert into setting (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value", settingPlans, []byte(value))
		return err
	})
}

// Plans reports whether evals need the paid plan; known is false where no server said so.
func (tx *Tx) Plans(ctx context.Context) (on, known bool, err error) {
	var value []byte
	err = tx.one(ctx, []any{&value}, "select value from setting where name = $1", settingPlans)
	if errors.Is(err, ErrNotFound) {
		return false, false, nil
	}
	return string(value) == "on", err == nil, err
}
