# shellcheck shell=bash disable=SC2154
# An apt repository as a folder that any web server can serve. To be sourced by Scripts/package.

# Arguments: the packages, and `--key KEY`, a key of gpg's that signs. A package belongs to the release of Debian that its
# version names: 0.10.0-1~debian12 to `debian12`.
make_apt() {
  local key='' package version suite suites=()
  install_missing "cmd:apt-ftparchive=apt-utils" "cmd:gpg=gpg"
  while (($# > 0)); do
    case $1 in
      --key)
        key=${2:?--key needs the name of a key}
        shift
        ;;
      *.deb)
        version=$(dpkg-deb --field "$1" Version)
        suite=${version##*~}
        mkdir -p "$folder/pool/$suite"
        cp -- "$1" "$folder/pool/$suite/"
        suites+=("$suite")
        ;;
      *) fail "$1 is not a package: name files that end in .deb" ;;
    esac
    shift
  done
  ((${#suites[@]} > 0)) || fail "no package is named: add files that end in .deb"
  mapfile -t suites < <(printf '%s\n' "${suites[@]}" | sort -u)

  cd -- "$folder" || exit
  for suite in "${suites[@]}"; do
    index_suite "$suite" "$key"
  done
  [[ -z $key ]] || gpg --batch --yes --export "$key" >thumbs.gpg
  say "made $folder for ${suites[*]}: any web server can serve it"
}

# Writes the indexes of one release, in the current folder.
index_suite() {
  local suite=$1 key=$2 place=dists/$1 architecture packages
  rm -rf "$place"
  for architecture in $(for package in pool/"$suite"/*.deb; do dpkg-deb --field "$package" Architecture; done | sort -u); do
    packages=$place/main/binary-$architecture
    mkdir -p "$packages"
    apt-ftparchive --arch "$architecture" packages "pool/$suite" >"$packages/Packages"
    gzip -9nk "$packages/Packages"
  done
  apt-ftparchive -o "APT::FTPArchive::Release::Suite=$suite" -o "APT::FTPArchive::Release::Codename=$suite" \
    -o APT::FTPArchive::Release::Origin=Thumbnailer -o APT::FTPArchive::Release::Components=main \
    -o "APT::FTPArchive::Release::Architectures=$(dpkg --print-architecture)" release "$place" >"$work/Release"
  mv "$work/Release" "$place/Release"
  [[ -n $key ]] || return 0
  gpg --batch --yes --local-user "$key" --clearsign --output "$place/InRelease" "$place/Release"
  gpg --batch --yes --local-user "$key" --armor --detach-sign --output "$place/Release.gpg" "$place/Release"
}
