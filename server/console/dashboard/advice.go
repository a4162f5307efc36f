package dashboard

import "github.com/firstpick/firstpick/server/channel/traffic"

// An advice suggests how to make more visits verifiable.
type advice struct {
	NoIP  count                  // visits that came without the client's address
	Lists *traffic.IdentityLists // nil while they are fresh
}

func newAdvice(verdicts []legend, lists *traffic.IdentityLists) advice {
	var a advice
	for _, l := range verdicts {
		if l.Key == "v-noip" {
			a.NoIP = l.Total
		}
	}
	if lists != nil && lists.Old > 0 {
		a.Lists = lists
	}
	return a
}
