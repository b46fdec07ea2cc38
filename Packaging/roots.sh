# shellcheck shell=bash disable=SC2154
# Roots of Debian, to build and to test in. To be sourced after Scripts/lib.sh. Needs root.

# Makes a bare root of a release (variant minbase) in a folder. The third argument names packages that it has as well,
# separated by commas.
make_root() {
  local release=$1 root=$2 packages=${3-}
  say "making a root of $release"
  mkdir -p -- "${root%/*}"
  # Of a run that was interrupted.
  rm -rf --one-file-system -- "$root.part"
  mmdebstrap --quiet --variant=minbase ${packages:+--include="$packages"} "$release" "$root.part" ||
    fail "mmdebstrap could not make a root of $release: its messages stand above"
  mv -- "$root.part" "$root"
}

# Runs a command in a root: in_root ROOT [PLACE | PLACE=TARGET]… -- COMMAND…. The root has each place of this machine at the
# same path, or at the target's. The mounts are private: they end with the command. It sees only its own processes. The root
# is that of its mounts, not only of its processes (chroot), because the kernel allows no user namespace there.
in_root() {
  local root=$1 mounts=()
  shift
  while [[ $1 != -- ]]; do
    mounts+=("${1%%=*}" "${1#*=}")
    shift
  done
  shift
  # shellcheck disable=SC2016 # Expanded by the inner shell.
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    root=$1 count=$2
    shift 2
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t sysfs sysfs "$root/sys"
    mount -t tmpfs tmpfs "$root/tmp"
    for ((; count > 0; count -= 2)); do
      mkdir -p "$root$2"
      mount --bind "$1" "$root$2"
      shift 2
    done
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
    cd "$root"
    pivot_root . .
    umount -l .
    exec "$@"
  ' bash "$root" "${#mounts[@]}" "${mounts[@]}" env -i HOME=/root LANG=C.UTF-8 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
}

# Makes the bare root of a release in .build/roots, unless it is there.
bare_root() {
  [[ -e $project/.build/roots/$1-bare ]] || make_root "$1" "$project/.build/roots/$1-bare"
}
