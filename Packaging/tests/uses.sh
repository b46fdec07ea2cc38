# shellcheck shell=bash
# The three uses of the README by an installed `thumbs`, as a user without rights. To be sourced. No test ends without a word.
set -E
trap 'printf "FAILED with %d, line %d of %s: %s\n" "$?" "$LINENO" "${BASH_SOURCE[0]}" "$BASH_COMMAND" >&2' ERR

check() {
  printf '%s\n' "- $1"
}

failed() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

# Runs a command, and fails unless a line that it prints matches. Not by a pipe: grep leaves at the first match, and a
# command that still prints ends with 141 then.
expect() {
  local pattern=$1 printed
  shift
  printed=$("$@") || failed "$* ended with $?: $printed"
  grep -qe "$pattern" <<<"$printed" || failed "no line of $* matches '$pattern': $printed"
}

# Requests a path of a server, which must be found. Writes the status line, the fields and the body to /tmp/response.
request() {
  local host=$1 port=$2 path=$3 status
  exec 3<>"/dev/tcp/$host/$port"
  printf 'GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$path" "$host" "$port" >&3
  cat <&3 >/tmp/response
  exec 3<&-
  IFS= read -r status </tmp/response || true
  [[ $status == "HTTP/1.1 200 OK"* ]] || failed "$path: $status"
}

# Runs `thumbs` as a user, in the user's folder.
thumbs_as_user() {
  (
    cd /home/visitor || exit
    exec setpriv --reuid visitor --regid visitor --clear-groups env HOME=/home/visitor thumbs "$@"
  )
}

test_three_uses() {
  local server address port
  check "prefetch: the second run finds all in the cache"
  expect ' 11 made, 0 from the cache, 0 failed' thumbs_as_user prefetch --query lake --provider folder:/pictures
  expect ' 0 made, 11 from the cache, 0 failed' thumbs_as_user prefetch --query lake --provider folder:/pictures

  check "convert: the second run makes none"
  expect '^30 made, 0 current, 0 failed' thumbs_as_user convert /pictures --output small --size 256
  expect '^0 made, 30 current, 0 failed' thumbs_as_user convert /pictures --output small --size 256

  check "serve: the gallery and a thumbnail; SIGTERM ends it"
  mkfifo /tmp/address
  chmod 666 /tmp/address
  thumbs_as_user serve /pictures --root /pictures --port 0 --require-confinement >/tmp/address &
  server=$!
  read -r address </tmp/address
  port=${address##*:}
  port=${port%/}
  request 127.0.0.1 "$port" /
  request 127.0.0.1 "$port" /thumb/400x300,cover/moonlit-lake.jpg
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
