/**
 * The shell between us and nats-server. It ends the broker when we end, even by `kill -9`, which no code of ours survives. Not for anything
 * else: restarting and waiting are in supervise.ts.
 *
 * Standard input is a pipe whose other end we hold. The kernel closes it when we die, and `stop` closes it on purpose: one way for both.
 * The watcher sees the end of the pipe, asks the broker to stop and kills it after 5 seconds. It is a subshell in `read`, a builtin, so
 * there is no further process to leave behind. The shim waits for it, because a watcher that is just forking ends a moment after it was
 * told to.
 *
 * A broker that has failed to write is killed. nats-server 2.15.1 can then believe in a sequence that it never stored, if that would have
 * been the first of a block, and writes it down when it ends in order: the log would have a hole (measured). After a kill it reads its
 * blocks at the next start, and what it acknowledged is in them. We report a failure with a line on the pipe. But a failed write is
 * answered by nothing, so we know it late, or never if we die before. The server's own log reports it at once, if the disk still takes a
 * line. So the failures in all files of that log are counted and compared with the number at the start.
 *
 * Arguments: the path of the server's log, then the server and its own arguments.
 */
export const SHIM = `
log=$1
shift
failures() { cat "$log"* 2>/dev/null | grep -c ' Critical write error: '; }
before=$(failures)
exec 3<&0 </dev/null
"$@" 3<&- &
broker=$!
(
  is_wrong=
  while read -r _; do is_wrong=1; done <&3
  if [ -n "$is_wrong" ] || [ "$(failures)" -gt "$before" ]; then
    kill -KILL "$broker"
    exit
  fi
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
