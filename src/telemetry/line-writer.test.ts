import { expect, test } from "bun:test";
import { createLineWriter } from "./logger.ts";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });
const full = refusal("EAGAIN");

/** Takes what `answers` say, one by one, and then everything. */
const openPipe = (answers: (number | Error)[] = []) => {
  const taken: string[] = [];
  const lines = createLineWriter(1, {
    waitingMax: 20,
    onDropped: (count) => lines.write(`-${count}\n`),
    write: (_fd, bytes) => {
      const answer = answers.shift() ?? bytes.length;
      if (answer instanceof Error) throw answer;
      taken.push(Buffer.from(bytes.subarray(0, answer)).toString("latin1"));
      return answer;
    },
  });
  return { taken, lines };
};

test("lines are kept until they are flushed, and the rest is written once a full pipe has room", () => {
  const { taken, lines } = openPipe([2, full, 1]);
  lines.write("three\n");
  expect(taken).toEqual([]);
  expect(lines.flush()).toBe(false);
  lines.write("four\n");
  expect(lines.flush()).toBe(true);
  expect(taken.join("")).toBe("three\nfour\n");
});

test("a pipe that stays full makes nobody wait: lines without room are counted in their place, and no line is cut", () => {
  const { taken, lines } = openPipe([2, full, full, full, full, full]);
  for (const line of ["first\n", "a second line\n", "a third line\n", "fourth\n"]) {
    lines.write(line);
    expect(lines.flush()).toBe(false);
  }
  expect(lines.flush()).toBe(false);
  lines.write("fifth\n");
  expect(lines.flush()).toBe(true);
  lines.write("sixth\n");
  lines.flush();
  expect(taken.join("")).toBe("first\na second line\n-3\nsixth\n");
});

test("at the end a slow reader is waited for, but a reader that takes nothing only for the given time", () => {
  const slow = openPipe([1, full, full]);
  slow.lines.write("last\n");
  slow.lines.finish(60_000);
  expect(slow.taken).toEqual(["l", "ast\n"]);
  const stuck = openPipe(new Array<Error>(10_000).fill(full));
  stuck.lines.write("last\n");
  stuck.lines.finish(30);
  expect(stuck.taken).toEqual([]);
});

test.each(["EPIPE", "ENOSPC", "EIO"])(
  "a line that fails with %s is lost, and the next one is whole",
  (code) => {
    const { taken, lines } = openPipe([1, refusal(code)]);
    for (const line of ["lost\n", "next\n", "third\n"]) {
      lines.write(line);
      lines.flush();
    }
    expect(taken).toEqual(["l", "\nnext\n", "third\n"]);
  },
);
