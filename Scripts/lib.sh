# shellcheck shell=bash disable=SC2034
# What the scripts of this project share: where it is, how they speak, and how missing packages come in.
# To be sourced. Everything said goes to standard error: standard output belongs to the program that is run.

# The project's directory, also when the script was started through a symbolic link.
project=$(CDPATH='' cd -P -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)

# A script that could not prepare its program ends with this (EX_SOFTWARE), which `thumbs` itself never returns.
setup_failed=70

# What is needed, as `probe=packages`. A probe is cheap and sees what was installed without apt, too:
#   pc:MODULE (pkg-config knows it), cmd:NAME (a command in PATH), file:PATH.
# Packages that end in `?` are installed where the distribution has them: newer ones split libheif's codecs off.
build_needs=(
  "cmd:pkg-config=pkg-config"
  "cmd:git=git"
  "file:/etc/ssl/certs/ca-certificates.crt=ca-certificates"
  "pc:libcurl=libcurl4-openssl-dev"
  "pc:libisal=libisal-dev"
  "pc:sqlite3=libsqlite3-dev"
  "pc:libtiff-4=libtiff-dev"
  "pc:libde265=libde265-dev"
  "pc:dav1d=libdav1d-dev"
  "pc:libwebp=libwebp-dev"
  "pc:libopenjp2=libopenjp2-7-dev"
  "pc:libjpeg=libjpeg-dev"
  "pc:vips=libvips-dev libheif-plugin-aomenc? libheif-plugin-dav1d? libheif-plugin-libde265?"
)
test_needs=(
  "cmd:openssl=openssl"
  "cmd:python3=python3"
  "cmd:sqlite3=sqlite3"
  "cmd:opj_compress=libopenjp2-tools"
  "file:/usr/lib/python3/dist-packages/tifffile/__init__.py=python3-numpy python3-pil python3-tifffile"
)

# How a program is built that has Swift's libraries in it, stripped. In a folder of its own: with other objects in the same
# one, every change between the two would compile everything anew. Functions that are never called, or equal to others, are
# left out, and so are the tables of exceptions and the path of this folder.
static_folder=$project/.build/static
static_options=(
  --package-path "$project" --scratch-path "$static_folder" -c release --static-swift-stdlib -Xswiftc -use-ld=lld
  -Xswiftc -Xfrontend -Xswiftc -function-sections -Xlinker -s -Xlinker --no-export-dynamic -Xlinker --icf=safe
  -Xlinker -z -Xlinker pack-relative-relocs
  -Xlinker --no-eh-frame-hdr -Xlinker -T -Xlinker "$project/Packaging/executable.ld"
  -Xcc "-ffile-prefix-map=$project=thumbnailer"
)
static_build=("${static_options[@]}" --product thumbs)
static_program=$static_folder/release/thumbs

say() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
}

