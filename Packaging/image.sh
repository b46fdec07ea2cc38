# shellcheck shell=bash disable=SC2154
# The container image: the program and the libraries that it needs, nothing else. To be sourced by Scripts/package.

# How a container starts. `podman` takes the health check from its own options only.
image_config='{
  "User": "65532:65532",
  "ExposedPorts": {"8080/tcp": {}},
  "Env": ["PATH=/usr/bin", "HOME=/cache"],
  "Entrypoint": ["/usr/bin/thumbs"],
  "Cmd": ["serve", "--root", "/pictures", "--host", "0.0.0.0", "--public", "--cache-dir", "/cache"],
  "Volumes": {"/cache": {}},
  "WorkingDir": "/",
  "StopSignal": "SIGTERM",
  "Healthcheck": {"Test": ["CMD", "/usr/bin/thumbs", "serve", "--check"], "Interval": 30000000000, "Timeout": 10000000000},
  "Labels": {"org.opencontainers.image.title": "thumbs", "org.opencontainers.image.version": "@VERSION@",
    "org.opencontainers.image.documentation": "/usr/share/doc/thumbs/copyright",
    "org.opencontainers.image.licenses": "MIT AND GPL-3.0-or-later AND LicenseRef-Libraries",
    "org.opencontainers.image.source": "/usr/share/doc/thumbs/SOURCES"}
}'

make_image() {
  (($# == 0)) || wrong_usage
  local root=$work/root version name
  install_missing "cmd:zstd=zstd" "file:/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf=fonts-dejavu-core" \
    "file:/usr/share/poppler=poppler-data" "file:/usr/share/mime/magic=shared-mime-info"
  build_static
  version=$(project_version)
  name=$folder/thumbs-$version-image.tar

  # As in Debian: the loader that the executables name is in /lib64.
  mkdir -p "$root"/usr/{bin,lib,lib64} "$root"/{etc,tmp,proc,sys,dev,cache,pictures}
  ln -s usr/bin usr/lib usr/lib64 "$root"
  chmod 1777 "$root/tmp"
  chmod 700 "$root/cache"
  install -m 755 -t "$root/usr/bin" "${static_program%/*}/thumbs" "${static_program%/*}/thumbs-decode"
  "$project/Packaging/closure.py" "$static_program" "$root"
  local data
  for data in "$root"/usr/lib/*/libicudata.so.*.*; do
    "$project/Packaging/unicode.py" "$data" "$work/libicudata"
    install -m 644 "$work/libicudata" "$data"
  done
  printf 'root:x:0:0::/:/nonexistent\nthumbs:x:65532:65532::/cache:/nonexistent\n' >"$root/etc/passwd"
  printf 'root:x:0:\nthumbs:x:65532:\n' >"$root/etc/group"
  printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
  install -d "$root/usr/share/doc/thumbs"
  "$project/Packaging/copyright.py" >"$root/usr/share/doc/thumbs/copyright"

  "$project/Packaging/oci.py" "$root" "$name" thumbs "$version" "$(date -u -d "$(changelog_date)" +%s)" \
    "${image_config/@VERSION@/$version}"
  say "made $name, $(stat -c %s "$name" | numfmt --to=iec), $(du -sb "$root" | cut -f1 | numfmt --to=iec) unpacked"
}
