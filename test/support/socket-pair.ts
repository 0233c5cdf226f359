/** Two UNIX sockets that are connected to each other, as file descriptors (Linux). */
import { dlopen, FFIType } from "bun:ffi";

export const socketPair = (): readonly [number, number] => {
  const { i32, ptr } = FFIType;
  const { symbols } = dlopen("libc.so.6", { socketpair: { args: [i32, i32, i32, ptr], returns: i32 } });
  const pair = new Int32Array(2);
  // AF_UNIX, SOCK_STREAM.
  if (symbols.socketpair(1, 1, 0, pair) !== 0) throw new Error("no pair of sockets");
  return [pair[0] ?? -1, pair[1] ?? -1];
};
