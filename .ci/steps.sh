# shellcheck shell=bash
# What the gate and the checks of a release share: steps under headings, and builds. To be sourced.
# shellcheck source=Scripts/lib.sh
. "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../Scripts/lib.sh"

# Runs one step under a heading and says how long it took; ends the gate when it fails.
step() {
  local title=$1 begun=$SECONDS status=0
  shift
  printf '\n== %s\n' "$title"
  # In a shell of its own: errexit has no effect in the condition of an `if` or `||`.
  set +e
  (set -e; "$@")
  status=$?
  set -e
  if ((status != 0)); then
    printf '== %s: FAILED after %d s\n' "$title" "$((SECONDS - begun))"
    exit 1
  fi
  printf '== %s: %d s\n' "$title" "$((SECONDS - begun))"
}

# Runs a function beside what follows, until `await_beside`, which prints what it printed.
beside() {
  beside_log=$(mktemp)
  # A process group of its own, to end all of it.
  set -m
  "$1" </dev/null >"$beside_log" 2>&1 &
  set +m
  beside_job=$!
  trap end_beside EXIT
}

# Ends that function when the gate ends before it was awaited, and prints what it printed.
end_beside() {
  local status=$?
  trap - EXIT
  kill -- "-$beside_job" 2>/dev/null || true
  wait "$beside_job" 2>/dev/null || true
  cat "$beside_log"
  rm -f "$beside_log"
  exit "$status"
}

# Waits for that function, prints what it printed, and has its status.
await_beside() {
  local status=0
  wait "$beside_job" || status=$?
  trap - EXIT
  cat "$beside_log"
  rm -f "$beside_log"
  return "$status"
}

# Runs `swift build` with the arguments given. The package makes warnings errors.
build() {
  # The progress of hundreds of files, `[12/345] Compiling …`, stays out of the report, as does a remark on each module.
  swift build "$@" 2>&1 | sed '/^\[[0-9]*\/[0-9]*\] /d; /^remark: Incremental compilation has been disabled/d'
}
