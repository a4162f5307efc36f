package trialset_test

import (
	"strings"
	"testing"

	"github.com/firstpick/firstpick/publish/trialset"
)

func TestFolderNamesItsEval(t *testing.T) {
	for _, eval := range []string{"web", "team/web:v1", "a/b/c", "a:b:c", "web-1.2_3"} {
		folder := trialset.Folder("orm", eval)
		category, got, ok := trialset.ParseFolder(folder)
		if !ok || category != "orm" || got != eval || strings.Count(folder, "/") != 2 || strings.Contains(folder, ":") {
			t.Errorf("%s: %s is of %s %s %t", eval, folder, category, got, ok)
		}
	}
	for _, other := range []string{"", "trials", "trials/orm", "trials/orm/team/web", "boards/orm/web", "trials//web", "trials/orm/"} {
		if _, _, ok := trialset.ParseFolder(other); ok {
			t.Errorf("%q is a folder of trials", other)
		}
	}
}
