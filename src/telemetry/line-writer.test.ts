import { expect, test } from "bun:test";
import { createLineWriter } from "./line-writer.ts";

const refusal = (code: string): Error => Object.assign(new Error(code), { code });

/** Takes what `answers` say, one after the other, and then everything. */
const openPipe = (answers: (number | Error)[] = []) => {
  const taken: string[] = [];
  const write = (_fd: number, bytes: Uint8Array): number => {
    const answer = answers.shift() ?? bytes.length;
    if (answer instanceof Error) throw answer;
    taken.push(Buffer.from(bytes.subarray(0, answer)).toString("latin1"));
    return answer;
  };
  return { taken, lines: createLineWriter(1, { bytesMax: 10, write }) };
};

test("lines are kept until they are flushed, or are many", () => {
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

test("a pipe that is full gets the rest when it has room", () => {
  const { taken, lines } = openPipe([2, refusal("EAGAIN"), 1]);
  lines.write("three\n");
  lines.flush();
  expect(taken).toEqual(["th", "r", "ee\n"]);
});

test.each(["EPIPE", "ENOSPC", "EIO"])("what fails with %s is dropped, and the next line is tried", (code) => {
  const { taken, lines } = openPipe([1, refusal(code)]);
  lines.write("lost\n");
  lines.flush();
  lines.write("next\n");
  lines.flush();
  expect(taken).toEqual(["l", "next\n"]);
});
