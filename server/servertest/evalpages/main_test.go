// Package evalpages_test looks at the pages of a workspace's evals as its owner does:
// in a real browser, over HTTP, without script, by keyboard, and as somebody else.
package evalpages_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }
