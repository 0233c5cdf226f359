/**
 * The subject grammar, both ways: `audit.<tenant>.<asset>.<group>.<name>`, five tokens always.
 * Consumers filter on it, so it is a contract: see streams/README.md.
 */

export const AUDIT_SUBJECTS = "audit.>";
export const SANDBOX_SUBJECTS = "sandbox.>";
export const RATES_SUBJECTS = "rates.>";

export const COUNTS_SUBJECTS = "counted.*.*.*";
export const OBLIGATION_SUBJECTS = "obligation.>";
export const CHECKPOINT_SUBJECTS = "checkpoint.*";
export const CHECKPOINT_KEY_SUBJECTS = "checkpoint_key.*";

/** The names under which a JetStream key-value client opens the buckets. Their streams are `KV_` and this name. */
export const KEYS_BUCKET = "KEYS";
export const RETENTION_BUCKET = "RETENTION";

/** The copies that a stream sends of stored messages, for consumers that only read. */
export const storedSubjects = (subjects: string): string => `stored.${subjects}`;

/** Signed tree heads of one tenant. */
export const checkpointSubject = (tenant: string): string => `checkpoint.${tenant}`;

export const tenantOfCheckpoint = (subject: string): string | undefined =>
  /^checkpoint\.([^.]+)$/.exec(subject)?.[1];

/** One public key, by its fingerprint in hex. */
export const checkpointKeySubject = (fingerprint: string): string => `checkpoint_key.${fingerprint}`;

/** `obligation.<tenant>.<asset>.<rule>.<transition>`: five tokens always. */
export const obligationSubject = (parts: {
  readonly tenant: string;
  readonly assetId: string;
  readonly rule: string;
  readonly transition: string;
}): string => `obligation.${parts.tenant}.${encodeToken(parts.assetId)}.${parts.rule}.${parts.transition}`;

/** Groups of tenants: each is a message of its own, so that an event does not rewrite the counts of all tenants. */
export const COUNTS_GROUPS = 32;

/** What one writer has counted on a day (`2026-11-20`) of the tenants of one group; `*` for all. */
export const countsSubject = (day: string, group: number | "*", writer: string): string =>
  `counted.${day}.${group}.${writer}`;

/** The counter of one key, tenant or client, of one unit, in the window that begins at this second since 1970. */
export const rateSubject = (holder: string, unit: string, window: number): string =>
  `rates.${holder}.${unit}.${window}`;

/** Group of the six event types that have no dot in their name (SPEC 6, "Legacy"). */
const LEGACY_GROUP = "legacy";

export interface SubjectParts {
  readonly tenant: string;
  readonly assetId: string;
  readonly group: string;
  readonly name: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });
const LITERAL_BYTE = /^[A-Za-z0-9_-]$/;
const LITERAL_TOKEN = /^[A-Za-z0-9_-]*$/;

const TOKEN_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return LITERAL_BYTE.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
});

/** An asset_id as one subject token: bytes outside `[A-Za-z0-9_-]` are percent-encoded, so `.`, `*`, `>` and spaces are safe. */
export const encodeToken = (text: string): string => {
  if (LITERAL_TOKEN.test(text)) return text;
  let token = "";
  for (const byte of encoder.encode(text)) token += TOKEN_OF_BYTE[byte];
  return token;
};

/** The asset_id of a token, or undefined if `encodeToken` does not write such a token. */
const decodeToken = (token: string): string | undefined => {
  try {
    const bytes: number[] = [];
    for (let index = 0; index < token.length; index++) {
      const character = token.charAt(index);
      bytes.push(
        character === "%" ? Number.parseInt(token.slice(index + 1, index + 3), 16) : character.charCodeAt(0),
      );
      if (character === "%") index += 2;
    }
    const text = decoder.decode(Uint8Array.from(bytes));
    return encodeToken(text) === token ? text : undefined;
  } catch {
    return undefined;
  }
};

/** `decision.decision_reversed` → group `decision`, name `decision_reversed`; a type without a dot is in group `legacy`. */
export const splitEventType = (eventType: string): { group: string; name: string } => {
  const dot = eventType.indexOf(".");
  if (dot < 0) return { group: LEGACY_GROUP, name: eventType };
  return { group: eventType.slice(0, dot), name: eventType.slice(dot + 1) };
};

export const auditSubject = (tenant: string, assetId: string, eventType: string): string => {
  const { group, name } = splitEventType(eventType);
  return `audit.${tenant}.${encodeToken(assetId)}.${group}.${name}`;
};

/** `sandbox.<asset>.<group>.<name>`: four tokens always. */
export const sandboxSubject = (assetId: string, eventType: string): string => {
  const { group, name } = splitEventType(eventType);
  return `sandbox.${encodeToken(assetId)}.${group}.${name}`;
};

/** Cheaper than parsing the whole subject, because it is called for every message. */
export const tenantOfAudit = (subject: string): string | undefined => {
  if (!subject.startsWith(AUDIT_ROOT)) return undefined;
  const end = subject.indexOf(".", AUDIT_ROOT.length);
  return end > AUDIT_ROOT.length ? subject.slice(AUDIT_ROOT.length, end) : undefined;
};

const AUDIT_ROOT = "audit.";

export const parseAuditSubject = (subject: string): SubjectParts | undefined => {
  const [root, tenant, asset, group, name, ...rest] = subject.split(".");
  if (root !== "audit" || !tenant || !asset || !group || !name || rest.length > 0) return undefined;
  const assetId = decodeToken(asset);
  return assetId === undefined ? undefined : { tenant, assetId, group, name };
};
