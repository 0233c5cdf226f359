import { expect, test } from "bun:test";
import { isJsonInUtf8 } from "./media-type.ts";

test.each([
  "application/json",
  "Application/JSON",
  " application/json ",
  "application/json;",
  "application/json; ;",
  "application/json;charset=utf-8",
  'application/json ; CHARSET = "UTF-8"',
  "application/json; charset=UTF8",
  'application/json; charset="u\\tf-8"',
  "application/json; foo=bar",
  'application/json; profile="https://a.example/b; charset=latin1"; v=1',
  'application/json; a="\\""; charset=utf-8',
  "application/json; odata.metadata=minimal; charset=utf-8",
])("%s is JSON", (type) => expect(isJsonInUtf8(type)).toBe(true));

test.each([
  "",
  ";",
  "text/plain",
  "application/jsonp",
  "application/json+x",
  "application/ld+json",
  "application/json charset=utf-8",
  "application/json, text/plain",
  "application/json; foo",
  "application/json; foo=",
  "application/json; =bar",
  'application/json; foo="bar',
  'application/json; foo="bar"baz',
  "application/json; foo=bar baz",
  "application/json; charset=latin1",
  "application/json; charset=utf-16; charset=utf-8",
  "application/json; charset=utf-8; charset=utf-16",
  'application/json; charset="utf-8 "',
  "application/json; charset=utf_8",
  'application/json; charset="utf8\\n"',
])("%p is not JSON", (type) => expect(isJsonInUtf8(type)).toBe(false));

test("a long header is read in one pass", () => {
  const startedAt = performance.now();
  for (const type of [
    `application/json;${" ".repeat(100_000)}x`,
    `application/json${"; a=b".repeat(20_000)} x`,
    `application/json; a="${"\\\\".repeat(50_000)}`,
  ])
    expect(isJsonInUtf8(type)).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(1000);
});
