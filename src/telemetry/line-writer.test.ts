import { expect, test } from "bun:test";
import { createLineWriter } from "./line-writer.ts";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

/** Takes what `answers` say, one by one, and then everything. */
const openPipe = (answers: (number | Error)[] = []) => {
  const taken: string[] = [];
  const write = (_fd: number, bytes: Uint8Array): number => {
    const answer = answers.shift() ?? bytes.length;
    if (answer instanceof Error) throw answer;
    taken.push(Buffer.from(bytes.subarray(0, answer)).toString("latin1"));
    return answer;
  };
  return {
    taken,
    lines: createLineWriter(1, {
      bytesMax: 10,
      waitingBytesMax: 20,
      inPlaceOf: (count) => `-${count}\n`,
      write,
    }),
  };
};

test("lines are kept until they are flushed or there are many", () => {
  const { taken, lines } = openPipe();
  lines.write("one\n");
  expect(taken).toEqual([]);
  lines.flush();
  lines.flush();
  expect(taken).toEqual(["one\n"]);
  lines.write("four\n");
  lines.write("five\n");
  expect(taken).toEqual(["one\n", "four\nfive\n"]);
});

test("the rest is written once a full pipe has room", () => {
  const { taken, lines } = openPipe([2, refusal("EAGAIN"), 1]);
  lines.write("three\n");
  expect(lines.flush()).toBe(false);
  lines.write("four\n");
  expect(lines.flush()).toBe(true);
  expect(taken).toEqual(["th", "r", "ee\n", "four\n"]);
});

test("a pipe that stays full makes nobody wait: lines without room are counted, and no line is cut", () => {
  const { taken, lines } = openPipe([2, ...new Array<Error>(6).fill(refusal("EAGAIN"))]);
  for (const line of ["first\n", "second line\n", "third line\n", "fourth\n"]) {
    lines.write(line);
    expect(lines.flush()).toBe(false);
  }
  expect(lines.flush()).toBe(true);
  expect(taken.join("")).toBe("first\nsecond line\n-2\n");
});

test("the number of dropped lines is written in their place, even if later lines find room first", () => {
  const full = refusal("EAGAIN");
  // The reader takes the first line when the third was dropped, and then stops once more.
  const { taken, lines } = openPipe([full, full, full, 6, full, full]);
  for (const line of ["first\n", "second\n", "the third\n", "fourth\n"]) {
    lines.write(line);
    expect(lines.flush()).toBe(false);
  }
  expect(taken).toEqual(["first\n"]);
  expect(lines.flush()).toBe(true);
  expect(taken.join("")).toBe("first\nsecond\n-1\nfourth\n");
});

test("at the end a slow reader is waited for, but a reader that takes nothing only for the given time", () => {
  const slow = openPipe([1, refusal("EAGAIN"), refusal("EAGAIN")]);
  slow.lines.write("last\n");
  slow.lines.finish(60_000);
  expect(slow.taken).toEqual(["l", "ast\n"]);
  const stuck = openPipe(new Array<Error>(10_000).fill(refusal("EAGAIN")));
  stuck.lines.write("last\n");
  stuck.lines.finish(30);
  expect(stuck.taken).toEqual([]);
});

test.each(["EPIPE", "ENOSPC", "EIO"])(
  "a line that fails with %s is dropped, and the next one is tried on a line of its own",
  (code) => {
    const { taken, lines } = openPipe([1, refusal(code)]);
    lines.write("lost\n");
    lines.flush();
    lines.write("next\n");
    lines.flush();
    lines.write("third\n");
    lines.flush();
    expect(taken).toEqual(["l", "\nnext\n", "third\n"]);
  },
);
