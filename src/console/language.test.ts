import { expect, setSystemTime, test } from "bun:test";

test("a day of another year has its year, where its clock runs", async () => {
  Object.assign(globalThis, { localStorage: { getItem: () => "en" } });
  const { dayOf } = await import("./language.ts");
  setSystemTime(new Date("2026-12-20T00:00:00Z"));
  expect(dayOf("2026-12-31T20:00:00Z", "Asia/Seoul")).toBe("1 Jan 2027");
  expect(dayOf("2027-01-01T03:00:00Z", "America/New_York")).toBe("31 Dec");
  setSystemTime();
  Reflect.deleteProperty(globalThis, "localStorage");
});
