import { runtimeName } from "./listen.ts";

/** Deno has no bundler in its runtime. */
export const canBundle = runtimeName === "Bun";

/** One script for browsers: a module, or (`iife`) a script that declares nothing outside itself. Undefined if there is no bundler. */
export const bundleForBrowser = async (
  path: string,
  format: "esm" | "iife" = "esm",
): Promise<string | undefined> => {
  if (!canBundle) return undefined;
  const built = await Bun.build({ entrypoints: [path], target: "browser", format, minify: true });
  return await built.outputs[0]?.text();
};
