// Package porttest finds ports for programs that a test starts, and starts again.
package porttest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports below the range from which systems choose (32768 on Linux): one that the system
// chose could go to another test before the program listens, or while it is restarted.
const low, high = 15000, 32000

// Free returns a free address of the loopback interface, as 127.0.0.1:PORT.
func Free() (string, error) {
	var last error
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", low+rand.IntN(high-low)) //nolint:gosec // a port is no secret
		ln, err := new(net.ListenConfig).Listen(context.Background(), "tcp", address)
		if err == nil {
			return address, ln.Close()
		}
		last = err
	}
	return "", last
}
