package dashboard

import (
	"testing"

	"github.com/firstpick/firstpick/server/channel/agentid"
)

// Every class is told either in the headline or as noise, or is that of people.
func TestEveryClassHasItsTerm(t *testing.T) {
	for _, c := range agentid.Classes() {
		person := c == agentid.Browser || c == agentid.None
		if known(classes(), string(c)) != c.Headline() || known(others(), string(c)) == (c.Headline() || person) {
			t.Errorf("%s is in the wrong list", c)
		}
	}
}
