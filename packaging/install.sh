#!/bin/sh
# Installs firstpick on Linux or macOS from a release, checked against its checksums:
#
#   curl -fsSL https://github.com/firstpick/firstpick/releases/latest/download/install.sh | sh
#
# FIRSTPICK_VERSION     a release such as v1.2.3; default: the latest
# FIRSTPICK_INSTALL_DIR where the program goes; default: /usr/local/bin, or ~/.local/bin
#                       where that cannot be written
# FIRSTPICK_VERIFY      signature: fail where cosign cannot check who signed the checksums;
#                       default: check it where cosign is installed
# FIRSTPICK_RELEASES    another place of releases, such as a mirror
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

get() { # URL FILE
  if command -v curl >/dev/null; then
    curl -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1"
  elif command -v wget >/dev/null; then
    wget -q -O "$2" "$1" || fail "cannot download $1"
  else
    fail "needs curl or wget"
  fi
}

sha256() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# signature checks that the release workflow of the repository signed the checksums.
signature() { # BASE
  if ! command -v cosign >/dev/null; then
    [ "${FIRSTPICK_VERIFY:-}" != signature ] || fail "FIRSTPICK_VERIFY=signature needs cosign: https://docs.sigstore.dev/cosign/system_config/installation/"
    return 0
  fi
  get "$1/checksums.txt.sigstore.json" "$tmp/checksums.txt.sigstore.json"
  cosign verify-blob --bundle "$tmp/checksums.txt.sigstore.json" \
    --certificate-identity-regexp '^https://github.com/firstpick/firstpick/\.github/workflows/release\.yml@refs/tags/v' \
    --certificate-oidc-issuer https://token.actions.githubusercontent.com "$tmp/checksums.txt" >/dev/null ||
    fail "the signature of checksums.txt is not of the release workflow"
}

main() {
  releases=${FIRSTPICK_RELEASES:-https://github.com/firstpick/firstpick/releases}
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) fail "no release for $(uname -s); on Windows use the zip file of $releases" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "no release for $(uname -m); build it: go build ./cmd/firstpick" ;;
  esac
  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  if [ -n "${FIRSTPICK_VERSION:-}" ]; then
    base=$releases/download/v${FIRSTPICK_VERSION#v}
  else
    base=$releases/latest/download
  fi
  get "$base/checksums.txt" "$tmp/checksums.txt"
  signature "$base"
  # "DIGEST  firstpick_VERSION_OS_ARCH.tar.gz" names the version, also of the latest.
  line=$(grep -E "^[0-9a-f]{64}  firstpick_[0-9A-Za-z.+-]+_${os}_$arch\.tar\.gz$" "$tmp/checksums.txt") || fail "the release has no file for $os/$arch"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "checksums.txt has several files for $os/$arch"
  want=${line%% *} file=${line##* }
  version=${file#firstpick_} version=${version%_"$os"_*}
  [ -z "${FIRSTPICK_VERSION:-}" ] || [ "$version" = "${FIRSTPICK_VERSION#v}" ] || fail "asked for $FIRSTPICK_VERSION, got $version"
  get "$releases/download/v$version/$file" "$tmp/$file"
  got=$(sha256 "$tmp/$file")
  [ "$got" = "$want" ] || fail "$file has SHA-256 $got, want $want"
  tar -xzf "$tmp/$file" -C "$tmp" firstpick

  dir=${FIRSTPICK_INSTALL_DIR:-/usr/local/bin}
  if [ -z "${FIRSTPICK_INSTALL_DIR:-}" ] && [ ! -w "$dir" ]; then dir=$HOME/.local/bin; fi
  mkdir -p "$dir"
  # A running program keeps its file; half a file is never seen.
  cp "$tmp/firstpick" "$dir/.firstpick.new"
  chmod 0755 "$dir/.firstpick.new"
  mv -f "$dir/.firstpick.new" "$dir/firstpick"
  "$dir/firstpick" --version
  case :$PATH: in
    *:"$dir":*) echo "next: firstpick demo" ;;
    *) echo "next: add $dir to PATH, then firstpick demo" ;;
  esac
}

main "$@" # at the end: half a download does nothing
