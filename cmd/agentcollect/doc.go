// Package agentcollect reports to a firstpick service which agents read a site
// written in Go, and which of the visits they sent led to a conversion.
//
//	c := agentcollect.New(agentcollect.Config{URL: "https://firstpick.example", Key: os.Getenv("FIRSTPICK_KEY")})
//	defer c.Close(context.Background())
//	http.ListenAndServe(addr, c.Wrap(mux))
//
// A request is answered as it would be without: what is to be reported goes into
// a bounded queue after the answer, and one goroutine sends it. When the service
// is away, slow or full, the site does not notice; events wait, the oldest are
// dropped when 5,000 do, and a batch that is sent again carries the same ids, so
// that nothing counts twice.
//
// Page views of people are not sent (see [Visit.MayBeAgent]). Of what is sent,
// query strings are left out but for link tags, and the service keeps no address
// whole. Without a key a Collector does nothing at all.
//
// The package is a module of its own and imports the standard library only.
package agentcollect
