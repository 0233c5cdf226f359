/** The form that records what happened outside the software, as a person uses it. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { describeInBrowser } from "../support/browser.ts";
import { demoConsole, expectAccessible, openScreen, settled } from "../support/console.ts";

const demo = demoConsole();
const WRITER = { name: "Kim Ji-woo", scopes: ["events:read", "events:write"] };

describeInBrowser("recording", () => {
  test("an objection's answer by letter is recorded once, as it was shown, and the obligation is met", async () => {
    await using opened = await demo.open("record", { key: await demo.makeSeat(WRITER) });
    const { page, complaints } = opened;
    await expectAccessible(page, "record");
    const row = page
      .locator("tr")
      .filter({ hasText: "Answer the objection" })
      .filter({ hasText: "obj-known-credit" });
    await row.getByRole("link", { name: "Record: Objection answered" }).click();
    await page.getByLabel("Resolution").selectOption({ label: "upheld: the person was right" });
    await page.getByLabel("How, such as letter or phone").fill("letter");
    await page.getByLabel("Reason, or what was said").fill("<b>Reviewed by hand</b>");
    await page.getByLabel("Person", { exact: true }).fill("Lee 7");
    const hash = `sha256:${createHash("sha256").update("Lee 7").digest("hex")}`;
    await page.locator("pre").getByText(hash).waitFor();
    const shown = JSON.parse((await page.locator("pre").textContent()) ?? "");
    expect(shown).toMatchObject({
      event_type: "objection.resolved",
      subject_hash: hash,
      metadata: {
        objection_id: "obj-known-credit",
        resolution: "upheld",
        channel: "letter",
        reason: "<b>Reviewed by hand</b>",
        recorded_by: "Kim Ji-woo",
        source_id: "console",
      },
    });
    await page.getByRole("button", { name: "Record it" }).dblclick();
    await page.getByRole("heading", { name: "Recorded" }).waitFor();
    await expectAccessible(page, "recorded");
    expect(await page.locator(".note").count()).toBe(0);
    const stored = await demo.service.call(`/v1/events/${shown.event_id}`, { key: demo.key });
    expect(stored.json.data.event).toEqual(shown);
    const same = await demo.service.call("/v1/events?q=Reviewed&count=true", { key: demo.key });
    expect(same.json.count.value).toBe(1);
    await page.getByRole("link", { name: /The decision/ }).click();
    await settled(page);
    const clock = page.locator(".clock").filter({ hasText: "Answer the objection" });
    await clock.locator(".state.met, .state.late").waitFor();
    expect(await clock.getByRole("link", { name: /^Record: / }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("what the service refuses stands beside its field, and the same form goes through afterwards", async () => {
    const path = "record?what=incident.detected&asset_id=consumer-credit-eu&legal_bases=Not%20a%20law";
    await using opened = await demo.open(path, { key: await demo.makeSeat(WRITER), width: 390 });
    const { page } = opened;
    await page.getByRole("button", { name: "Record it" }).click();
    const law = page.getByLabel("Law");
    await page.getByText("Some fields need correction.").waitFor();
    expect(await law.getAttribute("aria-invalid")).toBe("true");
    expect(await page.locator("#record-legal_bases-error").textContent()).toContain("lower snake case");
    await expectAccessible(page, "refused");
    await law.selectOption({ index: 0 });
    await page.getByRole("button", { name: "Record it" }).click();
    await page.getByRole("heading", { name: "Recorded" }).waitFor();
  });

  test("whoever may only read sees why there is no form", async () => {
    await using opened = await demo.open("record?what=objection.resolved", { width: 390 });
    const { page } = opened;
    await page.getByText(/scope events:write/).waitFor();
    expect(await page.locator("form.record").count()).toBe(0);
    await expectAccessible(page, "no scope");
    await openScreen(page, `${demo.root}decision?id=dec-overdue`);
    expect(await page.getByRole("link", { name: /^Record: / }).count()).toBe(0);
  });
});
