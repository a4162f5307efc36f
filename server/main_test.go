package server_test

import (
	"testing"

	"github.com/firstpick/firstpick/server/state/statetest"
)

func TestMain(m *testing.M) { statetest.Main(m) }