fail() {
  say "$*"
  exit "$setup_failed"
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

# Prints the packages of those needs that are not met, one a line.
missing_packages() {
  local need probe
  for need in "$@"; do
    probe=${need%%=*}
    case $probe in
      pc:*) pkg-config --exists "${probe#pc:}" 2>/dev/null && continue ;;
      cmd:*) command -v "${probe#cmd:}" >/dev/null && continue ;;
      file:*) [[ -e ${probe#file:} ]] && continue ;;
    esac
    # shellcheck disable=SC2086 # One need can stand for several packages.
    printf '%s\n' ${need#*=}
  done
}

# The packages of a list that ought to be installed: all, but those with a `?` only where apt has them.
installable_packages() {
  local package
  for package in "$@"; do
    if [[ $package != *\? ]]; then
      printf '%s\n' "$package"
    elif [[ $(apt-cache policy -- "${package%\?}" 2>/dev/null) == *'Candidate: '[^\(]* ]]; then
      printf '%s\n' "${package%\?}"
    fi
  done
}

# Runs apt-get without questions; waits for another apt to finish. Services of new packages are not started.
apt_get() {
  # shellcheck disable=SC2016 # Expanded by the inner shell.
  as_root env DEBIAN_FRONTEND=noninteractive sh -c '
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      trap "rm -f $policy" EXIT
      trap "exit 130" INT TERM
      printf "#!/bin/sh\nexit 101\n" >"$policy" && chmod 755 "$policy"
    fi
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
  ' sh "$@" </dev/null >&2
}

# Reads the package lists anew, at most once. A broken third-party list is no reason to stop: the installation tells.
apt_update() {
  [[ -z ${apt_is_updated-} ]] || return 0
  say "reading the package lists"
  apt_get update || say "apt-get update had errors; going on with what it got"
  apt_is_updated=yes
}

# Whether packages can be installed here.
can_install() {
  command -v apt-get >/dev/null && { ((EUID == 0)) || command -v sudo >/dev/null; }
}

# Installs what the needs lack. Silent and quick when nothing is missing; ends the script when it cannot.
install_missing() {
  local wanted packages
  mapfile -t wanted < <(missing_packages "$@")
  ((${#wanted[@]} > 0)) || return 0
  can_install || fail "missing: ${wanted[*]%\?}. Installing them takes apt-get, and root or sudo."
  apt_update
  mapfile -t packages < <(installable_packages "${wanted[@]}")
  say "installing ${packages[*]}"
  apt_get install --no-install-recommends "${packages[@]}" ||
    fail "apt-get could not install ${packages[*]}: its own messages stand above"
  mapfile -t wanted < <(missing_packages "$@")
  ((${#wanted[@]} == 0)) || fail "still missing after the installation: ${wanted[*]%\?}"
}

# Installs nginx, which tests use as a server that speaks HTTP/2. They are skipped where it is absent, so nothing here
# is fatal. The package would also have a web server run on port 80 from the next boot on, which nobody asked for.
install_nginx() {
  if command -v nginx >/dev/null || [[ -x /usr/sbin/nginx ]]; then return; fi
  if can_install && apt_update && say "installing nginx-light" && apt_get install --no-install-recommends nginx-light; then
    ! command -v systemctl >/dev/null || as_root systemctl disable nginx >&2 || true
  else
    say "nginx could not be installed: the tests that speak HTTP/2 are skipped"
  fi
}

# Ends the script when there is no Swift.
require_swift() {
  command -v swift >/dev/null ||
    fail "Swift 6.2 or later is not in PATH; install it as https://www.swift.org/install/linux says"
}

# Builds the program without Swift's libraries around it, with a small copy of their Unicode data. Installs what is missing.
build_static() {
  local runtime unicode
  require_swift
  install_missing "${build_needs[@]}" "cmd:python3=python3"
  say "building, which takes some minutes the first time"
  mkdir -p -- "$static_folder"
  runtime=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  unicode=$("$project/Packaging/unicode.py" "${runtime}_static/linux/lib_FoundationICU.a" "$static_folder/unicode.o") ||
    fail "the Unicode data of Swift's Foundation could not be read"
  # One option a line, as paths may have spaces.
  mapfile -t unicode <<<"$unicode"
  # The warning is about Swift's own library.
  swift build "${static_build[@]}" "${unicode[@]}" </dev/null 2>&1 | sed '/the use of `mktemp. is dangerous/d' >&2 ||
    fail "the build failed: its messages stand above"
}

# Prints the version of the program.
project_version() {
  sed -n 's/.*static let version = "\(.*\)"$/\1/p' \
    "$project/Sources/Thumbnailer/Pipeline/ThumbnailPipeline+Configuration.swift"
}

# Prints the day of the newest version in CHANGELOG.md.
changelog_date() {
  sed -n '/^## .* (\([0-9-]*\))$/{s//\1/p;q}' "$project/CHANGELOG.md"
}
