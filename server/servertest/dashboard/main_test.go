// Package dashboard_test looks at the pages of a workspace as its owner does, in a
// real browser and over HTTP, with 100,000 events such as a real site has.
package dashboard_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }
