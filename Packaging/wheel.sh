#!/usr/bin/env bash
# Makes the Python wheel that contains the program and its libraries. Usage: Packaging/wheel.sh FOLDER
# It needs the C library of the system that this runs on, or a newer one. Files of the same name are replaced.
set -euo pipefail
# shellcheck source=Scripts/lib.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../Scripts/lib.sh"

usage="usage: Packaging/wheel.sh FOLDER"

if (($# != 1)) || [[ $1 == -* ]]; then
  printf '%s\n' "$usage" >&2
  [[ ${1-} == -h || ${1-} == --help ]] || exit 64
  exit
fi
mkdir -p -- "$1" || fail "$1 cannot be made: name another folder"
folder=$(readlink -f -- "$1")
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

require_swift
install_missing "${build_needs[@]}" "cmd:patchelf=patchelf" "cmd:icupkg=icu-devtools" "cmd:cc=gcc" \
  "file:/etc/fonts/fonts.conf=fontconfig-config" \
  "file:/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf=fonts-dejavu-core" \
  "file:/etc/ImageMagick-6/policy.xml=imagemagick-6-common"
python3 -c 'import ensurepip' 2>/dev/null || install_missing "file:/usr/share/python-wheels=python3-venv"
say "building, which takes some minutes the first time"
swift build "${static_build[@]}" </dev/null 2>&1 | sed '/the use of `mktemp. is dangerous/d' >&2 ||
  fail "the build failed: its messages stand above"

{ python3 -m venv "$work/python" &&
  "$work/python/bin/pip" wheel -q --no-deps --wheel-dir "$work" "$project/integrations/python" >&2; } ||
  fail "the Python package could not be built: pip's messages stand above"
wheel=$(/usr/bin/python3 "$project/Packaging/wheel.py" "$work"/thumbs_worker-*.whl "$static_program" "$folder") ||
  fail "the wheel could not be made: see above"
say "made $wheel, $(du -h "$wheel" | cut -f1)"
