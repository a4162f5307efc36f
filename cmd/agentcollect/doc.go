// Package agentcollect reports to a firstpick service which agents read a Go site
// and which of the visits they referred led to a conversion.
//
//	c := agentcollect.New(agentcollect.Config{URL: "https://firstpick.example", Key: os.Getenv("FIRSTPICK_KEY")})
//	defer c.Close(context.Background())
//	http.ListenAndServe(addr, c.Wrap(mux))
//
// The Collector does not change or delay answers: events go into
// a bounded queue after the answer, and one goroutine sends them. When the service
// is unavailable, slow or full, the site is not affected; events wait, the oldest are
// dropped above 5,000, and a retried batch has the same ids, so that nothing
// counts twice.
//
// Page views of people are not sent (see [Visit.MayBeAgent]). Events contain no
// query strings except link tags, and the service stores no full IP address.
// Without a key a Collector does nothing.
//
// The package is a module of its own and imports the standard library only.
package agentcollect
