# shellcheck shell=bash
# The three uses of the README by an installed `thumbs`, as a user without rights. To be sourced.

check() {
  printf '%s\n' "- $1"
}

failed() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# Requests a path of a server, and prints the status line, the fields and the body.
request() {
  local host=$1 port=$2 path=$3
  exec 3<>"/dev/tcp/$host/$port"
  printf 'GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$path" "$host" "$port" >&3
  cat <&3
  exec 3<&-
}

# Runs `thumbs` as a user, in the user's folder.
thumbs_as_user() {
  (
    cd /home/visitor || exit
    exec setpriv --reuid visitor --regid visitor --clear-groups env HOME=/home/visitor thumbs "$@"
  )
}

test_three_uses() {
  local printed server address port
  check "prefetch: the second run finds all in the cache"
  thumbs_as_user prefetch --query lake --provider folder:/pictures | grep -q ' 11 made, 0 from the cache, 0 failed'
  thumbs_as_user prefetch --query lake --provider folder:/pictures | grep -q ' 0 made, 11 from the cache, 0 failed'

  check "convert: the second run makes none"
  thumbs_as_user convert /pictures --output small --size 256 | grep -q '^30 made, 0 current, 0 failed'
  thumbs_as_user convert /pictures --output small --size 256 | grep -q '^0 made, 30 current, 0 failed'

  check "serve: the gallery and a thumbnail; SIGTERM ends it"
  mkfifo /tmp/address
  chmod 666 /tmp/address
  thumbs_as_user serve /pictures --root /pictures --port 0 --require-confinement >/tmp/address &
  server=$!
  read -r address </tmp/address
  port=${address##*:}
  port=${port%/}
  printed=$(request 127.0.0.1 "$port" / | tr -d '\0' | head -n 1)
  [[ $printed == "HTTP/1.1 200 OK"* ]] || failed "the gallery: $printed"
  request 127.0.0.1 "$port" /thumb/400x300,cover/moonlit-lake.jpg >/tmp/response
  head -n 1 /tmp/response | grep -q '^HTTP/1.1 200 OK' || failed "the thumbnail: $(head -n 1 /tmp/response)"
  grep -aqi '^content-type: image/' /tmp/response || failed "the thumbnail has no type of an image"
  kill "$server"
  wait "$server" || (($? == 143)) || failed "serve ended with $?"
  rm /tmp/address
}

# The doctor's own finding, and nothing missing in its report.
test_doctor() {
  check "doctor: nothing is missing"
  thumbs_as_user doctor >/tmp/output || failed "doctor: $(</tmp/output)"
}
