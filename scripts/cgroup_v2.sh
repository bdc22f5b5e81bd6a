#!/bin/sh
# Control groups of version 2 delegated by systemd, tried for real where the machine itself has version 1: user-mode
# Linux boots with this file system, read-only, and systemd as its first process; an ordinary user's unit runs
# cgroup_v2_trial.py. cgroup_v2.sh KERNEL PYTHON OUTPUT, as root.
#     apt-get download user-mode-linux && dpkg -x user-mode-linux*.deb uml
#     sh scripts/cgroup_v2.sh uml/usr/bin/linux.uml .venv/bin/python build/delegation.json
set -eu
kernel=$(realpath "$1") python=$(realpath -s "$2") output=$3
here=$(dirname "$(realpath "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
closed=$("$python" -c '
import pathlib, sys
print(next((str(p) for p in reversed(pathlib.Path(sys.base_prefix).parents) if not p.stat().st_mode & 1), ""))')
cat > "$folder/init" <<INIT
#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t cgroup2 none /sys/fs/cgroup
cp "$here/cgroup_v2_trial.py" /dev/trial.py; cp "$folder/units.sh" /dev/units.sh
for place in /tmp /var/tmp /run /var/log /var/lib/systemd; do mount -t tmpfs none \$place; done
mkdir -p /dev/shm; mount -t tmpfs none /dev/shm; chmod 1777 /tmp /var/tmp /dev/shm
if [ -n "$closed" ]; then
    mount --bind "$prefix" /mnt; mount -t tmpfs -o mode=755 none "$closed"; mkdir -p "$prefix"; mount --bind /mnt "$prefix"
fi
mkdir -p /run/trial /run/user/1000 /run/systemd/system /run/systemd/user/default.target.wants /tmp/home
mv /dev/trial.py /run/trial/trial.py; chmod 644 /run/trial/trial.py; chown 1000:1000 /tmp/home /run/user/1000
chmod 700 /run/user/1000
. /dev/units.sh
exec /lib/systemd/systemd --unit=show.service --log-target=console --log-level=err
INIT
cat > "$folder/units.sh" <<'UNITS'
common='Type=oneshot
Environment=HOME=/tmp/home PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=@ROOT@
WorkingDirectory=/tmp/home'
cat > /run/systemd/system/service.service <<U
[Unit]
DefaultDependencies=no
[Service]
$common
User=1000
Group=1000
Delegate=yes
StandardOutput=file:/tmp/service
StandardError=file:/tmp/service.errors
ExecStart=-@PYTHON@ /run/trial/trial.py "a service with Delegate="
U
cat > /run/systemd/user/unit.service <<U
[Service]
$common
StandardOutput=file:/tmp/unit
StandardError=file:/tmp/unit.errors
ExecStart=-@PYTHON@ /run/trial/trial.py "a unit of the user manager"
U
ln -s ../unit.service /run/systemd/user/default.target.wants/unit.service
cat > /run/systemd/system/manager.service <<U
[Unit]
DefaultDependencies=no
After=service.service
[Service]
Type=notify
User=1000
Group=1000
Slice=user-1000.slice
Delegate=pids memory cpu
Environment=XDG_RUNTIME_DIR=/run/user/1000 HOME=/tmp/home
ExecStart=/lib/systemd/systemd --user
U
cat > /run/systemd/system/show.service <<U
[Unit]
DefaultDependencies=no
Wants=service.service manager.service
After=service.service manager.service
SuccessAction=poweroff-force
FailureAction=poweroff-force
[Service]
Type=oneshot
TimeoutStartSec=infinity
StandardOutput=tty
StandardError=tty
TTYPath=/dev/console
ExecStart=/bin/sh -c 'while ! grep -qs place /tmp/unit; do sleep 1; done; cat /tmp/*.errors; cat /tmp/service /tmp/unit'
U
UNITS
sed -i "s#@PYTHON@#$python#; s#@ROOT@#$(dirname "$here")#" "$folder/units.sh"
chmod 755 "$folder/init"
timeout "${SECONDS_AT_MOST:-1800}" "$kernel" mem=2000M root=/dev/root rootfstype=hostfs rootflags=/ ro \
    init="$folder/init" con=null con0=null,fd:1 quiet < /dev/null > "$folder/said" 2>&1 || true
tr -d '\r' < "$folder/said" | grep '^{"place"' > "$folder/cells" || { tail -n 40 "$folder/said"; exit 1; }
"$python" -c 'import json, sys; print(json.dumps([json.loads(line) for line in open(sys.argv[1])], indent=1))' \
    "$folder/cells" > "$output"
cat "$output"
