/** A person as the hash under which the log knows them. It is made here: the text itself reaches neither the service nor an address. */

const HASH = /^sha256:[0-9a-f]{64}$/;

export const isHash = (text: string): boolean => HASH.test(text);

/** SHA-256, or HMAC with SHA-256 where senders use a secret. */
export const subjectHash = async (text: string, secret: string): Promise<string> => {
  if (isHash(text)) return text;
  const bytes = new TextEncoder().encode(text);
  const digest = secret === "" ? await crypto.subtle.digest("SHA-256", bytes) : await hmac(bytes, secret);
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0"));
  return `sha256:${hex.join("")}`;
};

const hmac = async (bytes: Uint8Array<ArrayBuffer>, secret: string): Promise<ArrayBuffer> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, [
    "sign",
  ]);
  return crypto.subtle.sign("HMAC", key, bytes);
};
