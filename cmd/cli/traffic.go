package cli

import "github.com/spf13/cobra"

func newTrafficCmd(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "traffic",
		Short: "Ship access logs to a service, and rebuild a server's traffic database",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShipCmd(env), newReindexCmd(env))
	return cmd
}
