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
  "pc:libjpeg=libjpeg-dev"
  "pc:vips=libvips-dev libheif-plugin-aomenc? libheif-plugin-dav1d? libheif-plugin-libde265?"
)
test_needs=(
  "cmd:openssl=openssl"
  "cmd:python3=python3"
  "cmd:sqlite3=sqlite3"
)

# How the program and the tests are built to be tested: each module at once, without debug information and optimisation, in
# a folder of its own. It takes two thirds of the processor time of a debug build. As a release, in which ArgumentParser
# does not check each command line five times over: hundreds of programs are started.
test_folder=$project/.build/gate
test_build=(
  -c release --scratch-path "$test_folder" -Xswiftc -Onone -Xswiftc -gnone -Xswiftc -enable-testing
  -Xswiftc -no-emit-module-separately-wmo
  # The compiler's check of its own output takes about a tenth of the time; the release is built with it.
  -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify
)

# How a program is built that has Swift's libraries in it, stripped, thus without debug information. In a folder of its
# own: with other objects in the same one, every change between the two would compile everything anew. Functions that are
# never called, or equal to others, are left out, and so are the tables of exceptions and the path of this folder.
static_folder=$project/.build/static
static_options=(
  --scratch-path "$static_folder" -c release --static-swift-stdlib -Xswiftc -gnone -Xswiftc -use-ld=lld
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

# Chooses the `tests` for pytest: those of the gate, which a file lists, if no arguments follow; all after `--all`.
choose_tests() {
  case ${2-} in
    "") mapfile -t tests < <(grep '^test' "$1") ;;
    --all) tests=("${@:3}") ;;
    *) tests=("${@:2}") ;;
  esac
}

as_root() {
  if ((EUID == 0)); then "$@"; else sudo -- "$@"; fi
}

# What the stages of this script print.
log=$project/.build/${0##*/}.log

# Begins a stage of minutes: says what it is. Its messages go to `$log`. On a terminal a line below shows its time and its
# last message.
begin_stage() {
  if [[ -z ${log_is_new-} ]]; then
    # A project of somebody else's cannot be written to.
    { mkdir -p -- "${log%/*}" && : >"$log"; } 2>/dev/null || log=$(mktemp)
    log_is_new=yes
  fi
  say "$*"
  [[ ! -t 2 ]] || show_progress & stage_progress=$!
}

# Ends it.
end_stage() {
  kill "$stage_progress" 2>/dev/null || true
  wait "$stage_progress" 2>/dev/null || true
  [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# Draws that line each second, until the stage or its script ends.
show_progress() {
  local begun=$SECONDS width
  width=$(stty size <&2 2>/dev/null | cut -d ' ' -f 2)
  while sleep 1 && kill -0 "$$" 2>/dev/null; do
    printf '\r\033[K%.*s' "$((${width:-80} - 1))" "$((SECONDS - begun)) s  $(tail -n 1 -- "$log")" >&2
  done
}

# Runs a command as a stage, and has its status.
stage() {
  local status=0
  begin_stage "$1"
  shift
  # Standard input is the program's: a list of URLs may wait there.
  "$@" </dev/null >>"$log" 2>&1 || status=$?
  end_stage
  return "$status"
}

# Shows the last messages of a stage that failed, without those of progress, and where all are.
show_log() {
  sed '/^\[[0-9]*\/[0-9]*\] /d' "$log" | tail -n 40 >&2
  say "$1: the last messages stand above, all are in $log"
}

# Ends the script after that.
fail_stage() {
  show_log "$*"
  exit "$setup_failed"
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

# Runs apt-get as a stage, without questions; waits for another apt to finish. Services of new packages are not started.
apt_get() {
  local title=$1
  shift
  # shellcheck disable=SC2016 # Expanded by the inner shell.
  stage "$title" as_root env DEBIAN_FRONTEND=noninteractive sh -c '
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      trap "rm -f $policy" EXIT
      trap "exit 130" INT TERM
      printf "#!/bin/sh\nexit 101\n" >"$policy" && chmod 755 "$policy"
    fi
    apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-confold "$@"
  ' sh "$@"
}

# Reads the package lists anew, at most once. A broken third-party list is no reason to stop: the installation tells.
apt_update() {
  [[ -z ${apt_is_updated-} ]] || return 0
  apt_get "reading the package lists" update || say "apt-get update had errors, which are in $log; going on with what it got"
  apt_is_updated=yes
}

# Whether packages can be installed here. Sudo asks for its password now, as a stage shows no questions.
can_install() {
  command -v apt-get >/dev/null && { ((EUID == 0)) || { command -v sudo >/dev/null && sudo -- true; }; }
}

# Installs what the needs lack. Silent and quick when nothing is missing; ends the script when it cannot.
install_missing() {
  local wanted packages
  mapfile -t wanted < <(missing_packages "$@")
  ((${#wanted[@]} > 0)) || return 0
  can_install || fail "missing: ${wanted[*]%\?}; install them as root: apt-get install ${wanted[*]%\?}"
  apt_update
  mapfile -t packages < <(installable_packages "${wanted[@]}")
  apt_get "installing ${packages[*]}" install --no-install-recommends "${packages[@]}" ||
    fail_stage "apt-get could not install ${packages[*]}"
  mapfile -t wanted < <(missing_packages "$@")
  ((${#wanted[@]} == 0)) || fail "still missing after the installation: ${wanted[*]%\?}"
}

# Installs nginx, which tests use as a server that speaks HTTP/2. They are skipped where it is absent, so nothing here
# is fatal. The package would also have a web server run on port 80 from the next boot on, which nobody asked for.
install_nginx() {
  if command -v nginx >/dev/null || [[ -x /usr/sbin/nginx ]]; then return; fi
  if can_install && apt_update && apt_get "installing nginx-light" install --no-install-recommends nginx-light; then
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

# Builds as a stage with these arguments of `swift build`, or ends the script.
build_stage() {
  stage "building, which takes up to ten minutes the first time" swift build --package-path "$project" "$@" ||
    fail_stage "the build failed"
}

# Builds the program without Swift's libraries around it, with a small copy of their Unicode data. Installs what is missing.
build_static() {
  local runtime unicode
  require_swift
  install_missing "${build_needs[@]}" "cmd:python3=python3"
  mkdir -p -- "$static_folder"
  runtime=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  unicode=$("$project/Packaging/unicode.py" "${runtime}_static/linux/lib_FoundationICU.a" "$static_folder/unicode.o") ||
    fail "the Unicode data of Swift's Foundation could not be read"
  # One option a line, as paths may have spaces.
  mapfile -t unicode <<<"$unicode"
  build_stage "${static_build[@]}" "${unicode[@]}"
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
