/** The operations of the OpenAPI document, with valid requests for one event, evt_1, of one case and decision. */
import type { TestService } from "./service.ts";

const MEMBERS: Readonly<Record<string, string>> = {
  event_id: "evt_1",
  asset_id: "credit_model",
  correlation_id: "case-1",
  decision_id: "dec_1",
  level: "0",
  number: "000.p/1",
};

const filledIn = (path: string): string =>
  path
    .replace("{number}/{width}", "{number}")
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => MEMBERS[name] ?? "unknown") +
  (path === "/v1/log/consistency" ? "?from=0" : "");

interface Described {
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
  readonly responses: object;
}

/** In the order of the document. */
export const operationsOf = async (service: TestService) => {
  const { json } = await service.call("/docs/json");
  return Object.entries<Readonly<Record<string, Described>>>(json.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      /** With what exists. */
      path: filledIn(path),
      /** With ids of nothing. */
      unknownPath: path.replaceAll(/\{\w+\}/g, "unknown"),
      needsKey: described.security.length > 0,
      takesBody: described.requestBody !== undefined,
      example: described.requestBody?.content["application/json"]?.example,
      scope: /Scope `([a-z:]+)`/.exec(described.description)?.[1],
      parameters: described.parameters?.map(({ name }) => name) ?? [],
      statuses: Object.keys(described.responses),
      text: JSON.stringify(described.responses),
    })),
  );
};

export type Operation = Awaited<ReturnType<typeof operationsOf>>[number];
