import { expect, test } from "bun:test";
import { isJsonInUtf8 } from "./media-type.ts";

test.each([
  [
    true,
    [
      "application/json",
      "Application/JSON",
      " application/json ",
      "application/json; ;",
      "application/json;charset=utf-8",
      'application/json ; charset="UTF-8"',
      "application/json; CHARSET=UTF8",
      'application/json; profile="https://a.example/b; charset=latin1"; v=1',
      "application/json; odata.metadata=minimal; charset=utf-8",
    ],
  ],
  [
    false,
    [
      "",
      ";",
      "text/plain",
      "application/jsonp",
      "application/ld+json",
      "application/json charset=utf-8",
      "application/json, text/plain",
      "application/json; charset=latin1",
      "application/json; charset=utf-16; charset=utf-8",
      "application/json; charset=utf_8",
    ],
  ],
] as const)("JSON in UTF-8: %p of %p", (is, types) => {
  for (const type of types) expect([type, isJsonInUtf8(type)]).toEqual([type, is]);
});
