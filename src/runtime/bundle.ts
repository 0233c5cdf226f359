import { runtimeName } from "./listen.ts";

/** A module and what it imports as one script for browsers, by Bun's bundler. Undefined on Deno, which has none in its runtime. */
export const bundleForBrowser = async (path: string): Promise<string | undefined> => {
  if (runtimeName !== "Bun") return undefined;
  const built = await Bun.build({ entrypoints: [path], target: "browser", minify: true });
  return await built.outputs[0]?.text();
};
