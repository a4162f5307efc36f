// Package oidc_test signs people in at an OpenID provider: a browser with
// cookies, the server, and a provider that is strict, or lies where a test asks
// it to.
package oidc_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/store/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }
