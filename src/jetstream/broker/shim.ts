/**
 * The shell between us and nats-server. It makes the broker end when we end, even by `kill -9`, which no code of ours survives.
 * Not for anything else: restarting and waiting are in supervise.ts.
 *
 * Standard input is a pipe of which we hold the other end and on which we never write. The kernel closes it when we
 * die, and `stop` closes it on purpose: one way for both. The watcher sees the end of the pipe and kills the broker. It is a subshell in `read`, a builtin,
 * so there is no further process to leave behind; and it is waited for, because one that is just forking ends a moment after it was told to.
 *
 * SIGKILL, because a server that ends in order writes down where its streams stand, and after a full disk 2.15.1 believes a sequence that it never stored
 * where that would have been the first of a block: the log would have a hole (measured; after SIGKILL it has none). What it acknowledged is synced, and it
 * starts no later.
 */
export const SHIM = `
exec 3<&0 </dev/null
"$@" 3<&- &
broker=$!
(
  read -r _ <&3
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
