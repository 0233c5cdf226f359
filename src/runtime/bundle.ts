import { runtimeName } from "./listen.ts";

/** Deno has no bundler in its runtime. */
export const canBundle = runtimeName === "Bun";

/** A module and its imports as one script for browsers, made by Bun's bundler. Undefined if there is no bundler. */
export const bundleForBrowser = async (path: string): Promise<string | undefined> => {
  if (!canBundle) return undefined;
  const built = await Bun.build({ entrypoints: [path], target: "browser", minify: true });
  return await built.outputs[0]?.text();
};
