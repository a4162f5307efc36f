#!/bin/sh
# After installing or upgrading, by dpkg, rpm or apk: the user, its folders, the units.
set -e
if ! getent passwd firstpick >/dev/null 2>&1 && ! grep -q '^firstpick:' /etc/passwd; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers firstpick.conf
  elif command -v useradd >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/firstpick --no-create-home --shell /usr/sbin/nologin firstpick
  else # Alpine's
    addgroup -S firstpick
    adduser -S -D -H -h /var/lib/firstpick -s /sbin/nologin -G firstpick firstpick
  fi
fi
mkdir -p /var/lib/firstpick
chown firstpick:firstpick /var/lib/firstpick
chmod 0750 /var/lib/firstpick
chown root:firstpick /etc/firstpick/env
chmod 0640 /etc/firstpick/env
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart firstpick.service firstpick-worker.service # those that run
fi
