/** The name and version of what runs this program: `bun 1.4.5`. */
export const runtimeVersion = (): string => {
  const { bun, deno, node } = process.versions;
  if (bun !== undefined) return `bun ${bun}`;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
};
