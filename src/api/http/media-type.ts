import { MIMEType } from "node:util";

/** JSON defines no parameters (RFC 8259 §11), so any is ignored, except a charset other than UTF-8. `utf8` means the same (WHATWG Encoding §4.2). */
export const isJsonInUtf8 = (type: string): boolean => {
  try {
    const { essence, params } = new MIMEType(type);
    return essence === "application/json" && /^utf-?8$/i.test(params.get("charset") ?? "utf-8");
  } catch {
    return false;
  }
};
