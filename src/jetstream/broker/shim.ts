/**
 * The shell between us and nats-server. It makes the broker end when we end, even by `kill -9`, which no code of ours survives.
 * Not for anything else: restarting and waiting are in supervise.ts.
 *
 * Standard input is a pipe of which we hold the other end and on which we never write. The kernel closes it when we
 * die, and `stop` closes it on purpose: one way for both. The watcher sees the end of the pipe, asks the broker to stop
 * and kills it after 5 seconds. It is a subshell in `read`, a builtin, so there is no further process to leave behind; and it is waited for, because one
 * that is just forking ends a moment after it was told to.
 */
export const SHIM = `
exec 3<&0 </dev/null
"$@" 3<&- &
broker=$!
(
  read -r _ <&3
  kill -TERM "$broker" || exit
  tenths=0
  while kill -0 "$broker" && [ "$tenths" -lt 50 ]; do
    sleep 0.1
    tenths=$((tenths + 1))
  done
  kill -KILL "$broker"
) 2>/dev/null &
watcher=$!
exec 3<&-
wait "$broker"
status=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$status"
`;
