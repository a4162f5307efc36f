package cli

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// healthTimeout bounds the whole check; a supervisor asks again soon.
const healthTimeout = 3 * time.Second

// newHealthcheckCmd builds the check of containers, whose images have no other client of
// HTTP. It asks the server of this machine and configuration.
func newHealthcheckCmd(env *Env) *cobra.Command {
	return &cobra.Command{
		Use: "healthcheck [URL]", Short: "Exit 0 if a server answers", Hidden: true,
		Args: usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := newApp(env, cmd)
			if err != nil {
				return err
			}
			base := a.localURL()
			if len(args) == 1 {
				base = args[0]
			}
			client := &http.Client{Timeout: healthTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
			req, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, base+"/healthz", nil)
			if err != nil {
				return usageErr("http://127.0.0.1:8080", "not a URL: %q", base)
			}
			res, err := client.Do(req)
			if err != nil {
				return err
			}
			defer func() { _ = res.Body.Close() }() // it is read to its end, or the check failed
			if res.StatusCode != http.StatusOK {
				return fmt.Errorf("%s answers %s", req.URL, res.Status)
			}
			_, err = io.Copy(env.Stdout, io.LimitReader(res.Body, 1<<10))
			return err
		},
	}
}
