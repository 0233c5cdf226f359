/** Reads JSON whose structure is not guaranteed. Pure. */

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export type JsonRecord = Readonly<Record<string, unknown>>;

export const asRecord = (value: unknown): JsonRecord | undefined => (isRecord(value) ? value : undefined);

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const asText = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

export const asRecords = (value: unknown): readonly JsonRecord[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** A value as text in a table cell: text unchanged, null and undefined empty, everything else as JSON. */
export const shown = (value: unknown): string => {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
};
