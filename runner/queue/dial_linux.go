package queue

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sendTimeout is how long sent bytes may stay unacknowledged. The system's default is
// 15 minutes, and no keepalives are sent meanwhile.
const sendTimeout = 10 * time.Second

// giveUpSending sets sendTimeout on a connection.
func giveUpSending(network, _ string, c syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	var set error
	err := c.Control(func(fd uintptr) {
		set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(sendTimeout.Milliseconds()))
	})
	return errors.Join(err, set)
}
