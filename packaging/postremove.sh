#!/bin/sh
# After removing: the data stays, also after dpkg's purge, for it has no other copy.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "${1:-}" = purge ]; then
  rm -rf /etc/firstpick
  [ ! -d /var/lib/firstpick ] || echo "firstpick: /var/lib/firstpick is kept; delete it if nobody needs its results"
fi
