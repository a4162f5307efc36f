#!/bin/sh
# Before removing, and not before upgrading. dpkg says "remove", rpm 0, apk nothing.
set -e
case ${1:-0} in
  remove | 0) ;;
  *) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now firstpick.service firstpick-worker.service
fi
