import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { holderOf } from "./client.ts";

describe("a client's name", () => {
  test.each([
    ["192.0.2.1", "ip_192_0_2_1"],
    ["192.0.2.1:443", "ip_192_0_2_1"],
    ["::ffff:192.0.2.1", "ip_192_0_2_1"],
    ["::ffff:c000:201", "ip_192_0_2_1"],
    ["[0:0:0:0:0:FFFF:192.0.2.1]:443", "ip_192_0_2_1"],
    ["::ffff:0:192.0.2.1", "ip_0_0_0_0"],
    ["fe80:0:0:1::192.0.2.1%eth0", "ip_fe80_0_0_1"],
    ["2001:db8:0:0:1::", "ip_2001_db8_0_0"],
    ["2001:db8:1:2:3:4:5:6", "ip_2001_db8_1_2"],
    ["2001:0DB8:0001:0002::9", "ip_2001_db8_1_2"],
    ["[2001:db8:1:2::9]:443", "ip_2001_db8_1_2"],
    ["2001:db8::1", "ip_2001_db8_0_0"],
    ["::1", "ip_0_0_0_0"],
    ["", "ip_unknown"],
    ["a.>", "ip_unknown"],
  ])("%s", (address, name) => expect(holderOf(address)).toBe(name));

  test("is the one for clients without an address if the address is ten thousand digits", () =>
    expect(holderOf("1".repeat(10_000))).toBe("ip_unknown"));

  test("is short and a single token of a subject for any input", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.ipV4(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.%[\]]*$/)),
        (address) => {
          expect(holderOf(address)).toMatch(/^[a-z0-9_]{4,30}$/);
        },
      ),
      { numRuns: 5000 },
    );
  });
});
