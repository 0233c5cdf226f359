import { DAY_MS, HOUR_MS } from "./local-time.ts";
import { type Asset, count, type Members, say, type World } from "./world.ts";

/** Outcomes of one or two assets, reported once or twice, and labels of some of them, before or after, by any asset; and labels of unknown outcomes. */
export const liveOutcomes = (world: World, assets: readonly Asset[], begin: number): void => {
  const { chance } = world;
  const [one, ...others] = assets;
  if (one === undefined) return;
  const any = (): Asset => chance.one([one, ...others]);
  for (let number = 0; number < 10 * assets.length; number++) {
    const hash = `sha256:${number.toString(16).padStart(64, "0")}`;
    const named: readonly [Members, ...Members[]] = [
      { outcome_hash: hash },
      { output_hash: hash.toUpperCase().replace("SHA256", "sha256") },
      { metadata: { outcome_hash: hash } },
      { metadata: { output_hash: hash } },
    ];
    const at = begin + 5 * DAY_MS + chance.below(100 * 24) * HOUR_MS;
    const by = chance.is(0.1) ? new Set<Asset>() : new Set([any(), any()]);
    for (const asset of by)
      for (let times = 1 + chance.below(2); times > 0; times--)
        say(world, asset, "ai_inference", at + times * HOUR_MS, chance.one(named));
    const isLabeled = chance.is(0.6);
    const label = chance.one(["transparency.result_labeled", "watermark_applied"]);
    if (isLabeled) say(world, any(), label, at + (chance.below(48) - 24) * HOUR_MS, chance.one(named));
    for (const asset of by) count(world, asset, "any", "labeling", isLabeled ? "met" : "open");
  }
};
