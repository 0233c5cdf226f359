/** The files of the documentation page: Swagger UI from its package, and the few lines of our own that start it. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Asset, DocsAssets } from "../http/routes/docs.ts";

const require = createRequire(import.meta.url);

const FILES: readonly { readonly name: string; readonly mediaType: string; readonly path: string | URL }[] = [
  {
    name: "swagger-ui-bundle.js",
    mediaType: "text/javascript",
    path: require.resolve("swagger-ui-dist/swagger-ui-bundle.js"),
  },
  { name: "swagger-ui.css", mediaType: "text/css", path: require.resolve("swagger-ui-dist/swagger-ui.css") },
  {
    name: "page.js",
    mediaType: "text/javascript",
    path: new URL("../http/docs-page/page.js", import.meta.url),
  },
  { name: "page.css", mediaType: "text/css", path: new URL("../http/docs-page/page.css", import.meta.url) },
];

export const loadDocsAssets = async (): Promise<DocsAssets> => {
  const load = async ({ name, mediaType, path }: (typeof FILES)[number]): Promise<[string, Asset]> => [
    name,
    { mediaType: `${mediaType}; charset=utf-8`, bytes: new Uint8Array(await readFile(path)) },
  ];
  return new Map(await Promise.all(FILES.map(load)));
};
