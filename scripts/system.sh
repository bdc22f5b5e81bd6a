#!/bin/sh
# The programs that sandboxes are made of, and those that tests use; quick when they are there. Root gets them from
# Debian's packages, others are told what to install. Without them tests fail: none is skipped.
set -eu
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

# program=package, or file=package; with a ? where not every release has the package.
wanted="bwrap=bubblewrap setpriv=util-linux prlimit=util-linux podman=podman runc=runc slirp4netns=slirp4netns
    iptables=iptables busybox=busybox-static dockerd=docker.io /usr/lib/podman/netavark=netavark
    /usr/lib/podman/aardvark-dns=aardvark-dns runsc=runsc? chromium=chromium
    chromium-headless-shell=chromium-headless-shell? docker-registry=docker-registry"

required='' optional=''
for one in $wanted; do
    command -v "${one%%=*}" >/dev/null 2>&1 && continue
    case $one in
        *\?) one=${one%\?}; optional="$optional ${one#*=}" ;;
        *) required="$required ${one#*=}" ;;
    esac
done
[ -n "$required$optional" ] || exit 0

if [ "$(uname -s)" != Linux ]; then
    echo "This is not Linux: of the sandbox's backends only 'process' works here."
    exit 0
fi

tell() {
    echo "Sandboxes and tests need programs that are not installed; what needs them will fail." >&2
    echo "Install them as root (Debian, Ubuntu): apt-get install$required" >&2
    exit 0
}

install() {
    DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 install -qq -y --no-install-recommends "$@" >/dev/null
}

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    [ -z "$required" ] || tell
    exit 0
fi
if [ -n "$required" ]; then
    echo "Installing$required ..."
    # shellcheck disable=SC2086  (words are meant)
    { apt-get -o DPkg::Lock::Timeout=600 update -qq && install $required; } || tell
fi
for package in $optional; do
    if apt-cache show "$package" >/dev/null 2>&1; then
        echo "Installing $package ..."
        install "$package" || echo "$package cannot be installed: the backend that needs it will not work" >&2
    fi
done
