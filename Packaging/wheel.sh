# shellcheck shell=bash disable=SC2154
# The Python wheel with the program and its libraries. To be sourced by Scripts/package. It needs the C library of the system
# that this runs on, or a newer one.

make_wheel() {
  local wheel
  (($# == 0)) || wrong_usage
  install_missing "cmd:patchelf=patchelf" "cmd:cc=gcc" "cmd:libdeflate-gzip=libdeflate-tools" \
    "file:/etc/fonts/fonts.conf=fontconfig-config" \
    "file:/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf=fonts-dejavu-core" \
    "file:/etc/ImageMagick-6/policy.xml=imagemagick-6-common"
  python3 -c 'import ensurepip' 2>/dev/null || install_missing "file:/usr/share/python-wheels=python3-venv"
  build_static
  { python3 -m venv "$work/python" &&
    "$work/python/bin/pip" wheel -q --no-deps --wheel-dir "$work" "$project/integrations/python" >&2; } ||
    fail "the Python package could not be built: pip's messages stand above"
  wheel=$(/usr/bin/python3 "$project/Packaging/wheel.py" "$work"/thumbs_worker-*.whl "$static_program" "$folder") ||
    fail "the wheel could not be made: see above"
  say "made $wheel, $(stat -c %s "$wheel") bytes"
}
