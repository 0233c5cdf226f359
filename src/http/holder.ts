/** Whose request it is, where each may only have so much: a tenant, or where no key is needed a client. */
import type { Principal } from "../access/authenticate.ts";
import { holderOf } from "../access/client-rate-limit.ts";

export interface Asker {
  readonly principal: Pick<Principal, "tenant"> | undefined;
  /** To be asked before the answer is given. */
  readonly clientAddress: () => string;
}

export const holderOfRequest = ({ principal, clientAddress }: Asker): string =>
  principal?.tenant ?? holderOf(clientAddress());
