# shellcheck shell=bash disable=SC2154
# The Debian package: the two executables, manual pages, completions, units, the desktop's entry and licences. To be sourced by Scripts/package.

make_deb() {
  if (($# == 2)) && [[ $1 == --debian ]]; then
    make_deb_in_root "$2"
    return
  fi
  (($# == 0)) || wrong_usage
  install_missing "cmd:dpkg-shlibdeps=dpkg-dev" "cmd:gcc=gcc" "cmd:python3=python3"
  build_static
  local root=$work/root version architecture name
  architecture=$(dpkg --print-architecture)
  # Each release of Debian has its own version, as the packages that it depends on have names of their own.
  # shellcheck source=/dev/null
  version=$(project_version)-1~$(. /etc/os-release && printf '%s%s' "$ID" "$VERSION_ID")
  gather_files "$root" "$version"
  write_control "$root" "$version" "$architecture"
  name=thumbs_${version}_$architecture.deb
  dpkg-deb --root-owner-group -Zxz --build "$root" "$folder/$name" >/dev/null
  say "made $folder/$name, $(stat -c %s "$folder/$name" | numfmt --to=iec)"
}

# Writes all files of the package into a folder.
gather_files() {
  local root=$1 version=$2 share=$1/usr/share debian=$project/Packaging/debian
  install -D -m 755 -t "$root/usr/bin" "${static_program%/*}/thumbs" "${static_program%/*}/thumbs-decode"

  python3 "$project/Packaging/manual.py" "$static_program" "$(project_version)" "$(changelog_date)" "$share/man/man1"
  gzip -9n "$share"/man/man1/*.1
  ln -s thumbs.1.gz "$share/man/man1/thumbs-decode.1.gz"

  mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
  # It is sourced: the first line that names a shell has no use.
  "$static_program" --generate-completion-script bash | sed '1{/^#!/d}' >"$share/bash-completion/completions/thumbs"
  "$static_program" --generate-completion-script zsh >"$share/zsh/vendor-completions/_thumbs"
  "$static_program" --generate-completion-script fish >"$share/fish/vendor_completions.d/thumbs.fish"

  # The server of the machine, and that of a user.
  install -D -m 644 -t "$root/usr/lib/systemd/system" "$project/Examples/server/thumbs.socket"
  sed 's|/usr/local/bin/|/usr/bin/|; s|/etc/systemd/system/|/usr/lib/systemd/system/|' \
    "$project/Examples/server/thumbs.service" >"$root/usr/lib/systemd/system/thumbs.service"
  install -D -m 644 "$debian/thumbs.user.service" "$root/usr/lib/systemd/user/thumbs.service"
  install -D -m 644 "$debian/thumbs-desktop.user.service" "$root/usr/lib/systemd/user/thumbs-desktop.service"
  install -D -m 644 -t "$root/etc/thumbs" "$debian/server.json"

  # What file managers call for a single picture.
  install -D -m 644 -t "$share/thumbnailers" "$debian/thumbs.thumbnailer"

  local documents=$share/doc/thumbs
  mkdir -p "$documents"
  cp -- "$project"/docs/*.md "$project/docs/worker.schema.json" "$documents"
  cp -- "$project/CHANGELOG.md" "$documents/changelog"
  write_debian_changelog "$version" >"$documents/changelog.Debian"
  gzip -9n "$documents"/*
  install -D -m 644 -t "$documents/examples" "$project"/Examples/server/{server.json,nginx.conf}
  python3 "$project/Packaging/copyright.py" >"$documents/copyright"
}

write_debian_changelog() {
  local maintainer
  maintainer=$(sed -n 's/^Maintainer: //p' "$project/Packaging/debian/control.in")
  printf 'thumbs (%s) unstable; urgency=medium\n\n  * Version %s: see changelog.gz.\n\n -- %s  %s\n' \
    "$1" "$(project_version)" "$maintainer" "$(date -R -u -d "$(changelog_date)")"
}

# Writes the fields of the package, its scripts, and the checksums of its files.
write_control() {
  local root=$1 version=$2 architecture=$3 depends recommends size
  depends=$(package_dependencies "$root/usr/bin/thumbs" "$root/usr/bin/thumbs-decode")
  # In newer releases, the decoders of libheif are packages of their own.
  recommends=$(installable_packages ca-certificates qrencode "libheif-plugin-dav1d?" "libheif-plugin-libde265?" |
    sed -z 's/\n$//; s/\n/, /g')
  size=$(du -sk --apparent-size "$root" | cut -f1)
  mkdir -p "$root/DEBIAN"
  sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$size/" \
    -e "s/@DEPENDS@/$depends/; s/@RECOMMENDS@/$recommends/" "$project/Packaging/debian/control.in" >"$root/DEBIAN/control"
  printf '/etc/thumbs/server.json\n' >"$root/DEBIAN/conffiles"
  install -m 755 -t "$root/DEBIAN" "$project"/Packaging/debian/{postinst,prerm,postrm}
  (cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
}

# Prints what the executables given depend on, as the field Depends. They are not linked to the libraries that they load
# when they need them (CLazyLibraries): a library that is linked to all of these stands in.
package_dependencies() {
  local late
  mapfile -t late < <(cd "$project/Sources/CLazyLibraries" && basename -as .c -- *.c | grep -v '^binding$')
  mkdir -p "$work/shlibs/debian"
  printf 'Source: thumbs\n\nPackage: thumbs\nArchitecture: any\n' >"$work/shlibs/debian/control"
  gcc -shared -o "$work/shlibs/late.so" -Wl,--no-as-needed "${late[@]/#/-l}"
  # Its warnings are about what the stand-in is for.
  if ! (cd "$work/shlibs" && dpkg-shlibdeps -O -e late.so "${@/#/-e}" >fields 2>log); then
    cat "$work/shlibs/log" >&2
    fail "dpkg-shlibdeps found no package of a library: its messages stand above"
  fi
  sed -n 's/^shlibs:Depends=//p' "$work/shlibs/fields"
}

# Builds the package for another release of Debian: in a root with its packages, the toolchain of this machine, and a
# folder of its own for what is built. The root stays for the next time.
make_deb_in_root() {
  local release=$1 roots=$project/.build/roots toolchain swift
  ((EUID == 0)) || fail "building for another release of Debian needs root"
  require_swift
  swift=$(readlink -f -- "$(command -v swift)")
  toolchain=${swift%/usr/bin/*}
  [[ -n $toolchain ]] || fail "Swift is installed in /usr: unpack it into a folder of its own, so that a root can have it"
  # shellcheck source=Packaging/roots.sh
  . "$project/Packaging/roots.sh"
  local root=$roots/$release-build
  if [[ ! -e $root/etc/os-release ]]; then
    install_missing "cmd:mmdebstrap=mmdebstrap"
    # What the toolchain itself needs; Scripts/package installs the rest.
    make_root "$release" "$root" ca-certificates,git,g++,libc6-dev,libcurl4,libedit2,libncurses6,libsqlite3-0,libxml2,zlib1g
  fi
  local built=$roots/$release-static
  if [[ ! -e $built ]]; then
    # The same versions of the Swift packages as here.
    swift package --package-path "$project" --scratch-path "$static_folder" resolve >&2
    mkdir -p "$built"
    cp -a -- "$static_folder"/{checkouts,repositories,workspace-state.json} "$built"
  fi
  say "building for $release"
  in_root "$root" "$project" "$toolchain" "$folder" "$built=$static_folder" \
    -- env PATH="$toolchain/usr/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$project/Scripts/package" deb "$folder"
}
